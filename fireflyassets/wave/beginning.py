"""How a run comes by its waves: the one it was launched for, or those it forms by hand.

Belongs here: which of the asked jobs may be claimed, which are only told again, and why the rest
is left alone. Does not: Dagster's tags and partitions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.settings import Settings
from fireflyassets.stages.dispatch import Batch, Lane, form
from fireflyassets.wave.reports import Skipped

NOT_WHOLE: Final = "a job is made whole: choose its deliveries, or all three assets"


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run has to do."""

    waves: tuple[Wave, ...]
    done: tuple[JobRow, ...]
    skipped: tuple[Skipped, ...]


def begin(
    ledger: JobLedger, wave_id: str, run_id: str, *, settings: Settings, now: datetime
) -> Begun | None:
    """Start the wave a run was launched for; None if another run has it or it has ended."""
    wave = ledger.start(wave_id, run_id, lease_until=now + settings.lease)
    return None if wave is None else Begun((wave,), (), ())


def begin_by_hand(
    ledger: JobLedger,
    customer: str,
    job_ids: Sequence[str],
    run_id: str,
    *,
    settings: Settings,
    now: datetime,
    new_id: Callable[[], str],
) -> Begun:
    """Form and start waves of the jobs that may be claimed; pay only for what was claimed."""
    rows = _asked(ledger, customer, job_ids)
    skipped = _left_alone(rows, job_ids)
    waves: list[Wave] = []
    for batch in _batches([row for row in rows.values() if _claimable(row)]):
        wave = _form(ledger, batch, run_id, settings=settings, now=now, wave_id=new_id())
        claimed = set(wave.jobs) if wave else set[str]()
        skipped += [
            Skipped(row.job_id, "another wave took it just now, or its campaign is on hold")
            for row in batch.rows
            if row.job_id not in claimed
        ]
        if wave:
            waves.append(wave)
    return Begun(tuple(waves), _done(rows), tuple(skipped))


def tell_again(ledger: JobLedger, customer: str, job_ids: Sequence[str]) -> Begun:
    """Claim nothing and pay nothing: what is done is told again, the rest is left alone."""
    rows = _asked(ledger, customer, job_ids)
    skipped = _left_alone(rows, job_ids)
    skipped += [Skipped(row.job_id, NOT_WHOLE) for row in rows.values() if _claimable(row)]
    return Begun((), _done(rows), tuple(skipped))


def _asked(ledger: JobLedger, customer: str, job_ids: Sequence[str]) -> dict[str, JobRow]:
    """Return the rows that exist, in the order in which they were asked for."""
    rows = ledger.jobs(customer, job_ids)
    return {one: rows[one] for one in job_ids if one in rows}


def _done(rows: Mapping[str, JobRow]) -> tuple[JobRow, ...]:
    return tuple(row for row in rows.values() if row.status is Status.SUCCEEDED)


def _left_alone(rows: Mapping[str, JobRow], job_ids: Sequence[str]) -> list[Skipped]:
    missing = [Skipped(one, "there is no such job") for one in job_ids if one not in rows]
    return missing + [Skipped(row.job_id, why) for row in rows.values() if (why := _why_not(row))]


def _form(
    ledger: JobLedger,
    batch: Batch,
    run_id: str,
    *,
    settings: Settings,
    now: datetime,
    wave_id: str,
) -> Wave | None:
    rows = {row.job_id: row for row in batch.rows}

    def claiming(job_id: str) -> Claim | None:
        take = ledger.reclaim if rows[job_id].status is Status.DLQ else ledger.claim
        return take(job_id, batch.lane.customer, wave_id, now=now)

    wave = form(ledger, batch, wave_id=wave_id, now=now, claiming=claiming)
    if wave is None:
        return None
    ledger.launched(wave_id)
    return ledger.start(wave_id, run_id, lease_until=now + settings.lease)


def _claimable(row: JobRow) -> bool:
    return row.status in {Status.QUEUED, Status.DLQ} and row.hold is None


def _why_not(row: JobRow) -> str | None:
    """Say why a job is left alone; None for one that is worked on or told again."""
    if row.hold is not None:
        return f"it is held: {row.hold.reason}"
    if row.wave is not None and row.status is Status.RUNNING:
        return f"wave {row.wave} works on it"
    if row.status in {Status.REVIEW, Status.FAILED, Status.CANCELLED}:
        return f"it is {row.status}: {row.reason or 'closed'}"
    return None


def _batches(rows: Sequence[JobRow]) -> list[Batch]:
    """Group jobs so that each wave pins one version of one campaign under one credential."""
    groups: dict[tuple[str, str, str, str], list[JobRow]] = {}
    for row in rows:
        key = (row.credential, row.customer_id, row.campaign_id, row.campaign_version)
        groups.setdefault(key, []).append(row)
    return [
        Batch(Lane(credential, customer), campaign, version, tuple(together))
        for (credential, customer, campaign, version), together in groups.items()
    ]
