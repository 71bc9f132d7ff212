"""A person's word on a send whose outcome nobody knows.

Belongs here: which sends wait for it, and what each verdict does to the send and its job.
Does not: asking the vendor; printing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.errors import UndecidableNow
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import FENCE, JobRow
from fireflyassets.core.money import Cause
from fireflyassets.core.status import CLOSED, ENDED, Status
from fireflyassets.fence.call import Rates, operations_of
from fireflyassets.fence.standing import awaits_person, settles_at
from fireflyassets.ports.entries import (
    Attempt,
    Decision,
    Ending,
    History,
    Operation,
    Resumed,
    Verdict,
)
from fireflyassets.ports.ledger import JobLedger

_PAGE: Final = 500
_LOST: Final = FailureClass.LOST_ANSWER


@dataclass(frozen=True, slots=True)
class Unknown:
    """A send that may have been paid, and the job that waits for it."""

    row: JobRow
    attempt: Attempt
    settles_at: datetime | None
    """When our own key tells by itself; None: it needs a person."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Decides on unknown sends; every write is conditional on what was looked at."""

    ledger: JobLedger
    price: Callable[[JobRow, Attempt], Rates]
    keep: Callable[[JobRow], timedelta]
    """How long a closed row of the job's campaign stays."""

    def unknown(self, *, now: datetime) -> list[Unknown]:
        """Return the sends whose outcome is unknown, the oldest first, but those of live waves."""
        found: list[Unknown] = []
        after: datetime | None = None
        while True:
            page = self.ledger.open_attempts(before=now, after=after, most=_PAGE)
            for attempt in page:
                row = self.ledger.job(attempt.job_id) if attempt.is_unknown else None
                if row is not None and not _in_hand(row, attempt):
                    by_person = awaits_person(attempt, now=now)
                    found.append(Unknown(row, attempt, None if by_person else settles_at(attempt)))
            if len(page) < _PAGE:
                return found
            after = page[-1].submitted_at

    def resolve(self, job_id: str, step: str, decision: Decision) -> str:
        """Apply a verdict to the oldest unknown send of a step; return what it did.

        Raises:
            UndecidableNow: There is nothing to decide, or the job has moved meanwhile.
        """
        row = self.ledger.job(job_id)
        if row is None:
            raise UndecidableNow(f"There is no job {job_id}.")
        if row.status is Status.RUNNING:
            raise UndecidableNow(f"Wave {row.wave} works on job {job_id}.")
        history = self.ledger.history(job_id)
        attempt = _oldest(history, step)
        if attempt is None:
            raise UndecidableNow(f"Step {step} of job {job_id} has no unknown outcome.")
        if decision.verdict is Verdict.RESUBMIT and row.status in CLOSED:
            raise UndecidableNow(f"Job {job_id} is {row.status}: nothing is sent for it any more.")
        booked = self._booked(row, attempt, decision)
        move = self._move(row, history, attempt, decision, booked)
        if not self.ledger.decide(row, attempt, decision, move, booked):
            raise UndecidableNow(f"Job {job_id} has moved just now.")
        look_again(self.ledger, job_id, now=decision.at)
        return _told(self.ledger.job(job_id) or row, attempt, decision)

    def _booked(self, row: JobRow, attempt: Attempt, decision: Decision) -> list[Operation]:
        cause = {
            Verdict.RESUBMIT: Cause.POSSIBLE_DUPLICATE,
            # With its id known it is collected, and booked for what it turns out to be.
            Verdict.BILLED: None if attempt.status_url else Cause.ORPHANED,
            Verdict.DROP: Cause.POSSIBLE_COST,
        }[decision.verdict]
        if cause is None:
            return []
        return operations_of(row, attempt, self.price(row, attempt), cause, decision.at)

    def _move(
        self,
        row: JobRow,
        history: History,
        attempt: Attempt,
        decision: Decision,
        booked: list[Operation],
    ) -> Resumed | Ending | None:
        """Return how the job moves; a job that has ended only moves if it is given up."""
        dropped = decision.verdict is Verdict.DROP
        if row.status in CLOSED or (row.status in ENDED and not dropped):
            return None
        others = replace(
            history,
            attempts=tuple(_but(history.attempts, attempt)),
            operations=(*history.operations, *booked),
        )
        cost = others.cost
        said = f"Step {attempt.step}, send {attempt.n}"
        # The row is told to customers: who decided, and why, stay beside the send.
        if dropped:
            reason = (
                f"{said}: nobody could find out what became of it, and the job was given up. Send "
                "it under a new key to have it made."
            )
            ttl = decision.at + self.keep(row)
            return Ending(Status.FAILED, reason, (), cost, decision.at, ttl, failure=_LOST)
        if decision.verdict is Verdict.BILLED and not attempt.status_url:
            reason = (
                f"{said}: it was billed, and its result is out of reach. Send the job under a new "
                "key to pay for it once more, or leave it."
            )
            return Ending(Status.REVIEW, reason, (), cost, decision.at, None, failure=_LOST)
        return Resumed(decision.at) if may_go_on(row, others, now=decision.at) else None


def look_again(ledger: JobLedger, job_id: str, *, now: datetime) -> None:
    """Let a job that no wave works on follow its sends: its hold, and what it has cost.

    It looks at how things are, not at what has changed. So whoever dies before it, or decides
    beside another, leaves nothing wrong: the row stays among the unsettled, and is looked at.
    """
    row = ledger.job(job_id)
    if row is None or row.status is Status.RUNNING:
        return
    history = ledger.history(job_id)
    if row.status in ENDED:
        cost = history.cost
        if (cost, cost.open) != (row.cost, row.unsettled):
            ledger.recost(row, cost)
    elif may_go_on(row, history, now=now):
        ledger.lift(row, now=now)


def may_go_on(row: JobRow, history: History, *, now: datetime) -> bool:
    """Say whether a job is held for unknown outcomes alone, and none of them waits for a person."""
    if row.hold is None or row.hold.by != FENCE:
        return False
    mine = (one for one in history.unanswered if one.generation == row.generation)
    return not any(awaits_person(one, now=now) for one in mine)


def _in_hand(row: JobRow, attempt: Attempt) -> bool:
    """Say whether the wave that made the send still has the job, and may hear its answer."""
    mine = (row.wave, row.epoch) == (attempt.wave_id, attempt.epoch)
    return row.status is Status.RUNNING and mine


def _oldest(history: History, step: str) -> Attempt | None:
    found = [one for one in history.unanswered if one.step == step and one.is_unknown]
    return min(found, key=lambda one: (one.generation, one.n), default=None)


def _but(attempts: Iterable[Attempt], decided: Attempt) -> Iterator[Attempt]:
    send = (decided.step, decided.generation, decided.n)
    return (one for one in attempts if (one.step, one.generation, one.n) != send)


def _told(row: JobRow, attempt: Attempt, decision: Decision) -> str:
    said = f"Send {attempt.n} of step {attempt.step}: {decision.verdict}, by {decision.by}."
    if row.hold is not None:
        return f"{said} The job stays held: {row.hold.and_door}."
    return f"{said} The job is {'due' if row.status is Status.QUEUED else row.status}."
