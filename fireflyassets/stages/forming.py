"""Forming: which jobs go into the next wave, and how it comes to have them.

In: the ledger's queue index. Out: waves whose jobs are claimed, one conditional write each.
Spends: nothing. Taking back what a wave does not end is ``stages/dispatch.py``.

Whoever forms a wave may die between any two writes. A wave's list then names jobs that it does not
have, or jobs that run under a wave that has ended: each reader of a list looks at the rows, and a
sweep looks for the rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import crashes, errors
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Release, Wave, WaveState
from fireflyassets.ports.ledger import JobLedger

SHRUNK_FOR: Final = timedelta(minutes=1)
"""How long a job waits whose partition could not be added: not until the very next tick."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One tenant's work under one credential: the unit that waves are counted by."""

    credential: str
    customer: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Due jobs of one campaign version that may go into one wave."""

    lane: Lane
    campaign: str
    version: str
    rows: tuple[JobRow, ...]


def next_batch(
    ledger: JobLedger, lane: Lane, campaign: str, *, most: int, now: datetime
) -> Batch | None:
    """Return the jobs of a campaign that have been due longest; None without any."""
    rows = ledger.due(lane.credential, lane.customer, campaign, now=now, most=most)
    return _first_batch(lane, rows, most=most) if rows else None


def _first_batch(lane: Lane, rows: Sequence[JobRow], *, most: int) -> Batch:
    """Return the first row's batch: jobs that crash are set apart from those that do not."""
    first = rows[0]
    room = crashes.company(first.crashes, most=most)
    together = [row for row in rows if of_one_wave(row) == of_one_wave(first)]
    return Batch(lane, first.campaign_id, first.campaign_version, tuple(together[:room]))


def of_one_wave(row: JobRow) -> tuple[str, str, str, str, int]:
    """Return what the jobs of a wave have in common."""
    return (*_line(row), crashes.level(row.crashes))


def _line(row: JobRow) -> tuple[str, str, str, str]:
    return (row.credential, row.customer_id, row.campaign_id, row.campaign_version)


Claiming = Callable[[str], Claim | None]


def form(
    ledger: JobLedger,
    batch: Batch,
    *,
    wave_id: str,
    now: datetime,
    claiming: Claiming | None = None,
) -> Wave | None:
    """Form a wave: the item first, then one claim for each job, then the winners' list.

    None if no job could be claimed, or their campaign is on hold: then they are held with it.
    *claiming* is how they are claimed, where it is not by the ledger's `claim`.
    """
    hold = ledger.campaign_hold(batch.lane.customer, batch.campaign)
    if hold is not None:
        for row in batch.rows:
            ledger.hold_with_campaign(row, hold, now=now)
        return None

    def claim(job_id: str) -> Claim | None:
        return ledger.claim(job_id, batch.lane.customer, wave_id, now=now)

    take = claiming or claim
    wave = Wave(
        wave_id=wave_id,
        customer=batch.lane.customer,
        campaign=batch.campaign,
        campaign_version=batch.version,
        credential=batch.lane.credential,
        state=WaveState.FORMING,
        jobs=tuple(row.job_id for row in batch.rows),
        formed_at=now,
    )
    ledger.form(wave)
    claimed = [row.job_id for row in batch.rows if take(row.job_id) is not None]
    winners = _unmoved(ledger, wave, batch, claimed, now=now)
    try:
        ledger.formed(wave_id, winners)
    except errors.OwnershipLost:
        # A sweep took this dispatcher for dead and ended the wave; no sweep looks at it again.
        give_back(ledger, wave, winners, "its wave was ended while it was formed", now=now)
        return None
    if not winners:
        return None
    return replace(wave, state=WaveState.FORMED, jobs=tuple(winners))


def _unmoved(
    ledger: JobLedger, wave: Wave, batch: Batch, claimed: Sequence[str], *, now: datetime
) -> list[str]:
    """Return the claimed jobs that still are of the batch, and give the others back.

    The batch may have been read long before its turn, and a claim does not ask for the line: a job
    that was moved to another credential meanwhile must not be paid for by this one.
    """
    rows = ledger.jobs(wave.customer, claimed)
    seen = {row.job_id: _line(row) for row in batch.rows}
    mine = [one for one in claimed if one in rows and _line(rows[one]) == seen[one]]
    if moved := set(claimed) - set(mine):
        give_back(ledger, wave, moved, "it came into another line meanwhile", now=now)
    return mine


def shrink(ledger: JobLedger, wave: Wave, kept: Sequence[str], *, now: datetime) -> None:
    """Give back the jobs of a formed wave that are not *kept*.

    They go first: whoever dies in between leaves jobs on the list that are due again, and a list
    is read against the rows. The other way round it would leave jobs that no list names.

    Raises:
        OwnershipLost: A run has started the wave, or it has ended.
    """
    lost, later = set(wave.jobs) - set(kept), now + SHRUNK_FOR
    why = "its partition was not added"
    give_back(ledger, wave, lost, why, now=now, not_before=later)
    ledger.formed(wave.wave_id, kept)


def give_back(
    ledger: JobLedger,
    wave: Wave,
    job_ids: Iterable[str],
    reason: str,
    *,
    now: datetime,
    not_before: datetime | None = None,
) -> None:
    """Release the jobs that the wave still has, uncounted; what has moved is not its to give."""
    release = Release(f"Given back: {reason}.", not_before=not_before or now)
    for row in ledger.jobs(wave.customer, job_ids).values():
        if works_on(wave, row):
            let_go(ledger, row, release, now=now)


def let_go(ledger: JobLedger, row: JobRow, release: Release, *, now: datetime) -> bool:
    """Release a job from whoever has it by its row; False: it has moved meanwhile."""
    try:
        ledger.release(Claim.standing(row), release, now=now)
    except errors.OwnershipLost:
        return False
    return True


def works_on(wave: Wave, row: JobRow) -> bool:
    """Say whether a job is in the wave's hands."""
    return row.wave == wave.wave_id and row.status is Status.RUNNING


def wave_size(*, most: int, horizon: timedelta, jobs_per_minute: float) -> int:
    """Return how many jobs one wave may hold: what the rate works off within *horizon*."""
    return max(1, min(most, int(jobs_per_minute * horizon.total_seconds() / 60)))
