"""The part of the ledger's port about jobs that ended by a fault.

Belongs here: which jobs are in ``dlq``, how one is run again, whose snapshot is still owed.
Does not: who may be run again when (``stages/replay.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime

from fireflyassets.core.job import JobRow
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.entries import Ending


@dataclass(frozen=True, slots=True)
class Owed:
    """A job whose last fault has no snapshot yet; it may have moved on since."""

    row: JobRow
    """With status, class and reason of that fault, whatever they are by now."""
    since: datetime


class DeadJobs(ABC):
    """Jobs that ended by a fault. An index proposes them; each write is conditional on the row."""

    @abstractmethod
    def dead(self) -> list[JobRow]:
        """Return all jobs in ``dlq``, the longest there first."""

    @abstractmethod
    def replay(
        self, row: JobRow, *, due_at: datetime, said: str, now: datetime
    ) -> bool | OverBudget:
        """Move dlq -> queued, replays + 1, with its outbox row; due at *due_at*, *said* its reason.

        It raises the epoch and forgives crashes. False, and nothing is written, if the job has
        moved since *row* was read: of two replays one wins. Nor is it where what is still to come
        does not fit into its month's budgets.
        """

    @abstractmethod
    def take_back(self, row: JobRow, ending: Ending) -> bool:
        """Undo a replay: queued -> dlq by *ending*, replays - 1, with its outbox row.

        False, and nothing is written, if the job has moved since *row* was read: what a wave has
        begun is its wave's. It counts no attempt.
        """

    @abstractmethod
    def owed(self, *, most: int) -> list[Owed]:
        """Return up to *most* jobs whose last fault has no snapshot, the longest without first."""

    @abstractmethod
    def snapped(self, owed: Owed) -> bool:
        """Note that the snapshot is written; False if the job has ended by another fault since."""
