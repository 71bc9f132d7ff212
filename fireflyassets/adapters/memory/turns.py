"""What a job's row becomes at each move, as pure functions of values.

Belongs here: the rows after claim, release and end, and the condition of each. Does not: locks.
"""

from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.ledger_rules import FAULTS, as_asked, is_unsettled
from fireflyassets.core.budget import Booking
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Ending, Release


def is_owned(row: JobRow, claim: Claim) -> bool:
    """Say whether the row is still the claim's."""
    return (row.status, row.customer_id, row.wave, row.epoch) == (
        Status.RUNNING,
        claim.customer,
        claim.wave_id,
        claim.epoch,
    )


def claimed(row: JobRow, wave_id: str, now: datetime) -> JobRow:
    """Return the row in a wave, its epoch raised."""
    return replace(
        row,
        status=Status.RUNNING,
        wave=wave_id,
        epoch=row.epoch + 1,
        not_before=None,
        parked_for=None,
        reason=None,
        unsettled=False,
        updated_at=now,
    )


def reclaimed(row: JobRow, wave_id: str, now: datetime) -> JobRow:
    """Return the row of an ended job in a wave, with a replay counted and its crashes forgiven."""
    again = claimed(row, wave_id, now)
    return replace(
        again,
        replays=row.replays + 1,
        crashes=0,
        ended_at=None,
        ttl=None,
        failure=None,
        booking=renewed(row),
    )


def renewed(row: JobRow) -> Booking | None:
    """Return what a job that is run again takes of budgets."""
    return row.booking.renewed(row.cost_estimate) if row.booking else None


def replayed(row: JobRow, *, due_at: datetime, said: str, now: datetime) -> JobRow:
    """Return the row of a dead job back in its line, in an epoch of its own."""
    return replace(
        row,
        status=Status.QUEUED,
        wave=None,
        epoch=row.epoch + 1,
        replays=row.replays + 1,
        crashes=0,
        reason=said,
        not_before=due_at,
        failure=None,
        unsettled=False,
        ended_at=None,
        ttl=None,
        booking=renewed(row),
        updated_at=now,
    )


def released(row: JobRow, release: Release, now: datetime) -> JobRow:
    """Return the row back in the queue, or cancelled as asked; a takeover raises the epoch."""
    if asked := as_asked(row, None, at=now):
        return finished(row, asked)
    return replace(
        row,
        status=Status.QUEUED,
        wave=None,
        epoch=row.epoch + release.crashed,
        crashes=row.crashes + release.crashed,
        reason=release.reason,
        parked_for=release.held_by,
        not_before=release.not_before,
        hold=release.hold,
        unsettled=is_unsettled(release.hold),
        credential=release.credential or row.credential,
        updated_at=now,
    )


def resumed(row: JobRow, now: datetime) -> JobRow:
    """Return a held row without its hold, due now."""
    return replace(row, hold=None, unsettled=False, reason=None, not_before=now, updated_at=now)


def costing(row: JobRow, cost: Cost) -> JobRow:
    """Return an ended row with what it has cost."""
    return replace(
        row,
        cost_actual=cost.certain,
        cost_possible=cost.possible,
        unsettled=cost.open,
        booking=row.booking.settled(cost) if row.booking else None,
    )


def finished(row: JobRow, ending: Ending) -> JobRow:
    """Return the ended row; it goes on naming the wave that ended it."""
    ending = as_asked(row, ending, at=ending.ended_at) or ending
    return replace(
        costing(row, ending.cost),
        status=ending.status,
        reason=ending.reason,
        outputs=ending.outputs,
        looks=ending.looks,
        cancel=None,
        ended_at=ending.ended_at,
        ttl=ending.ttl,
        run_id=ending.run_id or row.run_id,
        failure=ending.failure,
        attempts=row.attempts + (ending.status in FAULTS),
        updated_at=ending.ended_at,
    )
