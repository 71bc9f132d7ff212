"""Time as a port, so that tests can let it jump. Does not belong here: time zones of people."""

from abc import ABC, abstractmethod
from datetime import datetime, timedelta


class Clock(ABC):
    """Where the factory reads the time and waits."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the time, aware, in UTC."""

    @abstractmethod
    async def sleep(self, duration: timedelta) -> None:
        """Wait at least *duration*; none or less returns at the next turn of the loop."""
