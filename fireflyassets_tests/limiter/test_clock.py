"""Clocks that drift, jump and stand still, against a store that tells the time once a second.

Here: the bound of the measured offset, and what a limiter does while its clock can't be trusted.
Not here: a real store's answers (`fireflyassets_tests/adapters/test_limiters.py`).
"""

import logging
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.clock import SteadyClock
from fireflyassets.limiter.date_clock import CALLS, DateClock
from fireflyassets.limiter.errors import ClockUnsure, LimiterUnavailable
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.port import Due, Granted, Stale, Ticket, Voided, Waiting
from fireflyassets_tests.limiter.worlds import NOON, per_minute

ITEM = "organisation#firefly"
LIMIT = timedelta(milliseconds=50)


@dataclass
class Host:
    """A machine and a store some way off; *true* is the store's time, in seconds after noon."""

    wall_ahead: float = 0.0
    trip: float = 0.005
    jitter: float = 0.0
    drift: float = 0.0
    asleep: float = 0.0
    true: float = 0.3
    calls: int = 0
    stamps: bool = True
    seed: int = 7
    chance: random.Random = field(init=False)
    clock: DateClock = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - repeatable, no secret.
        self.clock = DateClock(
            wall=self.wall, monotonic=self.monotonic, sleep=self.sleep, probe=self.probe
        )

    def wall(self) -> datetime:
        """Return what the wall clock says."""
        return self.at(self.true + self.wall_ahead + self.drift * self.true)

    def at(self, seconds: float) -> datetime:
        """Return seconds of true time as an instant."""
        return NOON + timedelta(seconds=seconds)

    def monotonic(self) -> float:
        """Return the monotonic hand: it started at any time, and stands while asleep."""
        return 12_345.678 + self.true * (1 + self.drift) - self.asleep

    def sleep(self, seconds: float) -> None:
        """Wait; a busy machine wakes late."""
        self.true += seconds + self.chance.uniform(0, self.jitter)

    def nap(self, seconds: float) -> None:
        """Let the machine stand still: only its wall clock knows afterwards."""
        self.true += seconds
        self.asleep += seconds

    def probe(self) -> None:
        """Ask the store once."""
        self.calls += 1
        sent = self.monotonic()
        self.sleep(self.trip * self.chance.uniform(0.3, 0.7))
        stamp = self.at(self.true).replace(microsecond=0)
        self.sleep(self.trip * self.chance.uniform(0.3, 0.7))
        if self.stamps:
            self.clock.observe(sent, self.monotonic(), stamp)

    @property
    def error(self) -> timedelta:
        """How far off the clock is."""
        return abs(self.clock.now() - self.at(self.true))


@settings(max_examples=300, deadline=None)
@given(
    ahead=st.floats(-5, 5),
    begins=st.floats(0, 60),
    trip=st.floats(0.0005, 0.008),
    seed=st.integers(0, 1000),
)
def test_ten_aimed_calls_find_the_stores_time(
    ahead: float, begins: float, trip: float, seed: int
) -> None:
    """Whatever the offset, ten calls of up to 8 ms bound it to 10 ms, and the bound is true."""
    host = Host(wall_ahead=ahead, true=begins, trip=trip, seed=seed)

    host.clock.settle()

    assert host.calls <= 10
    assert host.clock.bound is not None
    assert host.error <= host.clock.bound + timedelta(microseconds=10)
    assert host.clock.bound <= timedelta(milliseconds=10)
    assert abs(host.clock.offset + timedelta(seconds=ahead)) <= timedelta(milliseconds=11)


def test_settling_takes_seconds_once_and_then_nothing() -> None:
    """A call for each second or less at the start; a clock that is trusted asks nobody."""
    host = Host()
    began = host.true

    host.clock.settle()
    took, calls = host.true - began, host.calls
    host.clock.settle()

    assert took < 8
    assert host.calls == calls


def test_a_slow_store_is_good_enough_within_the_bound() -> None:
    """With 80 ms a call the bound is over 10 ms and under 50: that will do."""
    host = Host(trip=0.08, jitter=0.004)

    host.clock.settle()

    assert host.clock.trusted()
    assert host.error <= LIMIT


def test_above_the_bound_it_refuses_to_start() -> None:
    """With 400 ms a call nobody knows the time: no ticket is handed out, and the error says why."""
    host = Host(trip=0.4)
    limiter = MemoryLimiter(now=host.clock.now, watch=host.clock)

    with pytest.raises(ClockUnsure, match=r"sure to \d+ ms; 50 ms are needed"):
        limiter.register(ITEM, per_minute(60))
    with pytest.raises(LimiterUnavailable):
        limiter.reserve(ITEM, 1)
    assert host.calls == 2 * CALLS


def test_a_wider_bound_can_be_allowed() -> None:
    """A setting may say otherwise."""
    host = Host(trip=0.4)
    host.clock = DateClock(
        wall=host.wall,
        monotonic=host.monotonic,
        sleep=host.sleep,
        probe=host.probe,
        bound=timedelta(milliseconds=250),
    )

    host.clock.settle()

    assert host.error <= timedelta(milliseconds=250)


def test_answers_without_a_date_are_told() -> None:
    """A store that stamps nothing is named as such."""
    host = Host(stamps=False)

    with pytest.raises(ClockUnsure, match="carry no Date"):
        host.clock.settle()


def test_before_anything_is_known_it_is_the_machines_time() -> None:
    """Somebody may ask for the time before the first call."""
    host = Host(wall_ahead=2.5)

    assert host.clock.now() == host.wall()
    assert host.clock.bound is None
    assert not host.clock.trusted()


@pytest.mark.parametrize("seed", range(5))
def test_ordinary_calls_keep_it_sure(seed: int) -> None:
    """A process that calls once a second stays within the bound for hours without aiming again."""
    host = Host(wall_ahead=0.7, drift=3e-5, seed=seed)
    host.clock.settle()
    aimed = host.calls

    for _ in range(7200):
        host.sleep(host.chance.uniform(0.8, 1.3))
        assert host.clock.trusted()
        assert host.error <= LIMIT
        host.probe()

    assert host.calls == aimed + 7200


def test_a_clock_that_nobody_checks_loses_trust() -> None:
    """Without a call for half an hour the drift may be too much: a few aimed calls mend it."""
    host = Host(drift=4e-5)
    host.clock.settle()
    host.true += 1800

    assert not host.clock.trusted()
    before = host.calls
    host.clock.settle()
    assert host.calls - before <= 6
    assert host.error <= timedelta(milliseconds=10)


def test_hosts_of_one_service_may_differ_a_little() -> None:
    """Answers that contradict each other by some milliseconds widen the bound and start nothing."""
    host = Host()
    host.clock.settle()
    aimed = host.calls

    for n in range(2000):
        host.sleep(0.5 + host.chance.uniform(0, 0.2))
        skew = (n % 3 - 1) * 0.006
        sent = host.monotonic()
        host.sleep(0.004)
        stamp = host.at(host.true + skew).replace(microsecond=0)
        host.clock.observe(sent, host.monotonic(), stamp)
        assert host.clock.trusted()

    assert host.calls == aimed
    assert host.error <= timedelta(milliseconds=20)


def limiter_on(host: Host, *, rate: int = 60) -> MemoryLimiter:
    """Return the limiter of a process on *host*, its clock settled."""
    limiter = MemoryLimiter(now=host.clock.now, watch=host.clock, store=MemoryStore())
    limiter.register(ITEM, per_minute(rate))
    return limiter


def tickets(limiter: MemoryLimiter, count: int) -> tuple[Ticket, ...]:
    """Take tickets that must be there."""
    answer = limiter.reserve(ITEM, count)
    assert isinstance(answer, Granted)
    return answer.tickets


@pytest.mark.parametrize("step", [-3600, -2, -0.2, 0.2, 2, 3600])
def test_a_step_of_the_wall_clock_fires_nothing_early(
    step: float, caplog: pytest.LogCaptureFixture
) -> None:
    """After a step, forward or back, the ticket is held, the time measured anew, and it fires."""
    host = Host()
    limiter = limiter_on(host)
    ticket = tickets(limiter, 20)[-1]
    due = (ticket.due_at - NOON) / timedelta(seconds=1)

    host.wall_ahead += step
    at_once = limiter.check(ticket)
    with caplog.at_level(logging.WARNING, "fireflyassets.limiter"):
        limiter.refresh(ITEM)
    then = limiter.check(ticket)
    host.sleep(due - host.true)
    limiter.refresh(ITEM)

    assert at_once == Stale()
    assert isinstance(then, Waiting)
    assert then.ticket.due_at == ticket.due_at
    host.sleep(0.011)
    assert isinstance(limiter.check(ticket), Due)
    assert f"moved by {step:+.3f} s" in caplog.text


def test_a_machine_that_stood_still_fires_nothing_late() -> None:
    """After a nap the monotonic hand lies: tickets whose time passed meanwhile are void."""
    host = Host()
    limiter = limiter_on(host)
    early, late = tickets(limiter, 8)[-2:]
    host.sleep(3)
    limiter.refresh(ITEM)

    host.nap(5.25)
    at_once = limiter.check(early)
    limiter.refresh(ITEM)

    assert at_once == Stale()
    assert host.error <= timedelta(milliseconds=10)
    assert isinstance(limiter.check(early), Voided)
    assert isinstance(limiter.check(late), Voided)


def test_nothing_fires_while_the_time_is_unknown() -> None:
    """A step while the store is away holds every ticket; the trouble reaches the caller."""
    host = Host()
    limiter = limiter_on(host)
    (ticket,) = tickets(limiter, 1)
    host.wall_ahead += 1
    host.stamps = False

    for _ in range(3):
        assert limiter.check(ticket) == Stale()
        with pytest.raises(ClockUnsure):
            limiter.refresh(ITEM)
        host.sleep(0.5)
    host.stamps = True
    limiter.refresh(ITEM)
    assert isinstance(limiter.check(ticket), Voided)


def test_a_plain_clock_is_carried_on_by_the_monotonic_hand() -> None:
    """Where the machine's own time is to be believed, a step still moves no ticket by itself."""
    host = Host()
    clock = SteadyClock(wall=host.wall, monotonic=host.monotonic)
    limiter = MemoryLimiter(now=clock.now, watch=clock)
    limiter.register(ITEM, per_minute(60))
    ticket = tickets(limiter, 3)[-1]

    host.wall_ahead += 2.5
    assert clock.now() == pytest.approx(host.at(host.true), abs=timedelta(microseconds=2))
    assert limiter.check(ticket) == Stale()
    limiter.refresh(ITEM)

    assert clock.now() == pytest.approx(host.wall(), abs=timedelta(microseconds=2))
    assert isinstance(limiter.check(ticket), Due)


def test_small_steps_are_noticed_once_they_add_up() -> None:
    """A clock that is nudged again and again can't walk away unseen."""
    host = Host()
    clock = SteadyClock(wall=host.wall, monotonic=host.monotonic)

    trusted: list[bool] = []
    for _ in range(6):
        host.wall_ahead += 0.005
        trusted.append(clock.trusted())

    assert trusted == [True, True, True, True, True, False]


def test_being_preempted_is_no_step() -> None:
    """A thread that loses the processor between two hands reads them again."""
    host, delays = Host(), iter([0.0, 0.3, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def preempted() -> float:
        host.true += next(delays, 0.0)
        return host.monotonic()

    clock = SteadyClock(wall=host.wall, monotonic=preempted)

    assert clock.trusted()
