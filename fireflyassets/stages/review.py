"""Review: what people decide on jobs' outputs, one at a time, a selection or a cluster.

In: jobs as a person saw them, and what is decided. Out: decisions in the ledger; who was too late
is told by whom. Spends: nothing. Objects and Dagster follow (``stages/showing.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import review
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.review import Act, Code, Judgement, Move, Pace
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.reviews import Judging

MOST: Final = 500
"""Jobs that one act decides on."""
NOTE_LIMIT: Final = 500
_PAST: Final = {
    Move.APPROVE: "approved",
    Move.REJECT: "rejected",
    Move.SECOND_LOOK: "put aside for a second look",
    Move.ESCALATE: "escalated",
    Move.UNDO: "put back to pending",
    Move.RECALL: "recalled",
}


@dataclass(frozen=True, slots=True)
class Pick:
    """A job as a person saw it; *version* is its epoch then."""

    job_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is decided, by whom."""

    move: Move
    by: str
    code: Code | None = None
    """Of a rejection."""
    note: str = ""
    is_cluster: bool = False
    """True: a cluster as a whole, of which some are drawn for a second look."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A job that nothing was decided on, and why."""

    job_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an act."""

    act: str
    rows: tuple[JobRow, ...]
    """The jobs that were decided on, as they stand now."""
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class Reviews:
    """The use case. *keep* says how long the row of a settled job stays."""

    ledger: JobLedger
    clock: Clock
    keep: Callable[[JobRow], timedelta]
    new_act: Callable[[], str]

    def judge(
        self, customer: str, campaign: str, picks: Sequence[Pick], ruling: Ruling
    ) -> Outcome | tuple[Problem, ...]:
        """Decide on jobs of one campaign, each as it was seen; those that moved are told.

        Nothing is decided where the ruling is not right.
        """
        if problems := tuple(_faults(picks, ruling)):
            return problems
        seen = {one.job_id: one.version for one in picks}
        rows = self.ledger.jobs(customer, seen)
        act = self._act(customer, campaign, sorted(seen), ruling)
        fit: list[Judging] = []
        refused: list[Refused] = []
        for job_id, version in seen.items():
            row = rows.get(job_id)
            if row is None or row.campaign_id != campaign:
                refused.append(Refused(job_id, "There is no such job in this campaign."))
            elif (one := self._judging(row, act, ruling)) and row.epoch == version:
                fit.append(one)
            else:
                refused.append(Refused(job_id, _why_not(row, version, ruling.move)))
        told = self.ledger.judge(act, fit) if fit else []
        return Outcome(
            act.act,
            tuple(row for row in told if row),
            (*refused, *self._lost(fit, told, ruling)),
        )

    def paces(self, customer: str) -> tuple[Pace, ...]:
        """Return how fast a customer's reviewers decided within the last hour."""
        now = self.clock.now()
        return review.paces(self.ledger.acts(customer, since=now - review.HOUR), now=now)

    def _act(self, customer: str, campaign: str, job_ids: Sequence[str], ruling: Ruling) -> Act:
        name = self.new_act()
        drawn = ruling.is_cluster and ruling.move is Move.APPROVE
        return Act(
            act=name,
            customer=customer,
            campaign=campaign,
            by=ruling.by,
            at=self.clock.now(),
            move=ruling.move,
            asked=len(job_ids),
            code=ruling.code,
            sampled=review.second_look(job_ids, name) if drawn else (),
        )

    def _judging(self, row: JobRow, act: Act, ruling: Ruling) -> Judging | None:
        """Return the decision on a row; None where it does not fit."""
        move = Move.SECOND_LOOK if row.job_id in act.sampled else ruling.move
        last = row.judged.move if row.judged else None
        after = review.verdict(row.human_reviewed, last, move)
        if row.status is not Status.SUCCEEDED or after is None:
            return None
        made = Judgement(
            job_id=row.job_id,
            customer=row.customer_id,
            version=row.epoch + 1,
            move=move,
            by=ruling.by,
            at=act.at,
            act=act.act,
            code=ruling.code,
            note=ruling.note,
        )
        return Judging(row, made, after, self._ttl(row, after, act.at))

    def _ttl(self, row: JobRow, after: HumanReview, now: datetime) -> datetime | None:
        return None if after is HumanReview.PENDING else now + self.keep(row)

    def _lost(
        self, fit: Sequence[Judging], told: Sequence[JobRow | None], ruling: Ruling
    ) -> list[Refused]:
        """Return those that somebody else moved between the read and the write."""
        lost = [one.row for one, row in zip(fit, told, strict=True) if row is None]
        if not lost:
            return []
        stand = self.ledger.jobs(lost[0].customer_id, [row.job_id for row in lost])
        return [
            Refused(row.job_id, _why_not(stand.get(row.job_id, row), row.epoch, ruling.move))
            for row in lost
        ]


def _faults(picks: Sequence[Pick], ruling: Ruling) -> list[Problem]:
    """Return what is wrong with an act, whatever the jobs are."""
    found: list[Problem] = []
    if not picks:
        found.append(Problem("jobs", "empty", "No job is chosen.", "Choose at least one."))
    if len(picks) > MOST:
        sentence = f"{len(picks)} jobs are chosen; one decision is on {MOST} at most."
        found.append(Problem("jobs", "size", sentence, "Decide in parts."))
    if ruling.move is Move.REJECT and ruling.code is None:
        sentence = "A rejection needs a reason code."
        found.append(Problem("code", "empty", sentence, f"Name one of {', '.join(Code)}."))
    if ruling.move is not Move.REJECT and ruling.code is not None:
        sentence = f"{ruling.move.value.capitalize()} takes no reason code."
        found.append(Problem("code", "unknown", sentence, "Leave it out."))
    if len(ruling.note) > NOTE_LIMIT:
        sentence = f"The note has {len(ruling.note)} characters."
        found.append(Problem("note", "length", sentence, f"Use at most {NOTE_LIMIT}."))
    return found


def _why_not(row: JobRow, version: int, move: Move) -> str:
    """Return why a decision on a job, as it was seen, is not written."""
    last = row.judged
    if row.status is not Status.SUCCEEDED:
        return f"The job is {row.status.value}: it has no outputs to decide on."
    if last and last.version == row.epoch and row.epoch != version:
        said = f" ({last.code.value})" if last.code else ""
        at = f"{last.at:%H:%M:%S} UTC"
        return f"{last.by} has {_PAST[last.move]} it{said} at {at}: look again before you decide."
    if row.epoch != version:
        return "Its outputs are other ones by now: look again before you decide."
    if move is Move.UNDO and last and last.move is Move.RECALL:
        return "It is recalled, which stays."
    return f"Its review is {row.human_reviewed.value}: it can't be {_PAST[move]}."


def code_of(said: str) -> Code | Problem | None:
    """Return the reason code of a text; None where it is empty."""
    if not said:
        return None
    try:
        return Code(said)
    except ValueError:
        fix = f"Name one of {', '.join(Code)}."
        return Problem("code", "unknown", "That is no reason code.", fix)
