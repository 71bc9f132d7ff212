"""The time of a store that says it once a second: the ``Date`` of its HTTP answers.

Here: the offset between a store's clock and ours, with a hard bound. Not here: where answers are
seen (the adapter's hook calls `DateClock.observe`), and what is done with the time.

An answer stamped ``D``, asked for at *sent* and here at *received* (our monotonic hand), says that
the store's clock less ours lies between ``D - received`` and ``D + 1 s - sent``. One answer alone
bounds it to half a second. Answers to calls that are aimed at the turn of a second halve that, one
by one, down to half a round trip; any other answer may narrow it by chance.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from fireflyassets.limiter.arithmetic import SECOND_US, ceil_div, instant, micros
from fireflyassets.limiter.clock import STEP_US, Hands
from fireflyassets.limiter.errors import ClockUnsure

_log = logging.getLogger("fireflyassets.limiter")

DEFAULT_BOUND = timedelta(milliseconds=50)
ENOUGH_US = SECOND_US // 100  # Aimed calls stop at a fifth of what is allowed, but not below.
CALLS = 12  # Ten halve a second to a millisecond; two more for slow answers.
DRIFT_DIVISOR = 20_000  # A quartz that nothing disciplines is off by up to 50 parts in a million.
JITTER_US = SECOND_US // 20  # Hosts behind one address differ by this much; more is a jump.


@dataclass(frozen=True, slots=True)
class Range:
    """The store's clock less our monotonic hand, between two bounds, as known *at*; µs."""

    least: int
    most: int
    at: int

    def by(self, at: int) -> "Range":
        """Return the range at a later time: clocks drift."""
        drift = max(0, at - self.at) // DRIFT_DIVISOR
        return Range(self.least - drift, self.most + drift, at)

    @property
    def middle(self) -> int:
        """The best guess; drift does not move it."""
        return (self.least + self.most) // 2

    @property
    def bound(self) -> int:
        """How far off the guess may be."""
        return ceil_div(self.most - self.least, 2)

    def narrowed(self, seen: "Range") -> "Range":
        """Return what both allow.

        Where they exclude each other by a little the range is stretched to meet the other, since
        a service has many hosts; by more, what was known before is void.
        """
        least, most = max(self.least, seen.least), min(self.most, seen.most)
        if least <= most:
            return Range(least, most, seen.at)
        if least - most > JITTER_US:
            return seen
        return Range(min(self.least, seen.most), max(self.most, seen.least), seen.at)


class DateClock:
    """The store's time, carried on by our monotonic hand: no step of our wall clock moves it.

    *probe* makes any call that the store answers and that is observed. Trusted while the bound is
    at most *bound* and both hands of our clock move together; else `settle` aims calls, about one
    each second and ten in all. Safe for threads.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], datetime],
        monotonic: Callable[[], float],
        sleep: Callable[[float], object],
        probe: Callable[[], object],
        bound: timedelta = DEFAULT_BOUND,
    ) -> None:
        self._hands = Hands(wall=wall, monotonic=monotonic)
        self._sleep = sleep
        self._probe = probe
        self._allowed = bound // timedelta(microseconds=1)
        self._enough = min(self._allowed, max(ENOUGH_US, self._allowed // 5))
        self._lock = Lock()
        self._measuring = Lock()
        self._apart = self._hands.apart()
        self._known: Range | None = None
        self._trip = SECOND_US

    def now(self) -> datetime:
        """Return the store's time as well as it is known; ours, before anything is."""
        known = self._known
        if known is None:
            return instant(self._hands.wall())
        return instant(self._hands.monotonic() + known.middle)

    @property
    def offset(self) -> timedelta:
        """The store's time less our wall clock's."""
        known = self._known
        apart = known.middle - self._hands.apart() if known else 0
        return timedelta(microseconds=apart)

    @property
    def bound(self) -> timedelta | None:
        """How far off `now` may be; None before the first answer."""
        known = self._known
        if known is None:
            return None
        return timedelta(microseconds=known.by(self._hands.monotonic()).bound)

    def observe(self, sent: float, received: float, date: datetime) -> None:
        """Learn from an answer; *sent* and *received* are readings of the monotonic hand."""
        start, end, stamp = int(sent * SECOND_US), int(received * SECOND_US), micros(date)
        seen = Range(stamp - end, stamp + SECOND_US - start, end)
        with self._lock:
            known = self._known
            self._known = seen if known is None else known.by(end).narrowed(seen)
            self._trip = min(self._trip, max(0, end - start))

    def trusted(self) -> bool:
        """Say whether `now` is within the bound and nothing has moved our clock."""
        return self._is_sure(self._allowed) and not self._step()

    def settle(self) -> None:
        """Measure until the bound is small enough.

        Raises:
            ClockUnsure: It does not become so, within a dozen calls.
            LimiterUnavailable: The probe could not be made.
        """
        with self._measuring:
            if self.trusted():
                return
            if step := self._step():
                _log.warning(
                    "The machine's clock was moved by %+.3f s; measuring the store's anew.",
                    step / SECOND_US,
                )
                self._forget()
            for _ in range(CALLS):
                if self._is_sure(self._enough):
                    break
                self._aim()
                self._probe()
            if not self.trusted():
                allowed = timedelta(microseconds=self._allowed)
                raise ClockUnsure(bound=self.bound, allowed=allowed)
            offset = self.offset.total_seconds()
            _log.info("The store's clock is %+.3f s from ours, %s.", offset, self.bound)

    def _is_sure(self, within: int) -> bool:
        known = self._known
        return known is not None and known.by(self._hands.monotonic()).bound <= within

    def _step(self) -> int:
        """Return by how much our hands have come apart; 0 if by too little to matter."""
        step = self._hands.apart() - self._apart
        return step if abs(step) > STEP_US else 0

    def _forget(self) -> None:
        """Start anew: which hand lied, and how it moved since, can't be told from here."""
        with self._lock:
            self._known = None
            self._apart = self._hands.apart()

    def _aim(self) -> None:
        """Wait until a call would be stamped at the turn of a second, by the best guess."""
        known = self._known
        if known is None:
            return
        there = self._hands.monotonic() + known.middle + self._trip // 2
        self._sleep((-there % SECOND_US) / SECOND_US)
