"""A clock that tests move. Here: jumping instead of waiting. Not here: real time."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from fireflyassets.ports.clock import Clock

NOON: Final = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)


class FakeClock(Clock):
    """Stands still, and jumps when told or when somebody sleeps.

    Several sleepers jump one after the other: an hour slept by two tasks takes two hours.
    """

    def __init__(self, at: datetime = NOON) -> None:
        self._at = at

    def now(self) -> datetime:
        """Return the time it stands at."""
        return self._at

    async def sleep(self, duration: timedelta) -> None:
        """Jump instead of waiting; the loop gets its turn."""
        self.jump(duration)
        await asyncio.sleep(0)

    def jump(self, duration: timedelta) -> None:
        """Move on, never back."""
        self._at += max(duration, timedelta(0))
