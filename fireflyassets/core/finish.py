"""When work is expected to be done: paces, day quotas, whose turn it is, and what calls take.

Belongs here: the one projection behind a plan, admission, a campaign's finish and "why does it
wait?". Does not: reading what it rests on (``stages/outlook.py``).

Tickets of an organisation's API family go round by weight, so that while mine are served each
other tenant gets its weight's share, at most what it has waiting. How many calls are served before
my last one is thus known without a simulation; the pace and the day's quota say when that is.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.failure import Family
from fireflyassets.core.sums import Sums

Calls = Mapping[Family, float]
"""API family -> paid calls."""

FACTORS: Final = (1, 2, 5)
"""Of the limits, by which a plan tells when it would be done."""
RETRIES: Final = 1.1
"""What P90 counts each call as: one in ten is sent again."""
BEGINNING: Final = timedelta(seconds=15)
"""From a durable row to its first call where nothing is ahead: a tick of dispatch, and a run."""
FAR: Final = timedelta(days=36_500)
"""No date is told beyond it."""
_DAY: Final = timedelta(days=1)
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast an organisation's calls of one family may go, from now on."""

    per_minute: float
    """Just now: after refusals, or under an operator's word, less than in full."""
    full_per_minute: float
    slow_until: datetime | None = None
    """Until when it is as just now; None: it is in full."""
    blocked_until: datetime | None = None
    per_day: int | None = None
    """Calls of a day in UTC."""
    used_today: int = 0

    def times(self, factor: float) -> "Pace":
        """Return the pace under limits that are so many times as high."""
        return replace(
            self,
            per_minute=self.per_minute * factor,
            full_per_minute=self.full_per_minute * factor,
            per_day=None if self.per_day is None else int(self.per_day * factor),
        )

    def done_at(self, calls: float, now: datetime) -> datetime:
        """Return when so many calls are made, if nobody else makes any."""
        at, left = max(now, self.blocked_until or now), calls
        room = self._room(at, now)
        while True:
            rate = self.per_minute if self._is_slow(at) else self.full_per_minute
            midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
            end = min(midnight, self.slow_until or midnight) if self._is_slow(at) else midnight
            served = min(rate * ((end - at) / _MINUTE), room)
            if left <= served:
                return at + _MINUTE * (left / rate)
            left, room, at = left - served, room - served, end
            if at == midnight:
                room = float("inf") if self.per_day is None else self.per_day
                if not self._is_slow(at):
                    days, left = self._whole_days(left)
                    if days >= FAR.days:
                        return now + FAR
                    at += _DAY * days

    def _is_slow(self, at: datetime) -> bool:
        return self.slow_until is not None and at < self.slow_until

    def _room(self, at: datetime, now: datetime) -> float:
        if self.per_day is None:
            return float("inf")
        used = self.used_today if at.date() == now.date() else 0
        return max(0, self.per_day - used)

    def _whole_days(self, calls: float) -> tuple[int, float]:
        """Return how many days in full calls take, and what is left for the one after."""
        of_day = self.full_per_minute * (_DAY / _MINUTE)
        served = of_day if self.per_day is None else min(of_day, self.per_day)
        if calls >= served * FAR.days:
            return FAR.days, 0.0
        days = max(0, int(calls / served))
        if days and days * served >= calls:
            days -= 1  # A last day that is just full ends when its calls do, not at midnight.
        return days, calls - days * served


@dataclass(frozen=True, slots=True)
class Load:
    """What another tenant has waiting, and its share of the pace beside the others."""

    calls: Calls
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Remote:
    """How long one job's calls take at the vendor, one behind the other, without any waiting."""

    p50: timedelta
    p90: timedelta


@dataclass(frozen=True, slots=True)
class Traffic:
    """All that stands on an organisation's way at one moment, as one tenant meets it."""

    now: datetime
    paces: Mapping[Family, Pace]
    ahead: Calls
    """What the tenant itself has waiting before anything new."""
    beside: Sequence[Load]
    weight: int
    remote: Remote

    def times(self, factor: float) -> "Traffic":
        """Return the same under limits that are so many times as high."""
        return replace(self, paces={one: pace.times(factor) for one, pace in self.paces.items()})

    def with_ahead(self, calls: Calls) -> "Traffic":
        """Return the same with other work of the tenant before what is new."""
        return replace(self, ahead=calls)


@dataclass(frozen=True, slots=True)
class Finish:
    """When work is done: as likely sooner as later, and one time in ten later than the second."""

    p50: datetime
    p90: datetime
    held_by: Family
    """The API family that decides."""


def project(calls: Calls, traffic: Traffic) -> Finish:
    """Return when the last of *calls* is made and its job delivered."""
    begins, remote = traffic.now + BEGINNING, traffic.remote
    served = {one: _served(one, calls, traffic) for one in calls if calls[one] > 0}
    if not served:
        return Finish(begins + remote.p50, begins + remote.p90, Family.FIREFLY)

    def last(factor: float) -> tuple[datetime, Family]:
        return max(
            (traffic.paces[one].done_at(n * factor, begins), one) for one, n in served.items()
        )

    (likely, held_by), (late, _) = last(1.0), last(RETRIES)
    return Finish(likely + remote.p50, late + remote.p90, held_by)


def starts_at(traffic: Traffic, calls: Calls) -> datetime:
    """Return when the first of *calls* is likely made."""
    begins = traffic.now + BEGINNING
    first = (traffic.paces[one].done_at(_served(one, {}, traffic), begins) for one in calls)
    return max(first, default=begins)


def fits(many: int, calls_of: Sequence[Calls], traffic: Traffic, *, by: datetime) -> int:
    """Return how many of the first *many* jobs are likely done by then, by halving."""

    def done_at(jobs: int) -> datetime:
        return project(added(calls_of[:jobs]), traffic).p50

    return bisect_right(range(1, many + 1), by, key=done_at)


def added(calls: Iterable[Calls]) -> dict[Family, float]:
    """Return the sum of several jobs' calls."""
    total: dict[Family, float] = {}
    for one in calls:
        for family, count in one.items():
            total[family] = total.get(family, 0.0) + count
    return total


def _served(family: Family, calls: Calls, traffic: Traffic) -> float:
    """Return how many calls of all tenants are served up to the last of mine."""
    mine = traffic.ahead.get(family, 0.0) + calls.get(family, 0.0)
    others = (
        min(load.calls.get(family, 0.0), mine * load.weight / traffic.weight)
        for load in traffic.beside
    )
    return mine + sum(others)


@dataclass(frozen=True, slots=True)
class Expectation:
    """When a campaign's open jobs are expected to be done, or None, and why it is that."""

    at: datetime | None
    late_at: datetime | None
    """One time in ten it is later than this."""
    note: str


def expected(sums: Sums, each: Calls, traffic: Traffic) -> Expectation:
    """Return when a campaign's open jobs will be done, each of so many calls."""
    if not sums.going:
        why = f"its {sums.open} open jobs are held" if sums.open else "it has no open job"
        return Expectation(None, None, f"No finish is expected: {why}.")
    finish = project({one: n * sums.going for one, n in each.items()}, traffic)
    due = sums.due_at or traffic.now
    pace = traffic.paces[finish.held_by]
    rate = pace.per_minute if pace.slow_until else pace.full_per_minute
    others = ", others have their share" if any_calls(traffic.beside) else ""
    note = (
        f"{sums.going} open jobs; {finish.held_by} calls decide, at {rate:.3g} a minute"
        f"{others}{_of_day(pace)}."
    )
    return Expectation(_minute(max(finish.p50, due)), _minute(max(finish.p90, due)), note)


def any_calls(loads: Iterable[Load]) -> bool:
    """Say whether anybody else has anything waiting."""
    return any(count for load in loads for count in load.calls.values())


def _of_day(pace: Pace) -> str:
    return "" if pace.per_day is None else f" and {pace.per_day} a day"


def _minute(at: datetime) -> datetime:
    """Return an instant to the minute: the answer would else differ each time it is asked for."""
    return at.replace(second=0, microsecond=0) + _MINUTE
