"""Clocks that pacing can rely on: no step of the machine's clock moves a ticket.

Here: what a limiter asks of its clock, and a local clock that notices steps and standstills.
Not here: learning another machine's time (`date_clock`), and where the two hands come from.

A machine's wall clock may be stepped forward or back; its monotonic one may stand still while the
machine sleeps. Each alone lies without a sign. Together they show it: they drift apart.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Protocol

from fireflyassets.limiter.arithmetic import SECOND_US, instant, micros

_log = logging.getLogger("fireflyassets.limiter")

STEP_US = SECOND_US // 40  # Smaller steps cost less lateness than one busy event loop.
CLOSE_US = SECOND_US // 1000  # Two hands read further apart than this are read again.
READINGS = 5


class Watch(Protocol):
    """Says whether a clock can be relied on just now, and mends it."""

    def trusted(self) -> bool:
        """Answer at once."""
        ...

    def settle(self) -> None:
        """Return once it can be relied on; may take seconds.

        Raises:
            LimiterUnavailable: It can't be.
        """
        ...


class Hands:
    """The two hands of one machine's clock, read together, in microseconds."""

    def __init__(self, *, wall: Callable[[], datetime], monotonic: Callable[[], float]) -> None:
        self._wall = wall
        self._monotonic = monotonic

    def monotonic(self) -> int:
        """Return the monotonic hand alone."""
        return int(self._monotonic() * SECOND_US)

    def wall(self) -> int:
        """Return the wall hand alone."""
        return micros(self._wall())

    def apart(self) -> int:
        """Return wall less monotonic; constant but for steps, standstills and being preempted."""
        found: list[tuple[int, int]] = []
        for _ in range(READINGS):
            before = self.monotonic()
            wall = self.wall()
            after = self.monotonic()
            found.append((after - before, wall - (before + after) // 2))
            if after - before <= CLOSE_US:
                break
        return min(found)[1]


class SteadyClock:
    """The machine's own time, carried on by the monotonic hand.

    After a step or a standstill it is not trusted, until it is settled on what the wall says then.
    """

    def __init__(self, *, wall: Callable[[], datetime], monotonic: Callable[[], float]) -> None:
        self._hands = Hands(wall=wall, monotonic=monotonic)
        self._lock = Lock()
        self._apart = self._hands.apart()

    def now(self) -> datetime:
        """Return the time; between two settlings it neither jumps nor stands."""
        return instant(self._hands.monotonic() + self._apart)

    def trusted(self) -> bool:
        """Say whether the two hands still move together."""
        return abs(self._hands.apart() - self._apart) <= STEP_US

    def settle(self) -> None:
        """Believe the wall again."""
        with self._lock:
            apart = self._hands.apart()
            step = apart - self._apart
            self._apart = apart
        if abs(step) > STEP_US:
            _log.warning("The machine's clock was moved by %+.3f s.", step / SECOND_US)
