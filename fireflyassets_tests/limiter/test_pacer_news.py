"""Pacers whose waiters leave, or hear of something new, while they wait or ask.

Here: raised limits, cancelled waiters. Not here: order and pauses (`test_pacer`).
"""

import asyncio

from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Ticket
from fireflyassets.limiter.simulation import CountingStore
from fireflyassets_tests.limiter.waves import ITEM, Wave, in_wave
from fireflyassets_tests.limiter.worlds import per_minute


def test_a_raised_contract_reaches_those_who_wait() -> None:
    """Within a minute all who wait know the new pace, however far away their tickets were."""

    async def story(wave: Wave) -> None:
        pacers = [wave.pacer() for _ in range(12)]
        waiting = [asyncio.create_task(pacer.take()) for pacer in pacers]
        await asyncio.sleep(2)
        wave.limiter().register(ITEM, per_minute(600))
        await asyncio.gather(*waiting)
        assert asyncio.get_running_loop().time() < 2 + 60 + 12 * 0.125

    in_wave(story, per_minute(4))


def test_a_waiter_cancelled_while_it_asks_loses_nothing() -> None:
    """What the store gives to a waiter that is gone by then goes to the next one."""

    async def story(wave: Wave) -> None:
        pacer = wave.pacer(weight=4)
        for _ in range(20):
            waiter = asyncio.create_task(pacer.take())
            await asyncio.sleep(0.001)
            waiter.cancel()
            await asyncio.gather(waiter, return_exceptions=True)
        ticket = await pacer.take()
        assert isinstance(ticket, Ticket)
        assert wave.limiter().state(ITEM).used_today == 4

    in_wave(story, per_minute(600), latency=0.05)


def test_an_outage_that_nobody_waits_for_is_no_loose_end() -> None:
    """The waiter that asked is cancelled, and the store does not answer: the next one asks anew."""

    class Failing(CountingStore):
        def read(self, item: str) -> State | None:
            raise LimiterUnavailable(item, "gone")

        def write(self, item: str, write: protocol.Write) -> Applied | Lost:
            raise LimiterUnavailable(item, "gone")

    async def story(wave: Wave) -> None:
        pacer = wave.pacer()
        sound, wave_limiter = wave.store, pacer._limiter
        assert isinstance(wave_limiter, MemoryLimiter)
        wave_limiter._store = Failing()
        waiter = asyncio.create_task(pacer.take())
        await asyncio.sleep(0.01)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        await asyncio.sleep(1)
        wave_limiter._store = sound
        assert isinstance(await pacer.take(), Ticket)

    in_wave(story, per_minute(600), latency=0.05)
