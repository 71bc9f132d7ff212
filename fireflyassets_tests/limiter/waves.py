"""A wave's pacers over one store, in virtual time.

Here: the store, the clock and the log that tests of pacers share. Not here: promises.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TypeVar

from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Parked, Ticket
from fireflyassets.limiter.simulation import CountingStore
from fireflyassets.limiter.virtual_time import Latency, VirtualClock, run

R = TypeVar("R")
ITEM = "organisation#firefly"


@dataclass
class Wave:
    """One store, one clock, and a log of who got a ticket when (seconds after the start)."""

    limits: Limits
    latency: float = 0.0
    store: MemoryStore = field(default_factory=CountingStore)
    clock: VirtualClock = field(default_factory=VirtualClock)
    log: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def limiter(self) -> MemoryLimiter:
        """Return the limiter of another process."""
        limiter = MemoryLimiter(now=self.clock.now, store=self.store)
        limiter.register(ITEM, self.limits)
        return limiter

    def pacer(self, *, weight: int = 1, open_waves: int = 1) -> Pacer:
        """Return the pacer of another process."""
        return Pacer(
            self.limiter(),
            ITEM,
            weight=weight,
            open_waves=open_waves,
            now=self.clock.now,
            offload=Latency(lambda: self.latency),
        )

    async def take(self, pacer: Pacer, name: str) -> Ticket | Parked:
        """Take a ticket and log it."""
        answer = await pacer.take()
        self.log.append((name, round(asyncio.get_running_loop().time(), 3)))
        return answer


def in_wave(
    story: Callable[[Wave], Coroutine[None, None, R]], limits: Limits, *, latency: float = 0.0
) -> R:
    """Run a test's story in virtual time."""
    return run(lambda: story(Wave(limits, latency)))
