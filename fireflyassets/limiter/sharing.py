"""How a fleet in virtual time divides the pace among tenants.

Here: tenants of unequal appetite and weight, crowds that want more than the line holds, and what
each got. Not here: the fleet itself (`simulation`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.simulation import Fleet, limits_of, run_for
from fireflyassets.limiter.virtual_time import run


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
    """A customer with *jobs* calls to make, from *arrives* on."""

    name: str
    jobs: int
    weight: int = 1
    arrives: float = 0.0


def share(tenants: Sequence[Tenant], *, rate_per_minute: int, seed: int = 1) -> Sharing:
    """Let *tenants* work off their jobs through one pacer each, until all are done."""
    return run(lambda: _share(tenants, rate_per_minute, seed))


async def _share(tenants: Sequence[Tenant], rate_per_minute: int, seed: int) -> Sharing:
    fleet = Fleet(limits_of(rate_per_minute), Random(seed))  # noqa: S311 - repeatable, no secret.
    loop = asyncio.get_running_loop()
    served: dict[str, list[float]] = {tenant.name: [] for tenant in tenants}

    async def work(tenant: Tenant) -> None:
        await asyncio.sleep(tenant.arrives)
        pacer = fleet.pacer(weight=tenant.weight)
        for _ in range(tenant.jobs):
            await fleet.ticket(pacer)
            served[tenant.name].append(loop.time())

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
    seed: int = 1,
) -> Division:
    """Let pacers of *weights* take all they can get; at half-time all but *staying* leave."""
    return run(lambda: _divide(weights, rate_per_minute, rounds, staying or len(weights), seed))


async def _divide(
    weights: Sequence[int], rate_per_minute: int, rounds: int, staying: int, seed: int
) -> Division:
    fleet = Fleet(limits_of(rate_per_minute), Random(seed))  # noqa: S311 - repeatable, no secret.
    loop = asyncio.get_running_loop()
    interval = paced_interval(fleet.limits) / SECOND_US
    span = rounds * sum(weights) * interval
    served: list[list[float]] = [[] for _ in weights]

    async def work(number: int) -> None:
        pacer = fleet.pacer(weight=weights[number])
        while number < staying or loop.time() < span / 2:
            await fleet.ticket(pacer)
            served[number].append(loop.time())

    await run_for(span, [work(number) for number in range(len(weights))])
    late = [sum(1 for at in times if at > span / 2) for times in served]
    ideal = span / 2 / interval / sum(weights[:staying])
    gaps = [max((b - a for a, b in pairwise(times)), default=span) for times in served]
    calls = sum(map(len, served))
    return Division(
        shares=[count / (ideal * weight) for count, weight in zip(late, weights, strict=True)],
        use=calls * interval / span,
        worst_gap=max(gaps) / interval / sum(weights),
        writes_per_grant=fleet.store.writes / calls,
    )
