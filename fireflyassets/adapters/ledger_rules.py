"""What every ledger refuses and counts, whatever it is kept in.

Belongs here: the rules as values. Does not: writes, whose conditions each ledger states for
itself.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from fireflyassets.core.job import FENCE, Hold, JobRow
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Decision,
    Ending,
    Operation,
    Verdict,
    Wave,
    WaveState,
)
from fireflyassets.ports.reviews import Judging, View

FAULTS: Final = frozenset({Status.DLQ, Status.REVIEW, Status.FAILED})
"""Ends by the job's own fault: they count an attempt."""

STARTABLE: Final = frozenset({WaveState.FORMED, WaveState.LAUNCHED})
"""Waves that a run may start and a dispatcher may launch."""

BEFORE_RUN: Final = STARTABLE | {WaveState.FORMING}
"""Waves whose list of jobs may still change."""


def is_claimable(row: JobRow) -> bool:
    """Say whether a wave may claim the job; a parked one may be claimed before it is due."""
    return row.status is Status.QUEUED and row.hold is None


def is_unsettled(hold: Hold | None) -> bool:
    """Say whether an answer to an open call may lift a hold."""
    return hold is not None and hold.by == FENCE


def as_asked(row: JobRow, ending: Ending | None, *, at: datetime) -> Ending | None:
    """Return the end of a job that was to be cancelled, instead of *ending* or of being queued.

    None: that was not asked for, or it has succeeded. Its cost is looked at again.
    """
    if row.cancel is None or (ending is not None and ending.status is Status.SUCCEEDED):
        return None
    cost = replace(ending.cost if ending else row.cost, open=True)
    ttl = at + row.cancel.keep
    run_id = ending.run_id if ending else None
    return Ending(Status.CANCELLED, row.cancel.reason, (), cost, at, ttl, run_id)


def is_runs(wave: Wave, run_id: str) -> bool:
    """Say whether the wave is at work in that run."""
    return wave.state is WaveState.RUNNING and wave.run_id == run_id


def check_new(rows: Iterable[JobRow]) -> None:
    """Refuse rows that no intake makes.

    Raises:
        ValueError: A row is not queued, or has been in a wave.
    """
    for row in rows:
        if row.status is not Status.QUEUED or row.wave is not None or row.epoch != 0:
            raise ValueError(f"Job {row.job_id} is {row.status}: a row begins queued, in epoch 0.")


def check_forming(wave: Wave) -> None:
    """Refuse waves that do not begin at the beginning.

    Raises:
        ValueError: The wave is not ``forming``.
    """
    if wave.state is not WaveState.FORMING:
        raise ValueError(f"Wave {wave.wave_id} is {wave.state}: a wave begins forming.")


def check_unowned(row: JobRow) -> None:
    """Refuse rows that a wave works on.

    Raises:
        ValueError: The row is running.
    """
    if row.status is Status.RUNNING:
        raise ValueError(f"Job {row.job_id} is running: what it made is its wave's to bind.")


RESTATED: Final = Cause.ACCEPTED_BUT_FAILED
"""The cause that says no more than that a call was accepted: a better one may follow."""


def may_be_restated(known: Operation | None) -> bool:
    """Say whether an operation row may be written where *known* stands."""
    return known is None or known.cause is RESTATED


def orphaned(operation: Operation) -> Operation:
    """Return the row of a send whose step has another send's result."""
    return replace(operation, cause=Cause.ORPHANED)


def judged(one: Judging) -> JobRow:
    """Return the row as a decision leaves it; its note stays in the history."""
    return replace(
        one.row,
        human_reviewed=one.review,
        judged=replace(one.judgement, note=""),
        epoch=one.row.epoch + 1,
        ttl=one.ttl,
        updated_at=one.judgement.at,
    )


def after_view(view: View) -> View | None:
    """Return the view that is due once *view* shows a decision; None: all do."""
    return View.DAGSTER if view is View.OBJECTS else None


def decided(attempt: Attempt, decision: Decision) -> Attempt:
    """Return the send as a decision leaves it: what is billed is collected, or has made nothing."""
    if decision.verdict is not Verdict.BILLED:
        return replace(attempt, decision=decision)
    state = AttemptState.ACCEPTED if attempt.status_url else AttemptState.FAILED
    return replace(attempt, decision=decision, state=state)
