"""A slow ledger and the pace: no crowd of calls after a hiccup, no standstill under a slow one."""

import asyncio
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.limiter.limits import Limits
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


async def sent_with(
    here: Floor, jobs: list[str], row: float, stall: float, jitter: float = 0
) -> list[float]:
    """Return when calls went out: each row takes *row* s, and none ends in a *stall* after 5 s.

    Rows are spread lognormally by *jitter*, and one in ten takes five times as long then.
    """
    loop = asyncio.get_running_loop()
    sent: list[float] = []
    chance = random.Random(1)  # noqa: S311 - a seeded draw.

    def takes() -> float:
        tail = 5 if jitter and chance.random() < 0.1 else 1
        return row * chance.lognormvariate(0, jitter) * tail

    async def ledger(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if call.__name__ == "begin_attempt":
            now = loop.time()
            in_stall = 5 <= now < 5 + stall
            await here.clock.sleep(timedelta(seconds=5 + stall - now if in_stall else takes()))
        return call(*args, **kwargs)

    lanes = Lanes(leases=INLINE, ledger=ledger, transfers=INLINE)
    here.shop = replace(here.shop, limits=ten_a_second, lanes=lanes)
    here.images.vendor.watch = lambda: sent.append(loop.time())
    (wave,) = here.begin(jobs).waves
    await here.engine(wave).run()
    return sorted(sent)


@pytest.mark.parametrize(
    ("row", "stall"),
    [(QUICK, 0), (QUICK, 0.3), (QUICK, 1), (QUICK, 3), (QUICK, 4.9), (0.15, 0), (0.6, 0), (3, 0)],
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


@pytest.mark.parametrize("row", [QUICK, 0.15, 0.6, 1.5, 3])
def test_a_ledger_that_is_slow_and_even_costs_no_pace(row: float) -> None:
    """Tickets are taken as long before their time as a row takes, and all but the first used."""

    async def scenario() -> None:
        here = floor()

        jobs = here.order(JOBS)
        sent = await sent_with(here, jobs, row, 0)

        assert sent[-1] - sent[0] <= (JOBS + 8) * 0.125 + 4 * row
        states = [attempt.state for job in jobs for attempt in here.ledger.history(job).attempts]
        # What either family had begun before its first row was there.
        assert states.count(AttemptState.REFUSED) <= 2 * 8 * max(1, row) + 4

    run(scenario)


@pytest.mark.parametrize("row", [0.15, 0.6, 1, 1.5, 3])
def test_a_lone_call_gets_through_a_slow_ledger(row: float) -> None:
    """Where nobody stands in line a ticket would be due at once: it is taken for later."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(1)

        assert len(await sent_with(here, jobs, row, 0)) == 1

        attempts = here.ledger.history(jobs[0]).attempts
        assert sum(one.state is AttemptState.REFUSED for one in attempts if one.step == "art") == 1

    run(scenario)


@pytest.mark.parametrize("row", [0.4, 0.8, 3])
def test_a_ledger_of_uneven_latency_ends_nearly_every_job(row: float) -> None:
    """Some tickets are outlasted; nothing waits for minutes, and the limit is kept."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(JOBS)

        sent = await sent_with(here, jobs, row, 0, jitter=0.5)

        ended = Counter(here.row(job).status for job in jobs)
        assert ended[Status.SUCCEEDED] >= JOBS * (0.9 if row > 1 else 1)
        assert set(ended) <= {Status.SUCCEEDED, Status.QUEUED}
        assert max(bisect_right(sent, at + 1) - n for n, at in enumerate(sent)) <= 10
        books_agree(here)

    run(scenario)


def test_reason_of_a_ledger_that_is_too_slow_names_the_ledger() -> None:
    """Nothing was sent, so nothing is said of the service; the job comes back in a minute."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1, aspects=("32x18",))

        assert await sent_with(here, [job], 9, 0) == []

        row = here.row(job)
        assert row.reason == "Step art: 5 tickets grew too old while the ledger wrote."
        assert row.not_before is not None
        assert row.not_before <= here.clock.now() + timedelta(minutes=1)
        states = [one.state for one in here.ledger.history(job).attempts]
        assert states == [AttemptState.REFUSED] * 5

    run(scenario)
