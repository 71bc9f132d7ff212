"""What a wave does while there is no token: nothing is spent before one is in hand."""

import asyncio
from datetime import timedelta

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.port import item_key
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.paid import NotAccepted, Submission
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.floor import ORGANISATION, Floor, floor, turns
from fireflyassets_tests.paid_services import FakeImages

NO_TOKEN = NotAccepted(Fault(Family.IMS, 429, "rate_limited"), timedelta(seconds=5))


def tickets(here: Floor) -> int:
    """Return how many Firefly tickets were taken today."""
    return here.shop.limiter.state(item_key(ORGANISATION, Family.FIREFLY)).used_today


class Revoking(FakeImages):
    """A Firefly that refuses a token while the token service is away."""

    async def generate(self, request: GenerateRequest) -> Submission:
        answer = await super().generate(request)
        if isinstance(answer, NotAccepted):
            self.vendor.missing.extend([NO_TOKEN] * 9)
        return answer


def test_a_token_outage_spends_nothing() -> None:
    """While no token can be had there is no ticket, no attempt and no try: the job parks."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.missing.extend([NO_TOKEN] * 9)

        ended = await here.work(jobs)

        assert turns(ended) == ["parked"] * 3
        assert {here.row(job).attempts for job in jobs} == {0}
        assert [here.ledger.history(job).attempts for job in jobs] == [()] * 3
        assert tickets(here) == 0
        await here.clock.sleep(timedelta(minutes=11))
        assert turns(await here.work(jobs)) == ["succeeded"] * 3
        assert tickets(here) == here.images.vendor.sent == 3

    run(scenario)


def test_a_short_token_outage_is_waited_out() -> None:
    """Two asks in vain delay the call, and cost it nothing."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.missing.extend([NO_TOKEN] * 2)

        assert turns(await here.work([job])) == ["succeeded"]
        assert tickets(here) == here.images.vendor.sent == 1

    run(scenario)


def test_a_refused_credential_spends_nothing() -> None:
    """The token service knows no such client: the job ends for a person, before any ticket."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.missing.append(NotAccepted(Fault(Family.IMS, 400, "invalid_client")))

        ended = await here.work([job])

        assert ended[job].turn is Turn.FAILED
        assert here.row(job).status is Status.DLQ
        assert here.ledger.history(job).attempts == ()
        assert tickets(here) == 0

    run(scenario)


def test_after_a_refused_token_the_next_one_is_there_before_the_ticket() -> None:
    """A 401 is replayed once with a new token; while that can't be had no second ticket goes."""

    async def scenario() -> None:
        here = floor()
        here.images = Revoking(here.clock)
        vendor = here.images.vendor
        vendor.script.append(NotAccepted(Fault(Family.FIREFLY, 401, "401013")))
        (job,) = here.order(1)

        assert turns(await here.work([job])) == ["parked"]
        assert tickets(here) == vendor.sent == 1
        vendor.missing.clear()
        assert turns(await here.work([job])) == ["succeeded"]
        assert tickets(here) == vendor.sent == 2

    run(scenario)


def test_a_stop_ends_the_wait_for_a_token() -> None:
    """A wave that stops asks no longer: its job is due again at once, with nothing spent."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        patient = NotAccepted(NO_TOKEN.fault, timedelta(seconds=55))
        here.images.vendor.missing.extend([patient] * 9)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        working = asyncio.ensure_future(engine.run())
        await here.clock.sleep(timedelta(seconds=5))
        began = here.clock.now()
        engine.stop()
        await working

        assert here.clock.now() - began < timedelta(seconds=1)
        assert here.row(job).status is Status.QUEUED
        assert tickets(here) == 0

    run(scenario)


def test_a_token_that_ends_before_its_send_costs_no_try() -> None:
    """Its ticket and its row are spent; the tries are not: the job parks with all of them left."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.extend([NO_TOKEN] * 3)

        ended = await here.work([job])
        assert ended[job].turn is Turn.PARKED
        attempts = here.ledger.history(job).attempts
        assert [one.counts for one in attempts] == [False] * 3
        await here.clock.sleep(timedelta(minutes=11))
        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED

    run(scenario)
