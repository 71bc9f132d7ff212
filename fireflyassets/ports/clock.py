"""Time and threads as ports, so that tests can let the one jump and do without the other.

Does not belong here: time zones of people.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where blocking calls run, apart: what fills one lane keeps nobody waiting in another."""

    leases: Offload
    """Heartbeats alone: late ones lose a wave that is well."""
    ledger: Offload
    """Ledger and limiter: rows, money and tickets."""
    transfers: Offload
    """Whole objects and their decoding."""
