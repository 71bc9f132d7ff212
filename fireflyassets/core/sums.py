"""A campaign's jobs, counted and added up.

Belongs here: the sums and how one job adds to them. Does not: reading jobs (``ports/backlog.py``).
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from fireflyassets.core.status import ENDED, Status


@dataclass(slots=True)
class Sums:
    """What is told of a campaign as a whole."""

    by_status: Counter[Status] = field(default_factory=Counter[Status])
    held: int = 0
    going: int = 0
    """Jobs that are made without anybody's word."""
    due_at: datetime | None = None
    """When the last of those that go on and are parked is due."""
    estimate: Decimal = Decimal(0)
    certain: Decimal = Decimal(0)
    possible: Decimal = Decimal(0)

    @property
    def jobs(self) -> int:
        """Return how many there are."""
        return self.by_status.total()

    @property
    def open(self) -> int:
        """Return how many are to be made yet, held ones included."""
        return sum(jobs for status, jobs in self.by_status.items() if status not in ENDED)

    def add(
        self,
        status: Status,
        *,
        is_held: bool,
        not_before: datetime | None,
        estimate: Decimal,
        certain: Decimal | None,
        possible: Decimal | None,
    ) -> None:
        """Add a job."""
        self.by_status[status] += 1
        self.estimate += estimate
        self.certain += certain or 0
        self.possible += possible or 0
        self.held += is_held
        if status not in ENDED and not is_held:
            self.going += 1
            if not_before and (self.due_at is None or not_before > self.due_at):
                self.due_at = not_before
