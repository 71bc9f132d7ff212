"""Time and threads as ports, so that tests can let the one jump and do without the other.

Does not belong here: time zones of people.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Clock(ABC):
    """Where the factory reads the time and waits."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the time, aware, in UTC."""

    @abstractmethod
    async def sleep(self, duration: timedelta) -> None:
        """Wait at least *duration*; none or less returns at the next turn of the loop."""


class Offload(Protocol):
    """Runs a blocking call where it does not stop the loop."""

    def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Return *call*'s result, awaited."""
        ...
