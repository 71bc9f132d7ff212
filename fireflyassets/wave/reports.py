"""What a wave reports while it works, in the factory's words.

Belongs here: reports as values. Does not: how they are shown (``defs/events.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fireflyassets.core.job import JobRequest, JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.stage import Stage
from fireflyassets.core.status import Status
from fireflyassets.stages.deliver import Delivered
from fireflyassets.stages.retries import Spent


@dataclass(frozen=True, slots=True)
class Subject:
    """Which job a report is about."""

    row: JobRow
    request: JobRequest
    reused: bool = False
    """True where the job was done before and nothing was made now."""


@dataclass(frozen=True, slots=True)
class Made:
    """A job passed the generate or compose stage; results by step, aspect behind the dot."""

    subject: Subject
    stage: Stage
    results: tuple[StepResult, ...]


@dataclass(frozen=True, slots=True)
class Handed:
    """A job's renditions are delivered."""

    subject: Subject
    deliveries: tuple[Delivered, ...]
    cost: Cost
    retries: tuple[Spent, ...]
    """What of the job's budget went into them."""


class Check(StrEnum):
    """The checks of a job; each is a sentence that is true when green."""

    TAGGING = "every_rendition_is_tagged"
    COST = "cost_is_within_the_estimate"
    REVIEW = "review_is_settled"


@dataclass(frozen=True, slots=True)
class Checked:
    """A check of one job."""

    job_id: str
    check: Check
    passed: bool
    blocks: bool
    """True: a failure ends the job. False: it only keeps it from being published."""
    facts: Mapping[str, str]


class Turn(StrEnum):
    """How a job's turn in the wave ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PARKED = "parked"
    HELD = "held"
    LOST = "lost"
    """Another wave owns it now, or the ledger could not be told; a sweep sees to it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A job's turn is over; the ledger says so already, but where it is lost."""

    job_id: str
    turn: Turn
    status: Status
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A job that was asked for and is not worked on: who has it, or why not."""

    job_id: str
    reason: str


Report = Made | Handed | Checked | Ended | Skipped
