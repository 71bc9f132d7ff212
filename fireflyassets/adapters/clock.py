"""The machine's clock. Here: real time and real waiting. Not here: clocks of tests."""

import asyncio
from datetime import UTC, datetime, timedelta

from fireflyassets.ports.clock import Clock


class SystemClock(Clock):
    """Time as the operating system has it."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one place where the factory reads the time.

    async def sleep(self, duration: timedelta) -> None:
        """Wait at least *duration*; none or less returns at the next turn of the loop."""
        await asyncio.sleep(max(0.0, duration.total_seconds()))
