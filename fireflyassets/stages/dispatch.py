"""Dispatch: whose wave is formed next, from which jobs, and what is taken back from the dead.

In: the ledger's queue index. Out: waves whose jobs are claimed, one conditional write each.
Spends: nothing. Adding partition keys and asking for a run is the caller's part.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Release, Wave, WaveState
from fireflyassets.ports.ledger import JobLedger

_log: Final = logging.getLogger("fireflyassets.dispatch")
STALE_AFTER: Final = timedelta(minutes=10)
"""A wave that has not come to run by then is taken back, or launched again."""


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


def next_batches(
    ledger: JobLedger,
    lanes: Iterable[Lane],
    *,
    waves_per_lane: int,
    size: Callable[[Lane], int],
    now: datetime,
) -> list[Batch]:
    """Return at most one batch for each lane that may have another wave, longest waiting first."""
    open_waves = ledger.open_waves()
    batches: list[Batch] = []
    for lane in lanes:
        mine = [one for one in open_waves if Lane(one.credential, one.customer) == lane]
        if len(mine) >= waves_per_lane:
            continue
        rows = ledger.due(lane.credential, lane.customer, now=now, most=size(lane))
        if rows:
            first = rows[0]
            same = (first.campaign_id, first.campaign_version)
            together = tuple(one for one in rows if (one.campaign_id, one.campaign_version) == same)
            batches.append(Batch(lane, *same, rows=together))
    return sorted(batches, key=lambda batch: batch.rows[0].updated_at)


Claiming = Callable[[str], Claim | None]


def form(
    ledger: JobLedger, batch: Batch, *, wave_id: str, now: datetime, claiming: Claiming
) -> Wave | None:
    """Form a wave: the item first, then one claim for each job, then the winners' list.

    None if no job could be claimed, or their campaign is on hold: then they are held with it.
    """
    hold = ledger.campaign_hold(batch.lane.customer, batch.campaign)
    if hold is not None:
        for row in batch.rows:
            ledger.hold_with_campaign(row, hold)
        return None
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
    winners = [row.job_id for row in batch.rows if claiming(row.job_id) is not None]
    try:
        ledger.formed(wave_id, winners)
    except errors.OwnershipLost:
        # A sweep took this dispatcher for dead and ended the wave; no sweep looks at it again.
        _give_back(ledger, wave, winners, "its wave was ended while it was formed", now=now)
        return None
    if not winners:
        return None
    return replace(wave, state=WaveState.FORMED, jobs=tuple(winners))


def shrink(ledger: JobLedger, wave: Wave, kept: Sequence[str], *, now: datetime) -> None:
    """Give back the jobs of a formed wave that are not *kept*.

    Raises:
        OwnershipLost: A run has started the wave, or it has ended; nothing was given back.
    """
    ledger.formed(wave.wave_id, kept)
    _give_back(ledger, wave, set(wave.jobs) - set(kept), "its partition was not added", now=now)


def set_aside(ledger: JobLedger, wave: Wave, reason: str, *, now: datetime) -> None:
    """Give back a wave that can't be launched now; its jobs are due again after a while.

    Late enough that they do not stand before the tenant's other jobs at every tick.
    """
    until = now + STALE_AFTER
    _give_back(ledger, wave, wave.jobs, reason, now=now, not_before=until)
    ledger.end(wave.wave_id)
    _log.warning("wave %s: set aside until %s: %s", wave.wave_id, until, reason)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: waves taken back, and formed ones that need another launch."""

    taken_back: tuple[Wave, ...]
    to_launch: tuple[Wave, ...]


def sweep(
    ledger: JobLedger, *, now: datetime, run_is_alive: Callable[[Wave], bool | None]
) -> Swept:
    """Take back the jobs of dead waves and name those that never came to run.

    *run_is_alive* answers None where no run of the wave is known.
    """
    taken: list[Wave] = []
    launch: list[Wave] = []
    for seen in ledger.open_waves():
        wave = ledger.wave(seen.wave_id)
        if wave is None or wave.state is WaveState.ENDED:
            continue
        age = now - wave.formed_at
        alive = run_is_alive(wave) if wave.state is not WaveState.FORMING else None
        if wave.state is WaveState.RUNNING:
            expired = wave.lease_until is None or wave.lease_until < now
            if expired or alive is False:
                take_over(ledger, wave, now=now)
                taken.append(wave)
        elif wave.state is WaveState.FORMING and age > STALE_AFTER:
            _give_back(ledger, wave, wave.jobs, "its wave was never formed", now=now)
            ledger.end(wave.wave_id)
            taken.append(wave)
        elif alive is False or (alive is None and age > STALE_AFTER):
            launch.append(wave)
    return Swept(tuple(taken), tuple(launch))


def take_over(ledger: JobLedger, wave: Wave, *, now: datetime) -> int:
    """Give back every job that a dead run still holds; each counts a crash. Returns how many."""
    reason = "the process that worked on it died"
    count = _give_back(ledger, wave, wave.jobs, reason, now=now, crashed=True)
    ledger.end(wave.wave_id)
    _log.warning("wave %s: its run is dead; %d jobs given back", wave.wave_id, count)
    return count


def give_back_stranded(ledger: JobLedger, *, now: datetime, most: int) -> int:
    """Give back jobs that run under a wave that has ended; returns how many.

    Whoever claimed them died before the wave was complete, so that its list does not name them.
    """
    count = 0
    release = Release("Given back: its wave had ended.", not_before=now)
    for row in ledger.stranded(most=most):
        try:
            claim = Claim(row.job_id, row.customer_id, row.wave or "", row.epoch)
            ledger.release(claim, release, now=now)
            count += 1
        except errors.OwnershipLost:
            continue
    if count:
        _log.warning("%d jobs ran under waves that had ended; they are given back", count)
    return count


def _give_back(
    ledger: JobLedger,
    wave: Wave,
    job_ids: Iterable[str],
    reason: str,
    *,
    now: datetime,
    not_before: datetime | None = None,
    crashed: bool = False,
) -> int:
    count = 0
    release = Release(f"Given back: {reason}.", not_before=not_before or now, crashed=crashed)
    for row in ledger.jobs(wave.customer, job_ids).values():
        if row.wave != wave.wave_id or row.status is not Status.RUNNING:
            continue
        try:
            claim = Claim(row.job_id, row.customer_id, wave.wave_id, row.epoch)
            ledger.release(claim, release, now=now)
            count += 1
        except errors.OwnershipLost:
            continue
    return count


def wave_size(*, most: int, horizon: timedelta, jobs_per_minute: float) -> int:
    """Return how many jobs one wave may hold: what the rate works off within *horizon*."""
    return max(1, min(most, int(jobs_per_minute * horizon.total_seconds() / 60)))
