"""How a run comes by its waves: the one it was launched for, or those it forms by hand.

Belongs here: which of the asked jobs may be claimed, which are only told again, and why the rest
is left alone. Does not: Dagster's tags and partitions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.settings import Settings
from fireflyassets.stages.dispatch import Batch, Lane, form
from fireflyassets.wave.reports import Skipped


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
    rows = ledger.jobs(customer, job_ids)
    found = [rows[one] for one in job_ids if one in rows]
    skipped = [Skipped(one, "there is no such job") for one in job_ids if one not in rows]
    skipped += [Skipped(row.job_id, why) for row in found if (why := _why_not(row))]
    done = tuple(row for row in found if row.status is Status.SUCCEEDED)
    waves: list[Wave] = []
    for batch in _batches([row for row in found if _claimable(row)]):
        wave = _form(ledger, batch, run_id, settings=settings, now=now, wave_id=new_id())
        claimed = set(wave.jobs) if wave else set[str]()
        skipped += [
            Skipped(row.job_id, "another wave took it just now, or its campaign is on hold")
            for row in batch.rows
            if row.job_id not in claimed
        ]
        if wave:
            waves.append(wave)
    return Begun(tuple(waves), done, tuple(skipped))


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
