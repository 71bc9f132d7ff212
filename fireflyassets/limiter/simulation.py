"""The limiter in virtual time: does it use the whole pace and pass no limit.

Here: a fleet, saturated workers and what they measure. Not here: tenants who share (`sharing`), a
service that refuses (`storm`) and real stores (the benchmark). Every process has its own limiter,
with its own picture of the one store; each store operation takes 3 to 20 ms.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from random import Random
from statistics import median
from typing import ParamSpec, TypeVar

from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import SECOND_US, State, open_ticket_limit, paced_interval
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Parked, Ticket
from fireflyassets.limiter.virtual_time import VirtualClock, run

P = ParamSpec("P")
R = TypeVar("R")
ITEM = "organisation#firefly"
FASTEST_STORE, SLOWEST_STORE = 0.003, 0.020
FASTEST_NETWORK, SLOWEST_NETWORK = 0.005, 0.030
MINUTE = 60.0


class CountingStore(MemoryStore):
    """A store that counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.writes = 0

    def read(self, item: str) -> State | None:
        """Return the stored state of *item*."""
        self.reads += 1
        return super().read(item)

    def write(self, item: str, write: protocol.Write) -> Applied | Lost:
        """Apply *write* if its condition holds."""
        self.writes += 1
        return super().write(item, write)


@dataclass
class Fleet:
    """Processes over one store; make it inside a virtual loop."""

    limits: Limits
    chance: Random
    store: CountingStore = field(default_factory=CountingStore)
    clock: VirtualClock = field(default_factory=VirtualClock)

    def pacer(
        self, *, weight: int = 1, tenant: str = "", open_waves: int = 1, place: int = 0
    ) -> Pacer:
        """Start a process with one pacer."""
        limiter = MemoryLimiter(now=self.clock.now, store=self.store)
        limiter.register(ITEM, self.limits)
        pacer = Pacer(limiter, ITEM, weight=weight, now=self.clock.now, offload=self.offload)
        pacer.tenant, pacer.open_waves, pacer.place = tenant, open_waves, place
        return pacer

    async def offload(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make *call* half-way through the time that its store operations take."""
        delay = self.chance.uniform(FASTEST_STORE, SLOWEST_STORE)
        await asyncio.sleep(delay / 2)
        before = self.store.reads + self.store.writes
        answer = call(*args, **kwargs)
        operations = self.store.reads + self.store.writes - before
        await asyncio.sleep(delay * (operations - 0.5) if operations else 0.0)
        return answer

    async def network(self) -> None:
        """Let a request travel."""
        await asyncio.sleep(self.chance.uniform(FASTEST_NETWORK, SLOWEST_NETWORK))

    async def ticket(self, pacer: Pacer) -> Ticket:
        """Take a ticket, coming back whenever parked."""
        while True:
            match await pacer.take():
                case Parked(until):
                    await asyncio.sleep((until - self.clock.now()).total_seconds())
                case ticket:
                    return ticket


def limits_of(rate_per_minute: int) -> Limits:
    """Return limits of one window."""
    return Limits(rate_per_minute, source="simulation", as_of=date(2026, 1, 1))


@dataclass(frozen=True, slots=True)
class Saturation:
    """What saturated workers got; shares and ratios are 1 when perfect."""

    use: float
    writes_per_grant: float
    reads_per_grant: float
    over_minute: int
    over_second: int
    longest_to_median_wait: float


def saturate(*, rate_per_minute: int, workers: int, seed: int = 1) -> Saturation:
    """Let *workers* call without a pause; they belong to as many waves as the item allows.

    Store operations are counted from the third ticket of each worker on: before, processes race.
    Over-limit counts are arrivals that a service with a sliding window would refuse; its limit per
    second is taken as a sixtieth of the minute's, rounded up, and the network jitters.
    """
    return run(lambda: _saturate(rate_per_minute, workers, seed))


async def _saturate(rate_per_minute: int, workers: int, seed: int) -> Saturation:
    limits = limits_of(rate_per_minute)
    interval = paced_interval(limits) / SECOND_US
    rounds = max(240, 8 * workers)
    fleet = Fleet(limits, Random(seed))  # noqa: S311 - repeatable, no secret.
    waves = min(workers, open_ticket_limit(paced_interval(limits)))
    pacers = [fleet.pacer() for _ in range(waves)]
    fired: list[float] = []
    arrived: list[float] = []
    waits: list[float] = []
    started: list[tuple[int, int]] = []
    loop = asyncio.get_running_loop()

    async def call() -> None:
        await fleet.network()
        arrived.append(loop.time())

    async def work(pacer: Pacer) -> None:
        async with asyncio.TaskGroup() as calls:
            while True:
                asked_at = loop.time()
                await fleet.ticket(pacer)
                fired.append(loop.time())
                waits.append(loop.time() - asked_at)
                if len(fired) == 2 * workers:
                    started.append((fleet.store.writes, fleet.store.reads))
                calls.create_task(call())

    await run_for(rounds * interval, [work(pacers[n % waves]) for n in range(workers)])
    steady = waits[2 * workers :]
    [(writes, reads)] = started
    return Saturation(
        use=len(fired) / rounds,
        writes_per_grant=(fleet.store.writes - writes) / len(steady),
        reads_per_grant=(fleet.store.reads - reads) / len(steady),
        over_minute=refused(sorted(arrived), rate_per_minute, MINUTE),
        over_second=refused(sorted(arrived), -(-rate_per_minute // 60), 1.0),
        longest_to_median_wait=max(steady) / median(steady),
    )


async def run_for(seconds: float, work: Sequence[Awaitable[None]]) -> None:
    """Run endless *work* for some virtual *seconds*, then end it."""
    tasks = [asyncio.ensure_future(each) for each in work]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled():
            task.result()


def refused(arrived: Sequence[float], limit: int, window: float) -> int:
    """Count the arrivals that a sliding *window* refuses; refused ones do not count against it."""
    accepted: list[float] = []
    over = 0
    for at in arrived:
        if len(accepted) - bisect_right(accepted, at - window) >= limit:
            over += 1
        else:
            accepted.append(at)
    return over


def most_within(times: Sequence[float], window: float) -> int:
    """Return the most of the sorted *times* that any *window* holds."""
    return max((bisect_right(times, at + window) - n for n, at in enumerate(times)), default=0)
