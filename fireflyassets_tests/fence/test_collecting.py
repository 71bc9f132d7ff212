"""Collecting: a crowd in flight is asked for rarely, and an unwell service ever more rarely."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise
from random import Random
from statistics import NormalDist, fmean, median

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause, picture_charges
from fireflyassets.fence.call import Arrived, Lease, PaidCall, Rates
from fireflyassets.fence.collecting import Collector
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import AttemptState, Claim, History
from fireflyassets.ports.paid import (
    Done,
    Fetched,
    FetchFailed,
    NotAccepted,
    PaidService,
    Poll,
    PollFailed,
    Submission,
    Working,
)
from fireflyassets_tests.contracts.ledgers import job
from fireflyassets_tests.floor import INLINE, VirtualClock

HOUR = timedelta(hours=1)


@dataclass
class Remote(PaidService):
    """A service whose jobs are done at the second that their status URL names."""

    answers: Callable[[float], Poll | None] = lambda _: None
    """Seconds of the loop -> what is answered instead, if anything."""
    asked: list[float] = field(default_factory=list[float])

    family = Family.FIREFLY

    async def ready(self) -> NotAccepted | None:
        return None

    async def poll(self, status_url: str) -> Poll:
        now = asyncio.get_running_loop().time()
        self.asked.append(now)
        return self.answers(now) or (Done(()) if now >= float(status_url) else Working())

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        raise AssertionError(f"Nothing is fetched here, nor {url}.")


async def _never(_: str | None) -> Submission:
    raise AssertionError("The collector sends nothing.")


@dataclass
class Desk:
    """One collector, and jobs that are handed to it as they are accepted."""

    service: Remote = field(default_factory=Remote)
    clock: VirtualClock = field(default_factory=VirtualClock)

    def __post_init__(self) -> None:
        self.collector = Collector(MemoryLedger(), self.clock, INLINE)

    async def collect(self, key: str, seconds: float) -> Arrived:
        """Collect a job that was accepted just now and takes *seconds*."""
        row, now = job(key), self.clock.now()
        ends = asyncio.get_running_loop().time() + seconds
        call = PaidCall(
            row=row,
            step="art",
            service=self.service,
            rates=Rates(partial(picture_charges, Decimal(1), 1), "card"),
            claim=Claim(row.job_id, "acme", "w", 1),
            history=History({}, (), ()),
            learns="art",
            ready=self.service.ready,
            submit=_never,
            output_key=None,
            tries=5,
            timeout=HOUR,
            resubmits=0,
        )
        attempt = replace(
            call.attempt(1, Cause.FIRST_TRY, "ORG", now),
            state=AttemptState.ACCEPTED,
            vendor_id=key,
            status_url=str(ends),
        )
        arrived = await self.collector.collect(call, attempt, Lease(now + HOUR))
        assert isinstance(arrived, Arrived)
        return arrived


def test_a_crowd_is_asked_for_rarely_though_nothing_is_known_of_its_step() -> None:
    """1,150 jobs of a minute each, sent at once by a wave that knows nothing, take three polls."""
    jobs, usual, sigma = 1150, 60.0, 0.25
    strata = [NormalDist().inv_cdf((n + 0.5) / jobs) for n in range(jobs)]
    chance = Random(8)  # noqa: S311 - a reproducible draw.
    drawn = [usual * math.exp(sigma * one) for one in chance.sample(strata, jobs)]

    async def scenario() -> list[Arrived]:
        desk = Desk()

        async def one(n: int, seconds: float) -> Arrived:
            await asyncio.sleep(n / 50)
            return await desk.collect(f"job-{n}", seconds)

        return await asyncio.gather(*(one(n, seconds) for n, seconds in enumerate(drawn)))

    found = list(zip(run(scenario), drawn, strict=True))
    lags = [arrived.took.total_seconds() / seconds - 1 for arrived, seconds in found]
    assert fmean(arrived.polls for arrived, _ in found) <= 3.0
    assert median(lags) <= 0.12


def test_an_unwell_service_is_asked_ever_more_rarely() -> None:
    """Where questions fail without a time to wait, each waits twice as long, up to ten seconds."""
    busy = PollFailed(Fault(Family.FIREFLY, 429, "rate_limited"))
    desk = Desk(Remote(lambda now: busy if now < 100 else None))

    async def scenario() -> Arrived:
        return await desk.collect("one", 1.0)

    run(scenario)

    waits = [later - sooner for sooner, later in pairwise(desk.service.asked)]
    assert waits[:3] == [2, 4, 8]
    assert set(waits[3:]) == {10}
