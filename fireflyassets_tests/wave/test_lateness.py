"""A slow ledger and the pace: no crowd of calls after a hiccup, no standstill under a slow one."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from fireflyassets.core.failure import Family
from fireflyassets.limiter.port import Limits
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.clock import Lanes, P, T
from fireflyassets.ports.entries import AttemptState
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import INLINE, Floor, floor

JOBS = 100
QUICK = 0.005


def ten_a_second(_organisation: str, _family: Family) -> Limits:
    """Return limits of ten calls in a second."""
    return Limits(per_minute=600, source="test", as_of=date(2026, 1, 1))


async def sent_with(here: Floor, jobs: list[str], row: float, stall: float) -> list[float]:
    """Return when calls went out: each row takes *row* s, and none ends in a *stall* after 5 s."""
    loop = asyncio.get_running_loop()
    sent: list[float] = []

    async def ledger(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if call.__name__ == "begin_attempt":
            now = loop.time()
            in_stall = 5 <= now < 5 + stall
            await here.clock.sleep(timedelta(seconds=5 + stall - now if in_stall else row))
        return call(*args, **kwargs)

    lanes = Lanes(leases=INLINE, ledger=ledger, transfers=INLINE)
    here.shop = replace(here.shop, limits=ten_a_second, lanes=lanes)
    here.images.vendor.watch = lambda: sent.append(loop.time())
    (wave,) = here.begin(jobs).waves
    await here.engine(wave).run()
    return sorted(sent)


@pytest.mark.parametrize(
    ("row", "stall"), [(QUICK, 0), (QUICK, 0.3), (QUICK, 1), (QUICK, 4.9), (0.15, 0), (0.6, 0)]
)
def test_no_second_sees_more_calls_than_the_limit(row: float, stall: float) -> None:
    """Tickets that a slow row made late are given back; the calls keep their distance."""

    async def scenario() -> None:
        here = floor()

        sent = await sent_with(here, here.order(JOBS), row, stall)

        assert max(bisect_right(sent, at + 1) - n for n, at in enumerate(sent)) <= 10
        assert len(sent) == JOBS
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("row", [QUICK, 0.15, 0.6])
def test_a_ledger_that_is_slow_and_even_costs_no_pace(row: float) -> None:
    """Tickets are taken as long before their time as a row takes, and all but the first used."""

    async def scenario() -> None:
        here = floor()

        jobs = here.order(JOBS)
        sent = await sent_with(here, jobs, row, 0)

        assert sent[-1] - sent[0] <= (JOBS + 8) * 0.125
        states = [attempt.state for job in jobs for attempt in here.ledger.history(job).attempts]
        # What either family had begun before its first row was there.
        assert states.count(AttemptState.REFUSED) <= 2 * 8

    run(scenario)


@pytest.mark.parametrize("row", [0.15, 0.6, 1])
def test_a_lone_call_gets_through_a_slow_ledger(row: float) -> None:
    """Where nobody stands in line a ticket would be due at once: it is taken for later."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(1)

        assert len(await sent_with(here, jobs, row, 0)) == 1

        attempts = here.ledger.history(jobs[0]).attempts
        assert sum(one.state is AttemptState.REFUSED for one in attempts if one.step == "art") == 1

    run(scenario)
