"""The limiter by itself: two tenants share 600 calls a minute; one weighs twice as much."""

import asyncio
import time
from datetime import date, datetime

from fireflyassets.limiter.arithmetic import instant
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter  # Or DynamoLimiter, RedisLimiter.
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Parked


def now() -> datetime:
    """Return the time."""
    return instant(time.time_ns() // 1000)


async def work(pacer: Pacer, name: str, calls: int) -> None:
    """Make some calls, each when its ticket is due."""
    for _ in range(calls):
        answer = await pacer.take()
        if isinstance(answer, Parked):
            print(f"{name} is parked until {answer.until}: {answer.reason}")
            return
        print(f"{answer.due_at:%S.%f} {name}")  # Call now; on a 429: await pacer.refused(…).


async def main() -> None:
    """Let both work at once."""
    limiter = MemoryLimiter(now=now)
    limiter.register("acme#search", Limits(600, source="our contract", as_of=date(2026, 1, 1)))
    heavy, light = (Pacer(limiter, "acme#search", now=now, weight=weight) for weight in (2, 1))
    await asyncio.gather(work(heavy, "heavy", 8), work(light, "light", 4))
    print(limiter.state("acme#search"))


asyncio.run(main())
