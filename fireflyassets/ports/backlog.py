"""What stands in the ledger, counted, as a port: for gauges and people, never for decisions.

Belongs here: counts. Does not: rows (``ports/ledger.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fireflyassets.core.sums import Sums


@dataclass(frozen=True, slots=True)
class Line:
    """The queued jobs of one customer under one credential that nobody holds."""

    jobs: int
    first_due_at: datetime
    """When the one that is due first is due; it may be parked until then."""


class Backlog(ABC):
    """Counts that an index tells, maybe a moment late."""

    @abstractmethod
    def lines(self) -> Mapping[tuple[str, str], Line]:
        """Return (credential, customer) -> its line, where anything waits. Reads all that waits."""

    @abstractmethod
    def dead(self) -> int:
        """Return how many jobs are in ``dlq``."""

    @abstractmethod
    def campaign(self, customer: str, campaign: str) -> Sums:
        """Return a campaign's sums. Reads all its jobs, though not the whole of each."""
