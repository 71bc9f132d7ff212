"""Call limits per organisation and family, on wall time.

Belongs here: sliding windows, the day count, and how long a refused caller has to wait.
Does not belong here: which calls count, and the words of a 429.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


class Window(Protocol):
    """One limit over one span of time."""

    def wait(self, now: datetime, *, factor: float) -> timedelta:
        """Return how long until one more call fits; zero when it fits now."""
        ...

    def take(self, now: datetime) -> None:
        """Count one call."""
        ...


def scaled(limit: int, factor: float) -> int:
    """Return *limit* cut by *factor*, at least one call."""
    return max(1, int(limit * factor))


@dataclass
class SlidingWindow:
    """At most *limit* calls in any stretch of *span*."""

    limit: int
    span: timedelta
    times: deque[datetime] = field(default_factory=deque[datetime])

    def wait(self, now: datetime, *, factor: float) -> timedelta:
        """Return the time until enough old calls have left the window."""
        while self.times and self.times[0] <= now - self.span:
            self.times.popleft()
        excess = len(self.times) - scaled(self.limit, factor)
        if excess < 0:
            return timedelta(0)
        return self.times[excess] + self.span - now

    def take(self, now: datetime) -> None:
        """Count one call."""
        self.times.append(now)


@dataclass
class CalendarDay:
    """At most *limit* calls per UTC day."""

    limit: int
    day: datetime | None = None
    used: int = 0

    def wait(self, now: datetime, *, factor: float) -> timedelta:
        """Return the time until midnight UTC when the day is used up."""
        self._turn(now)
        if self.used < scaled(self.limit, factor):
            return timedelta(0)
        return _midnight(now) + DAY - now

    def take(self, now: datetime) -> None:
        """Count one call."""
        self._turn(now)
        self.used += 1

    def _turn(self, now: datetime) -> None:
        if self.day != _midnight(now):
            self.day = _midnight(now)
            self.used = 0


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass
class Lane:
    """All windows a call of one kind and organisation has to pass together."""

    windows: Sequence[Window]
    count_rejected: bool = False

    def admit(self, now: datetime, *, factor: float = 1.0) -> timedelta:
        """Count the call and return zero, or return the wait and count nothing.

        With `count_rejected` a refused call uses the windows up as well, as some gateways do.
        """
        wait = max(
            (window.wait(now, factor=factor) for window in self.windows), default=timedelta()
        )
        if wait <= timedelta(0) or self.count_rejected:
            self.count(now)
        return wait

    def count(self, now: datetime) -> None:
        """Count one call without asking: used when a journal is read back."""
        for window in self.windows:
            window.take(now)
