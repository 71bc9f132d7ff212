"""A service that halves its limit for ten minutes, in virtual time.

Here: services that count calls in three ways, a fleet that keeps calling them, and what was
refused, used and given up. Not here: calm weather (`simulation`).
"""

import asyncio
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from random import Random

from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.simulation import MINUTE, Fleet, limits_of, run_for
from fireflyassets.limiter.virtual_time import run

HALVED_FROM, HALVED_UNTIL, END = 5 * MINUTE, 15 * MINUTE, 25 * MINUTE
SERVICE_SECONDS = 0.3
GIVE_UP_AFTER = 5


class Service(ABC):
    """Answers a call with None, or with the seconds after which to try again."""

    def __init__(self, limit_per_minute: int) -> None:
        self._limit = limit_per_minute

    def limit(self, at: float) -> float:
        """Return the calls per minute that are allowed at *at*."""
        return self._limit / 2 if HALVED_FROM <= at < HALVED_UNTIL else self._limit

    @abstractmethod
    def arrive(self, at: float) -> float | None:
        """Accept the call that arrives *at*, or say when to come back."""


class SlidingMinute(Service):
    """At most the limit in any 60 s."""

    def __init__(self, limit_per_minute: int) -> None:
        super().__init__(limit_per_minute)
        self._accepted: list[float] = []

    def arrive(self, at: float) -> float | None:
        """Accept, or name the time when the oldest call leaves the window."""
        recent = len(self._accepted) - bisect_right(self._accepted, at - MINUTE)
        if recent < self.limit(at):
            self._accepted.append(at)
            return None
        leaves = self._accepted[-int(self.limit(at))] + MINUTE
        return max(1.0, ceil(leaves - at))


class FixedMinute(Service):
    """At most the limit in each minute of the clock."""

    def __init__(self, limit_per_minute: int) -> None:
        super().__init__(limit_per_minute)
        self._minute = (-1, 0)

    def arrive(self, at: float) -> float | None:
        """Accept, or name the start of the next minute."""
        minute = int(at // MINUTE)
        count = self._minute[1] if self._minute[0] == minute else 0
        if count < self.limit(at):
            self._minute = (minute, count + 1)
            return None
        return max(1.0, ceil((minute + 1) * MINUTE - at))


class TokenBucket(Service):
    """The limit as a steady rate, with one second's worth of burst."""

    def __init__(self, limit_per_minute: int) -> None:
        super().__init__(limit_per_minute)
        self._tokens, self._at = limit_per_minute / MINUTE, 0.0

    def arrive(self, at: float) -> float | None:
        """Accept, or ask for a second."""
        rate = self.limit(at) / MINUTE
        self._tokens = min(max(1.0, rate), self._tokens + (at - self._at) * rate)
        self._at = at
        if self._tokens < 1:
            return 1.0
        self._tokens -= 1
        return None


@dataclass(frozen=True, slots=True)
class Storm:
    """What a storm cost; shares are of calls, uses of what the service allowed or we pace.

    *refused_share*: calls answered 429. *use_inside*: accepted calls against the halved limit while
    it held; *use_outside*: against the paced rate before and after. *dropped*: jobs that were
    refused five times.
    """

    calls: int
    refused: int
    refused_share: float
    use_inside: float
    use_outside: float
    dropped: int
    reads_per_call: float


@dataclass
class _Log:
    accepted: list[float] = field(default_factory=list[float])
    refused: int = 0
    dropped: int = 0


def storm(
    service: Callable[[int], Service],
    *,
    rate_per_minute: int = 600,
    processes: int = 8,
    workers: int = 64,
    header: bool = True,
    seed: int = 1,
) -> Storm:
    """Let *workers* in *processes* waves call a *service* that halves its limit for a while."""

    async def main() -> Storm:
        fleet = Fleet(limits_of(rate_per_minute), Random(seed))  # noqa: S311 - repeatable.
        weather = _Weather(fleet, service(rate_per_minute), processes, header=header)
        return await weather.blow(workers)

    return run(main)


class _Weather:
    def __init__(self, fleet: Fleet, service: Service, processes: int, *, header: bool) -> None:
        self._fleet = fleet
        self._service = service
        self._header = header
        self._pacers = [fleet.pacer() for _ in range(processes)]
        self._log = _Log()
        self._loop = asyncio.get_running_loop()

    async def blow(self, workers: int) -> Storm:
        """Work until the end, and sum up."""
        await run_for(END, [self._work(n) for n in range(workers)])
        log, store = self._log, self._fleet.store
        inside = sum(1 for at in log.accepted if HALVED_FROM <= at < HALVED_UNTIL)
        allowed_inside = self._service.limit(HALVED_FROM) * (HALVED_UNTIL - HALVED_FROM) / MINUTE
        outside_seconds = END - (HALVED_UNTIL - HALVED_FROM)
        paced_outside = outside_seconds * SECOND_US / paced_interval(self._fleet.limits)
        calls = len(log.accepted) + log.refused
        return Storm(
            calls=calls,
            refused=log.refused,
            refused_share=log.refused / calls,
            use_inside=inside / allowed_inside,
            use_outside=(len(log.accepted) - inside) / paced_outside,
            dropped=log.dropped,
            reads_per_call=store.reads / calls,
        )

    async def _work(self, number: int) -> None:
        while True:
            for _ in range(GIVE_UP_AFTER):
                if await self._call(number):
                    break
            else:
                self._log.dropped += 1

    async def _call(self, number: int) -> bool:
        pacer = self._pacers[number % len(self._pacers)]
        await self._fleet.ticket(pacer)
        await self._fleet.network()
        at = self._loop.time()
        wait = self._service.arrive(at)
        if wait is None:
            self._log.accepted.append(at)
            await asyncio.sleep(SERVICE_SECONDS)
            await self._fleet.network()
            return True
        self._log.refused += 1
        await self._fleet.network()
        await pacer.refused(timedelta(seconds=wait) if self._header else None)
        return False
