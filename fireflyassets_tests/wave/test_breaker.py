"""From Adobe's answer to the breaker: who asks for more than fifteen minutes stops all calls."""

from datetime import timedelta

import httpx
import pytest

from fireflyassets.adapters.adobe import submission
from fireflyassets.adapters.adobe.exchange import Answer
from fireflyassets.core.cause import HeldBy
from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.limiter.port import Parked, ParkReason, item_key
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import NotAccepted
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ORGANISATION, Floor, floor

FIREFLY = item_key(ORGANISATION, Family.FIREFLY)
LONGEST = timedelta(minutes=15)


def refused(here: Floor, status: int, code: str, seconds: str) -> NotAccepted:
    """Return what becomes of an HTTP answer to a submit."""
    headers = httpx.Headers({"Retry-After": seconds})
    answer = Answer(status, headers, f'{{"error_code": "{code}"}}'.encode())
    read = submission.read(answer, family=Family.FIREFLY, now=here.clock.now())
    assert isinstance(read, NotAccepted)
    return read


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (503, "model_not_loaded")])
@pytest.mark.parametrize("seconds", ["3600", "1e300"])
def test_an_ask_of_hours_opens_the_breaker(status: int, code: str, seconds: str) -> None:
    """A 429 or an error of Adobe's own: nobody else is sent, all wait fifteen minutes at most."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.script.append(refused(here, status, code, seconds))
        await here.work(jobs)

        told = here.shop.limiter.reserve(FIREFLY, 1)
        assert isinstance(told, Parked)
        assert told.reason is ParkReason.BREAKER_OPEN
        assert here.images.vendor.sent == 1
        for job in jobs:
            row = here.row(job)
            assert row.status is Status.QUEUED
            assert row.parked_for is HeldBy.INCIDENT
            assert row.not_before is not None
            assert row.not_before <= here.clock.now() + LONGEST

        await here.clock.sleep(LONGEST + timedelta(minutes=2))
        for _ in range(3):
            await here.work(jobs)
            await here.clock.sleep(timedelta(minutes=2))
        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (503, "model_not_loaded")])
def test_an_ask_of_a_quarter_of_an_hour_is_heeded(status: int, code: str) -> None:
    """No breaker: the jobs are done after that time."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(refused(here, status, code, "900"))
        await here.work([job])
        told = here.shop.limiter.reserve(FIREFLY, 1)
        assert getattr(told, "reason", None) is not ParkReason.BREAKER_OPEN
        await here.clock.sleep(LONGEST + timedelta(seconds=1))
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED

    run(scenario)
