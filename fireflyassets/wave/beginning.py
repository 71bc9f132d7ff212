"""How a run comes by its waves: the one it was launched for, or those it forms by hand.

Belongs here: which of the asked jobs may be claimed, which are only told again, and why the rest
is left alone. Does not: Dagster's tags and partitions.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fireflyassets.core import crashes
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.entries import Claim, Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.settings import Settings
from fireflyassets.stages.forming import Batch, Lane, form, of_one_wave
from fireflyassets.wave.reports import Skipped

_log: Final = logging.getLogger("fireflyassets.wave")
NOT_WHOLE: Final = "a job is made whole: choose its deliveries, or all three assets"
NOT_AGAIN: Final = (
    "a run that is executed again pays for nothing: materialize the job's partition instead"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person's run has to do. A batch is claimed when its turn comes, and not before."""

    batches: tuple[Batch, ...]
    done: tuple[JobRow, ...]
    skipped: tuple[Skipped, ...]

    @property
    def count(self) -> int:
        """Return how many jobs were asked for."""
        waiting = sum(len(batch.rows) for batch in self.batches)
        return waiting + len(self.done) + len(self.skipped)


def begin(
    ledger: JobLedger, wave_id: str, run_id: str, *, settings: Settings, now: datetime
) -> Wave | None:
    """Start the wave a run was launched for; None if another run has it or it has ended."""
    return ledger.start(wave_id, run_id, lease_until=now + settings.lease)


def asked_for(ledger: JobLedger, customer: str, job_ids: Sequence[str]) -> Asked:
    """Sort the jobs that a person asks for: to be worked on, told again, or left alone."""
    rows = ledger.jobs(customer, job_ids)
    found = [rows[one] for one in job_ids if one in rows]
    skipped = [Skipped(one, "there is no such job") for one in job_ids if one not in rows]
    skipped += [Skipped(row.job_id, why) for row in found if (why := _why_not(row))]
    done = tuple(row for row in found if row.status is Status.SUCCEEDED)
    return Asked(_batches([row for row in found if _claimable(row)]), done, tuple(skipped))


def tell_again(ledger: JobLedger, customer: str, job_ids: Sequence[str], *, why: str) -> Asked:
    """Claim nothing and pay nothing: what is done is told again, the rest is left alone.

    *why* is said of the jobs that could be claimed.
    """
    asked = asked_for(ledger, customer, job_ids)
    waiting = [row.job_id for batch in asked.batches for row in batch.rows]
    refused = tuple(Skipped(job_id, why) for job_id in waiting)
    return Asked((), asked.done, asked.skipped + refused)


def begin_by_hand(
    ledger: JobLedger,
    batch: Batch,
    run_id: str,
    *,
    settings: Settings,
    now: datetime,
    wave_id: str,
) -> Wave | None:
    """Form and start a wave of the batch's jobs that may still be claimed; None without any.

    To be worked on at once: its lease runs from now on.
    """
    rows = {row.job_id: row for row in batch.rows}

    def claiming(job_id: str) -> Claim | None:
        take = ledger.reclaim if rows[job_id].status is Status.DLQ else ledger.claim
        taken = take(job_id, batch.lane.customer, wave_id, now=now)
        if not isinstance(taken, OverBudget):
            return taken
        _log.warning("job %s is not run again. %s", job_id, taken)
        return None

    wave = form(ledger, batch, wave_id=wave_id, now=now, claiming=claiming)
    if wave is None:
        return None
    ledger.launched(wave_id)
    return begin(ledger, wave_id, run_id, settings=settings, now=now)


def _claimable(row: JobRow) -> bool:
    return row.status in {Status.QUEUED, Status.DLQ} and row.hold is None


def _why_not(row: JobRow) -> str | None:
    """Say why a job is left alone; None for one that is worked on or told again."""
    if row.hold is not None:
        return f"it is held: {row.hold.and_door}"
    if row.wave is not None and row.status is Status.RUNNING:
        return f"wave {row.wave} works on it"
    if row.status in {Status.REVIEW, Status.FAILED, Status.CANCELLED}:
        return f"it is {row.status}: {row.reason or 'closed'}"
    return None


def _batches(rows: Sequence[JobRow]) -> tuple[Batch, ...]:
    """Group jobs into waves: one version of one campaign and one credential, company by crashes."""
    groups: dict[object, list[JobRow]] = {}
    for row in rows:
        groups.setdefault(of_one_wave(row), []).append(row)
    return tuple(batch for together in groups.values() for batch in _split(together))


def _split(rows: Sequence[JobRow]) -> list[Batch]:
    first = rows[0]
    room = crashes.company(first.crashes, most=len(rows))
    lane = Lane(first.credential, first.customer_id)
    return [
        Batch(lane, first.campaign_id, first.campaign_version, tuple(rows[start : start + room]))
        for start in range(0, len(rows), room)
    ]
