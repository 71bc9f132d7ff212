"""Waiting for tickets, in virtual time.

Here: order, lateness, pauses, cancelling and parking of one or few pacers. Not here: fleets
(`test_simulation`) and what the store promises (`contracts`).
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import pairwise
from operator import length_hint
from time import monotonic
from typing import ParamSpec, TypeVar

import pytest

from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Parked, ParkReason, Paused, Ticket
from fireflyassets.limiter.simulation import CountingStore
from fireflyassets.limiter.virtual_time import START, Latency
from fireflyassets_tests.limiter.waves import ITEM, Wave, in_wave
from fireflyassets_tests.limiter.worlds import per_minute

P = ParamSpec("P")
R = TypeVar("R")


def test_waiters_are_served_in_order_when_due() -> None:
    """First come, first served, one paced interval apart, each at its ticket's due time."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        answers = await asyncio.gather(*(wave.take(pacer, name) for name in "abc"))
        assert wave.log == [("a", 0.0), ("b", 1.25), ("c", 2.5)]
        tickets = [answer for answer in answers if isinstance(answer, Ticket)]
        first = tickets[0].number
        assert [ticket.number for ticket in tickets] == [first, first + 1, first + 2]
        due = [(ticket.due_at - START).total_seconds() for ticket in tickets]
        assert due == [0.0, 1.25, 2.5]

    in_wave(story, per_minute(60))


def test_a_wave_that_ends_leaves_no_ticket_behind() -> None:
    """Of weight six, waves of one to twenty calls, one after the other, use the whole pace."""

    async def story(wave: Wave) -> None:
        calls = [1, 20, 5, 8, 13]
        for most in calls:
            pacer, jobs = wave.pacer(weight=6), iter(range(most))
            pacer.to_come = partial(length_hint, jobs)
            for _ in jobs:
                await wave.take(pacer, "a")
        assert [at for _, at in wave.log] == [1.25 * n for n in range(sum(calls))]

    in_wave(story, per_minute(60))


def test_waiters_that_nobody_foretold_share_a_block() -> None:
    """A block is no longer than the line of waiters where no more is known to come."""

    async def story(wave: Wave) -> None:
        wave.store = store = CountingStore()
        pacer, before = wave.pacer(weight=6), store.writes
        pacer.to_come = int
        await asyncio.gather(*(wave.take(pacer, name) for name in "abcd"))
        assert store.writes == before + 2  # One for who came alone, one for the rest.
        assert wave.limiter().state(ITEM).used_today == 4

    in_wave(story, per_minute(60))


def test_a_slow_store_costs_no_pace() -> None:
    """While tickets are further apart than a call takes, the store's latency is hidden."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        for _ in range(20):
            await wave.take(pacer, "a")
        times = [at for _, at in wave.log]
        assert times[-1] - times[0] == pytest.approx(19 * 1.25, abs=0.05)

    in_wave(story, per_minute(60), latency=0.08)


def test_nothing_is_reserved_without_a_waiter() -> None:
    """An idle wave holds no ticket: its share goes to the others."""

    async def story(wave: Wave) -> None:
        idle, busy = wave.pacer(weight=5), wave.pacer()
        await wave.take(idle, "idle")
        await asyncio.sleep(20)
        for _ in range(4):
            await wave.take(busy, "busy")
        times = [at for name, at in wave.log if name == "busy"]
        assert times[3] - times[0] == pytest.approx(3 * 1.25)

    in_wave(story, per_minute(60))


def test_blocks_share_by_weight() -> None:
    """A pacer of weight three gets three tickets in a row for the other's one."""

    async def story(wave: Wave) -> None:
        heavy, light = wave.pacer(weight=6, open_waves=2), wave.pacer(weight=1)

        async def work(pacer: Pacer, name: str) -> None:
            for _ in range(4):
                await wave.take(pacer, name)

        await asyncio.gather(work(heavy, "h"), work(light, "l"))
        assert "".join(name for name, _ in wave.log) == "hhhlhlll"

    in_wave(story, per_minute(60))


def test_a_block_costs_one_write() -> None:
    """Four tickets of a block are one write, and need no read at this pace."""

    async def story(wave: Wave) -> None:
        store = CountingStore()
        wave.store = store
        pacer = wave.pacer(weight=4)
        before = store.writes
        for _ in range(40):
            await wave.take(pacer, "a")
        assert store.writes - before == 10
        assert store.reads <= 2

    in_wave(story, per_minute(600))


def test_a_refusal_holds_all_processes_and_tickets() -> None:
    """After a 429 nobody calls before the service said so, and the rate is lower."""

    async def story(wave: Wave) -> None:
        one, two = wave.pacer(weight=3), wave.pacer(weight=3)
        await asyncio.gather(wave.take(one, "one"), wave.take(two, "two"))
        paused = await one.refused(timedelta(seconds=30))
        asked_at = asyncio.get_running_loop().time()
        assert paused == Paused(
            START + timedelta(seconds=asked_at + 30), lowered=True, opened=False
        )
        await asyncio.gather(*(wave.take(each, "after") for each in (one, two) for _ in range(3)))
        times = [at for name, at in wave.log if name == "after"]
        assert times[0] >= asked_at + 30
        assert min(b - a for a, b in pairwise(times)) >= 1.25 / 0.85 - 0.01

    in_wave(story, per_minute(60))


def test_simultaneous_refusals_are_one_pause() -> None:
    """Ten refusals of one burst make one pause and one step down, and each is counted."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        answers = await asyncio.gather(*(pacer.refused(timedelta(seconds=9)) for _ in range(10)))
        assert sum(answer.lowered for answer in answers) == 1
        assert len({answer.until for answer in answers}) == 1
        state = wave.limiter().state(ITEM)
        assert (state.refused_today, state.rate_per_minute) == (10, pytest.approx(48 * 0.85))

    in_wave(story, per_minute(60), latency=0.01)


def test_a_sleeping_waiter_learns_of_a_pause_by_another_process() -> None:
    """A waiter with a ticket far ahead looks again just before it is due."""

    async def story(wave: Wave) -> None:
        pacer, other = wave.pacer(), wave.limiter()
        await wave.take(pacer, "first")
        waiting = asyncio.create_task(wave.take(pacer, "held"))
        await asyncio.sleep(10)
        other.pause(ITEM, timedelta(seconds=60))
        await waiting
        assert wave.log[1] == ("held", 70.0)

    in_wave(story, per_minute(4))


def test_a_waiter_follows_a_rising_rate() -> None:
    """When a lowered rate rises, waiting tickets come nearer and are not lost."""

    async def story(wave: Wave) -> None:
        pacer, other = wave.pacer(weight=30), wave.limiter()
        other.pause(ITEM, timedelta(seconds=1))
        for _ in range(6):
            await asyncio.sleep(6)
            other.pause(ITEM, timedelta(seconds=1))
        tickets = [await pacer.take() for _ in range(30)]
        numbers = [ticket.number for ticket in tickets if isinstance(ticket, Ticket)]
        assert numbers == list(range(numbers[0], numbers[0] + 30))

    in_wave(story, per_minute(60))


def test_a_cancelled_waiter_leaves_its_ticket() -> None:
    """The next waiter gets the ticket that the cancelled one was waiting for."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        first = await wave.take(pacer, "a")
        gone = asyncio.create_task(wave.take(pacer, "b"))
        await asyncio.sleep(0.5)
        gone.cancel()
        answer = await wave.take(pacer, "c")
        assert wave.log == [("a", 0.0), ("c", 1.25)]
        assert isinstance(first, Ticket)
        assert isinstance(answer, Ticket)
        assert answer.number == first.number + 1

    in_wave(story, per_minute(60))


def test_leftover_tickets_of_a_block_are_not_fired_late() -> None:
    """Tickets that nobody fetched in time are void; the next waiter gets a fresh one."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer(weight=3)
        first = await wave.take(pacer, "a")
        await asyncio.sleep(60.1)
        answer = await wave.take(pacer, "b")
        assert isinstance(first, Ticket)
        assert isinstance(answer, Ticket)
        assert answer.number > first.number + 2
        assert answer.due_at == START + timedelta(seconds=60.1)

    in_wave(story, per_minute(60))


def test_who_finds_the_line_full_waits_for_a_place() -> None:
    """It asks again when half of the line has gone; its waiters are served then, in order."""

    async def story(wave: Wave) -> None:
        crowd, pacer = wave.limiter(), wave.pacer()
        while not isinstance(crowd.reserve(ITEM, 1), Parked):
            pass
        await asyncio.gather(*(wave.take(pacer, name) for name in "abc"))
        assert wave.log == [("a", 225.0), ("b", 243.75), ("c", 262.5)]

    in_wave(story, per_minute(4))


def test_a_low_rate_parks_at_once() -> None:
    """When the next call is over five minutes away all are told when to return, without waiting."""

    async def story(wave: Wave) -> None:
        crowd, pacer = wave.limiter(), wave.pacer()
        crowd.override(ITEM, 0.1, duration=timedelta(hours=9), by="ops", why="a test")
        crowd.reserve(ITEM, 1)
        answers = await asyncio.gather(*(wave.take(pacer, name) for name in "abc"))
        assert {name for name, at in wave.log if at == 0.0} == set("abc")
        until = START + timedelta(minutes=10)
        assert answers == [Parked(until, ParkReason.OVERRIDDEN)] * 3

    in_wave(story, per_minute(4))


def test_a_ticket_that_a_pause_moved_far_away_parks() -> None:
    """A waiter does not sit through a pause of a quarter of an hour."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        await wave.take(pacer, "a")
        waiting = asyncio.create_task(wave.take(pacer, "b"))
        await asyncio.sleep(1)
        paused = await pacer.refused(timedelta(hours=2))
        assert paused.opened
        answer = await waiting
        assert answer == Parked(paused.until, ParkReason.BREAKER_OPEN)
        assert wave.log[1][1] < 19

    in_wave(story, per_minute(4))


def test_the_day_quota_parks_until_midnight() -> None:
    """When the day is used up the waiter learns when the next one starts."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        await wave.take(pacer, "a")
        answer = await wave.take(pacer, "b")
        assert answer == Parked(START + timedelta(hours=15), ParkReason.DAY_QUOTA)

    in_wave(story, per_minute(60, per_day=1))


def test_pacing_works_in_real_time() -> None:
    """With threads and the wall clock of the loop, ten tickets take nine intervals."""

    async def story() -> None:
        limiter = MemoryLimiter(now=lambda: START + timedelta(seconds=monotonic()))
        limiter.register(ITEM, per_minute(6000))
        pacer = Pacer(limiter, ITEM, now=lambda: START + timedelta(seconds=monotonic()), weight=5)
        for _ in range(10):
            assert isinstance(await pacer.take(), Ticket)

    began = monotonic()
    asyncio.run(story())
    assert monotonic() - began >= 9 * 0.0125


class Away(CountingStore):
    """A store that may be away; what it is asked then is counted all the same."""

    away = False

    def read(self, item: str) -> State | None:
        """Read, unless away."""
        state = super().read(item)
        if self.away:
            raise LimiterUnavailable(item, "ReadTimeoutError")
        return state

    def write(self, item: str, write: protocol.Write) -> Applied | Lost:
        """Write, unless away."""
        if self.away:
            self.writes += 1
            raise LimiterUnavailable(item, "ReadTimeoutError")
        return super().write(item, write)


def test_a_store_that_is_away_is_asked_once_in_ten_seconds() -> None:
    """A whole line of waiters fails at once; later the same pacer goes on by itself."""

    async def story(wave: Wave) -> None:
        store = Away()
        wave.store = store
        pacer = wave.pacer()
        await wave.take(pacer, "a")
        store.away, before = True, store.reads + store.writes
        outcomes = await asyncio.gather(
            *(wave.take(pacer, "b") for _ in range(40)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {LimiterUnavailable}
        assert asyncio.get_running_loop().time() < 1
        assert store.reads + store.writes - before == 1

        await asyncio.sleep(9)
        store.away = False
        with pytest.raises(LimiterUnavailable):
            await wave.take(pacer, "c")
        await asyncio.sleep(1.1)
        assert isinstance(await wave.take(pacer, "d"), Ticket)

    in_wave(story, per_minute(60), latency=0.02)


def test_no_step_of_the_clock_prolongs_the_silence() -> None:
    """After a clock set back by an hour in an outage the store is asked again in ten seconds."""

    async def story(wave: Wave) -> None:
        store, back = Away(), [timedelta(0)]
        limiter = MemoryLimiter(now=lambda: wave.clock.now() - back[0], store=store)
        limiter.register(ITEM, wave.limits)
        pacer = Pacer(limiter, ITEM, now=limiter.now, offload=Latency(lambda: 0.0))
        store.away = True
        with pytest.raises(LimiterUnavailable):
            await pacer.take()
        store.away, asked = False, store.reads + store.writes
        back[0] = timedelta(hours=1)
        await asyncio.sleep(10.1)

        await pacer.take()

        assert store.reads + store.writes > asked

    in_wave(story, per_minute(60))


def test_an_early_ticket_is_handed_out_before_its_time_and_judged_at_it() -> None:
    """Who needs half a second gets one for then, spaced as ever; after a pause it is no good."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        pacer.early = timedelta(seconds=0.5)
        first = await wave.take(pacer, "a")
        second = await wave.take(pacer, "b")
        assert isinstance(first, Ticket)
        assert isinstance(second, Ticket)
        assert second.due_at - first.due_at == timedelta(seconds=1.25)
        assert wave.log == [("a", 0.75), ("b", 2.0)]

        assert await pacer.fires(second)
        assert wave.clock.now() == second.due_at

        third = await pacer.take()
        await pacer.refused(timedelta(seconds=30))
        assert isinstance(third, Ticket)
        assert not await pacer.fires(third)

    in_wave(story, per_minute(60))


def test_a_waiter_whose_store_goes_away_does_not_call() -> None:
    """A ticket in hand is no right to call while nobody knows whether there is a pause."""

    async def story(wave: Wave) -> None:
        store = Away()
        wave.store = store
        pacer = wave.pacer(weight=4)
        await wave.take(pacer, "a")
        waiting = asyncio.create_task(wave.take(pacer, "b"))
        await asyncio.sleep(5)
        store.away = True
        with pytest.raises(LimiterUnavailable):
            await waiting
        assert wave.log == [("a", 0.0)]

    in_wave(story, per_minute(4))


def test_a_waiter_goes_on_when_an_override_ends() -> None:
    """Whoever waits under an operator's low rate wakes at its end, not at its gap's."""

    async def story(wave: Wave) -> None:
        pacer, operator = wave.pacer(), wave.limiter()
        operator.override(ITEM, 0.5, duration=timedelta(seconds=30), by="ada", why="a test")
        await wave.take(pacer, "a")
        await asyncio.gather(*(wave.take(pacer, name) for name in "bcd"))
        assert wave.log == [("a", 0.0), ("b", 30.0), ("c", 31.25), ("d", 32.5)]

    in_wave(story, per_minute(60))


def test_a_ticket_that_an_operator_moved_far_away_parks() -> None:
    """The reason is the operator's rate, and not the service."""

    async def story(wave: Wave) -> None:
        pacer, operator = wave.pacer(weight=3), wave.limiter()
        waiting = [asyncio.create_task(wave.take(pacer, name)) for name in "abc"]
        await asyncio.sleep(1)
        operator.override(ITEM, 0.1, duration=timedelta(hours=1), by="ada", why="a test")
        answers = await asyncio.gather(*waiting)
        reasons = [answer.reason for answer in answers if isinstance(answer, Parked)]
        assert reasons == [ParkReason.OVERRIDDEN]
        assert wave.log[-1][1] < 38

    in_wave(story, per_minute(4))


@pytest.mark.parametrize("latency", [0.1, 0.3, 0.5, 0.8])
def test_a_slow_store_costs_its_own_time_and_no_ticket_for_good(latency: float) -> None:
    """Tickets are asked for, and looked at, as much sooner as the store takes to answer."""

    async def story(wave: Wave) -> None:
        pacer, fired = wave.pacer(), 0
        for name in "abcdefgh":
            ticket = await wave.take(pacer, name)
            assert isinstance(ticket, Ticket)
            if await pacer.fires(ticket):
                fired += 1
                late = wave.clock.now() - ticket.due_at
                assert timedelta(0) <= late <= timedelta(seconds=0.1)

        assert fired >= 6
        assert wave.log[-1][1] <= 8 * (1.25 + 4 * latency)

    in_wave(story, per_minute(60), latency=latency)


@pytest.mark.parametrize("latency", [2.5, 4])
def test_a_store_too_slow_to_notice_a_pause_is_said_to_be_so(latency: float) -> None:
    """Nothing is handed out on what is known too late, and nobody waits for it without end."""

    async def story(wave: Wave) -> None:
        with pytest.raises(LimiterUnavailable, match="within a second"):
            await asyncio.wait_for(wave.take(wave.pacer(), "a"), 60)

    in_wave(story, per_minute(60), latency=latency)


def test_an_outage_that_a_cancelled_waiter_met_is_not_told_later() -> None:
    """Once the store is back nobody hears of the time it was away."""

    async def story(wave: Wave) -> None:
        away = True

        async def offload(call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
            await asyncio.sleep(0.1)
            if away:
                raise LimiterUnavailable(ITEM, "gone")
            return call(*args, **kwargs)

        pacer = Pacer(wave.limiter(), ITEM, now=wave.clock.now, offload=offload)
        waiter = asyncio.ensure_future(pacer.take())
        await asyncio.sleep(0.05)
        waiter.cancel()
        await asyncio.sleep(60)
        away = False

        assert isinstance(await pacer.take(), Ticket)

    in_wave(story, per_minute(60))
