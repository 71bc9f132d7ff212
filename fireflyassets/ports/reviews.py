"""The part of the ledger's port about reviews: decisions on outputs, and which views owe them.

Belongs here: what is written with a decision, and what is read of decisions. Does not: which
decision fits (``core/review.py``), what a decision does to objects and to Dagster.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Act, Judgement
from fireflyassets.core.status import HumanReview
from fireflyassets.ports.entries import Place


class View(StrEnum):
    """What shows a decision, one after the other."""

    OBJECTS = "objects"
    """The place and the tags of the outputs."""
    DAGSTER = "dagster"
    """The check of the job's partition."""


@dataclass(frozen=True, slots=True)
class Judging:
    """A decision that is to be written."""

    row: JobRow
    """As it was read: another epoch by now, and nothing is written."""
    judgement: Judgement
    review: HumanReview
    """What the row's review becomes."""
    ttl: datetime | None
    """When the row expires from then on; None while a review is open."""


class ReviewLedger(ABC):
    """Decisions. An index proposes rows; each write is conditional on the row's epoch."""

    @abstractmethod
    def judge(self, act: Act, judgings: Sequence[Judging]) -> list[JobRow | None]:
        """Write decisions on different jobs that have succeeded, and the act that they are of.

        Row, decision and the event that customers are told of are one transaction for each job;
        the epoch rises by one. The answer has the row as written, or None, and nothing is written
        of it, if the job has moved since it was read: of two decisions one is written. The act is
        kept if at least one was.
        """

    @abstractmethod
    def unreviewed(
        self, customer: str, campaign: str, *, after: Place | None, most: int
    ) -> list[JobRow]:
        """Return up to *most* jobs that have succeeded and wait for a review, by creation."""

    @abstractmethod
    def judgements(self, job_id: str) -> list[Judgement]:
        """Return all decisions on a job, the first first, read consistently."""

    @abstractmethod
    def acts(self, customer: str, *, since: datetime) -> list[Act]:
        """Return what a customer's reviewers did since then, the first first."""

    @abstractmethod
    def unshown(self, view: View, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs whose last decision a view may not show, the oldest first.

        They are read consistently; an index proposes them.
        """

    @abstractmethod
    def shown(self, row: JobRow, view: View) -> bool:
        """Note that a view shows the row's decision; the next view is due then.

        False, and nothing is written, if there was another decision since *row* was read.
        """
