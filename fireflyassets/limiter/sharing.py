"""How a fleet in virtual time divides the pace among tenants.

Here: tenants of unequal appetite and weight, crowds that want more than the line holds, and what
each got. Not here: the fleet itself (`simulation`).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile
from operator import length_hint
from random import Random

from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.simulation import Fleet, limits_of, run_for
from fireflyassets.limiter.virtual_time import run

ENDLESS = 10**9


@dataclass(frozen=True, slots=True)
class Sharing:
    """When each tenant was done, in seconds, and how unequal the shares were.

    *shares*: calls per weight while every tenant had work; *worst_gap*: the longest time a tenant
    with work went unserved, over the time of one round.
    """

    done: Mapping[str, float]
    shares: Mapping[str, float]
    worst_gap: float


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer with *jobs* calls to make, from *arrives* on, in *waves* side by side."""

    name: str
    jobs: int
    weight: int = 1
    arrives: float = 0.0
    waves: int = 1


def share(tenants: Sequence[Tenant], *, rate_per_minute: int, seed: int = 1) -> Sharing:
    """Let *tenants* work off their jobs, one pacer for each wave, until all are done."""
    return run(lambda: _share(tenants, rate_per_minute, seed))


async def _share(tenants: Sequence[Tenant], rate_per_minute: int, seed: int) -> Sharing:
    fleet = Fleet(limits_of(rate_per_minute), Random(seed))  # noqa: S311 - repeatable, no secret.
    loop = asyncio.get_running_loop()
    served: dict[str, list[float]] = {tenant.name: [] for tenant in tenants}

    async def wave(tenant: Tenant, place: int, jobs: Iterator[int]) -> None:
        pacer = fleet.pacer(
            weight=tenant.weight, tenant=tenant.name, open_waves=tenant.waves, place=place
        )
        pacer.to_come = partial(length_hint, jobs)
        for _ in jobs:
            await fleet.ticket(pacer)
            served[tenant.name].append(loop.time())

    async def work(tenant: Tenant) -> None:
        await asyncio.sleep(tenant.arrives)
        jobs = iter(range(tenant.jobs))
        await asyncio.gather(*(wave(tenant, place, jobs) for place in range(tenant.waves)))

    await asyncio.gather(*(work(tenant) for tenant in tenants))
    return _shares(tenants, served, paced_interval(fleet.limits) / SECOND_US)


def _shares(
    tenants: Sequence[Tenant], served: Mapping[str, Sequence[float]], interval: float
) -> Sharing:
    start = max(tenant.arrives for tenant in tenants)
    end = min(times[-1] for times in served.values())
    round_time = interval * sum(tenant.weight for tenant in tenants)
    counts = {
        tenant.name: sum(1 for at in served[tenant.name] if start <= at <= end) / tenant.weight
        for tenant in tenants
    }
    gaps = (after - before for times in served.values() for before, after in pairwise(times))
    return Sharing(
        done={tenant.name: served[tenant.name][-1] - tenant.arrives for tenant in tenants},
        shares=counts,
        worst_gap=max(gaps, default=0.0) / round_time,
    )


@dataclass(frozen=True, slots=True)
class Division:
    """How a crowd that always wants more was served.

    *shares*: calls in the second half of the time, over what each weight ought to have had of them;
    *worst_gap*: the longest time between two calls of one, over the time of one round.
    """

    shares: Sequence[float]
    use: float
    worst_gap: float
    writes_per_grant: float


def divide(
    weights: Sequence[int],
    *,
    rate_per_minute: int,
    rounds: int,
    staying: int | None = None,
    open_waves: Sequence[int] = (),
    short: Sequence[int] = (),
    pause: float = 0.0,
) -> Division:
    """Let pacers of *weights* take all they can get; at half-time all but *staying* leave.

    *open_waves* says of each by how many its tenant's weight is shared: one, if it is not given;
    so many in a row are one tenant's.
    *short* says of the first how many calls each of their waves has, *pause* seconds apart; all
    others have one wave for the whole time.
    """

    async def main() -> Division:
        fleet = Fleet(limits_of(rate_per_minute), Random(1))  # noqa: S311 - repeatable, no secret.
        crowd = _Crowd(fleet, weights, open_waves or [1] * len(weights), short, pause)
        return await crowd.divide(rounds, staying or len(weights))

    return run(main)


class _Crowd:
    def __init__(
        self,
        fleet: Fleet,
        weights: Sequence[int],
        open_waves: Sequence[int],
        short: Sequence[int],
        pause: float,
    ) -> None:
        self._fleet = fleet
        self._weights = weights
        self._open_waves = open_waves
        self._short = short
        self._pause = pause
        self._served: list[list[float]] = [[] for _ in weights]

    async def divide(self, rounds: int, staying: int) -> Division:
        interval = paced_interval(self._fleet.limits) / SECOND_US
        one_round = interval * sum(self._weights)
        half = rounds * one_round / 2
        ends = [2 * half if n < staying else half for n in range(len(self._weights))]
        await run_for(2 * half, [self._work(n, until) for n, until in enumerate(ends)])
        late = [sum(1 for at in times if at > half) for times in self._served]
        ideal = half / interval / sum(self._weights[:staying])
        gaps = [max((b - a for a, b in pairwise(each)), default=2 * half) for each in self._served]
        calls = sum(map(len, self._served))
        return Division(
            shares=[n / (ideal * weight) for n, weight in zip(late, self._weights, strict=True)],
            use=calls * interval / half / 2,
            worst_gap=max(gaps) / one_round,
            writes_per_grant=self._fleet.store.writes / calls,
        )

    async def _work(self, number: int, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            pacer = self._pacer(number)
            jobs = iter(range(self._short[number] if number < len(self._short) else ENDLESS))
            pacer.to_come = partial(length_hint, jobs)
            for _ in takewhile(lambda _: loop.time() < until, jobs):
                await self._fleet.ticket(pacer)
                self._served[number].append(loop.time())
            await asyncio.sleep(self._pause)

    def _pacer(self, number: int) -> Pacer:
        waves = self._open_waves[number]
        weight, tenant = self._weights[number], f"tenant-{number // waves}"
        return self._fleet.pacer(tenant=tenant, weight=weight, open_waves=waves)
