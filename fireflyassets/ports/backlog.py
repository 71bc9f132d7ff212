"""What stands in the ledger, counted, as a port: for gauges and people, never for decisions.

Belongs here: counts. Does not: rows (``ports/ledger.py``).
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fireflyassets.core.sums import Sums

LineName = tuple[str, str, str]
"""(credential, customer, campaign)."""


@dataclass(frozen=True, slots=True)
class Line:
    """The queued jobs of one campaign that nobody holds."""

    first_due_at: datetime
    """When the one that is due first is due; it may be parked until then."""
    minutes: Counter[datetime] = field(default_factory=Counter[datetime])
    """Minute -> jobs that are due in it."""

    @property
    def jobs(self) -> int:
        """Return how many there are."""
        return self.minutes.total()

    def with_due(self, at: datetime, jobs: int) -> "Line":
        """Return the line with more jobs that are due then."""
        return Line(min(at, self.first_due_at), self.minutes + Counter({_minute(at): jobs}))


class Backlog(ABC):
    """Counts that an index tells, maybe a moment late."""

    @abstractmethod
    def lines(self) -> Mapping[LineName, Line]:
        """Return the lines in which anything waits. Reads all that waits."""

    @abstractmethod
    def dead(self) -> int:
        """Return how many jobs are in ``dlq``."""

    @abstractmethod
    def campaign(self, customer: str, campaign: str) -> Sums:
        """Return a campaign's sums. Reads all its jobs, though not the whole of each."""


def lines_of(dues: Iterable[tuple[LineName, datetime]]) -> dict[LineName, Line]:
    """Return the lines of jobs, each by its line and when it is due."""
    found: dict[LineName, dict[datetime, int]] = {}
    for name, at in dues:
        line = found.setdefault(name, {})
        line[at] = line.get(at, 0) + 1
    return {name: _line(line) for name, line in found.items()}


def _line(dues: Mapping[datetime, int]) -> Line:
    minutes = Counter[datetime]()
    for at, jobs in dues.items():
        minutes[_minute(at)] += jobs
    return Line(min(dues), minutes)


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
