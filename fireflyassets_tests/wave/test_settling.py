"""Sends that only a key of ours could settle: the sweep and the wave go by one rule."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.core.status import Status
from fireflyassets.fence.call import Rates
from fireflyassets.fence.resolving import FENCE, Resolver, Unknown
from fireflyassets.fence.standing import TELLS_UNTIL
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState, Claim, Decision, Release, Verdict
from fireflyassets.ports.paid import Gone, OutcomeLost
from fireflyassets.stages.bench import rates_of
from fireflyassets.stages.dispatch import take_over
from fireflyassets.stages.pinning import card_of, pinned
from fireflyassets.wave.reports import Turn
from fireflyassets.wave.sweeping import Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import Behaviour, Take, jpeg

EXPIRED = Take(silent=True, writes=False)
"""Accepted and billed, its answer lost, and its file gone by the time that anybody looks."""
FORGOTTEN = Take(ending=Gone(), writes=False)
"""Accepted with an id that the vendor does not know any more."""
NEVER_TAKEN = OutcomeLost(Fault(Family.PHOTOSHOP, 504, "lost_answer"))
UNSETTLED = pytest.mark.parametrize(
    ("behaviour", "after"),
    [(EXPIRED, TELLS_UNTIL + timedelta(minutes=1)), (FORGOTTEN, timedelta(minutes=76))],
    ids=["a day without a sweep", "an id that is not known"],
)


async def swept(here: Floor) -> dict[str, int]:
    """Sweep once; return what was found."""
    found = (await Sweep(here.shop).run(after=None, most=100)).found
    return {str(what): count for what, count in found.items()}


async def lost(here: Floor, behaviour: Behaviour) -> str:
    """Return a job with one composite, whose only send the vendor took as *behaviour* says."""
    (job,) = here.order(1, aspects=("32x18",))
    here.documents.vendor.script.append(behaviour)
    assert turns(await here.work([job])) == ["parked"]
    return job


def composite(here: Floor, job: str) -> Attempt:
    """Return the composite's first send."""
    return next(one for one in here.ledger.history(job).attempts if one.output_key)


def resolver(here: Floor) -> Resolver:
    """Return a person's door over the floor's ledger."""
    shop = here.shop

    def price(row: JobRow, _attempt: Attempt) -> Rates:
        card = card_of(shop.objects, shop.catalogue, row)
        campaign = pinned(shop.objects, row.customer_id, row.campaign_id, row.campaign_version)
        return rates_of(card, campaign.config.recipe.steps[1])

    return Resolver(here.ledger, price, lambda _row: timedelta(days=1))


def listed(here: Floor) -> list[Unknown]:
    """Return what waits for a word."""
    return resolver(here).unknown(now=here.clock.now())


@UNSETTLED
def test_absent_file_that_proves_nothing_is_never_sent_again(
    behaviour: Take, after: timedelta
) -> None:
    """The sweep leaves such a send unknown, and so does the wave behind it: it was billed."""

    async def scenario() -> None:
        here = floor()
        job = await lost(here, behaviour)
        await here.clock.sleep(after)

        assert await swept(here) == {"unknown": 1}
        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.documents.vendor.sent == 1
        (unknown,) = listed(here)
        assert (unknown.attempt.n, unknown.settles_at) == (1, None)
        books_agree(here)

    run(scenario)


@UNSETTLED
def test_send_that_holds_its_job_stays_on_the_list_and_can_be_resolved(
    behaviour: Take, after: timedelta
) -> None:
    """No sweep closes it behind the hold; a person's word lets the job go on."""

    async def scenario() -> None:
        here = floor()
        job = await lost(here, behaviour)
        await here.clock.sleep(after)
        await here.work([job])

        assert await swept(here) == {"unknown": 1}
        assert len(listed(here)) == 1
        decision = Decision(Verdict.RESUBMIT, by="ops", at=here.clock.now())
        resolver(here).resolve(job, composite(here, job).step, decision)

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.documents.vendor.sent == 2
        assert listed(here) == []

    run(scenario)


def test_result_that_expired_before_it_was_kept_is_not_sent_again() -> None:
    """The vendor says done, and the file was there for a day: that is paid, and a person's call."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1, aspects=("32x18",))
        here.documents.vendor.script.append(Take(seconds=300, writes=False))
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=20))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(TELLS_UNTIL)

        assert await swept(here) == {"lost": 1}
        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.documents.vendor.sent == 1
        assert len(listed(here)) == 1
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("behaviour", [EXPIRED, FORGOTTEN])
def test_file_that_is_there_tells_however_late(behaviour: Take) -> None:
    """What was made is bound by the sweep, and the fence's hold on its job is lifted."""

    async def scenario() -> None:
        here = floor()
        job = await lost(here, behaviour)
        await here.clock.sleep(TELLS_UNTIL + timedelta(minutes=1))
        await here.work([job])
        key = composite(here, job).output_key or ""
        here.objects.put(key, jpeg(32, 18), media_type="image/jpeg")

        assert await swept(here) == {"bound": 1}

        assert here.row(job).hold is None
        assert turns(await here.work([job])) == ["succeeded"]
        assert here.documents.vendor.sent == 1

    run(scenario)


def test_send_that_made_nothing_lifts_the_fence_s_hold() -> None:
    """A job held for an outcome that is settled by now goes on without a person."""

    async def scenario() -> None:
        here = floor()
        job = await lost(here, NEVER_TAKEN)
        claim = here.ledger.claim(job, "acme", "w-held", now=here.clock.now())
        assert isinstance(claim, Claim)
        now = here.clock.now()
        here.ledger.release(claim, Release("unknown", hold=Hold("unknown", now, FENCE)), now=now)
        await here.clock.sleep(timedelta(minutes=76))

        assert await swept(here) == {"failed": 1}

        row = here.row(job)
        assert (row.status, row.hold) == (Status.QUEUED, None)
        assert composite(here, job).state is AttemptState.FAILED

    run(scenario)


def test_hold_stays_while_another_send_waits_for_a_person() -> None:
    """One settled send of two unknown ones is not enough."""

    async def scenario() -> None:
        here = floor()
        job = await lost(here, NEVER_TAKEN)
        first = composite(here, job)
        other = replace(first, step="layout.18x32", output_key=None)
        assert here.ledger.begin_attempt(other)
        claim = here.ledger.claim(job, "acme", "w-held", now=here.clock.now())
        assert isinstance(claim, Claim)
        now = here.clock.now()
        here.ledger.release(claim, Release("unknown", hold=Hold("unknown", now, FENCE)), now=now)
        await here.clock.sleep(timedelta(minutes=76))

        assert await swept(here) == {"failed": 1, "unknown": 1}

        assert here.row(job).hold is not None
        assert [one.attempt.step for one in listed(here)] == [other.step]

    run(scenario)
