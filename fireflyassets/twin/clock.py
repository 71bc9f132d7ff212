"""Wall time for the twin.

Belongs here: the one place that reads the machine's clock. Limits, expiries and tokens run on
wall time whatever the speed setting says; only the drawn remote latency is shortened by it.
Does not belong here: any rule about how long something takes.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    async def sleep(self, duration: timedelta) -> None:
        """Wait for *duration*; zero or less only yields to other tasks."""
        ...


class WallClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this class is the clock the others take

    async def sleep(self, duration: timedelta) -> None:
        """Wait for *duration* on the event loop."""
        await asyncio.sleep(max(0.0, duration.total_seconds()))
