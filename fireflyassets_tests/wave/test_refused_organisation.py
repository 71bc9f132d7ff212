"""The breaker of an organisation that is refused, in waves and virtual time."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.recipe_step import Model
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import EndedBadly, NotAccepted
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe, turns
from fireflyassets_tests.free_services import FakeModels
from fireflyassets_tests.front_door import CAMPAIGN, FixedCatalogue, card, config
from fireflyassets_tests.paid_services import Take

REFUSALS = {
    FailureClass.ENTITLEMENT: NotAccepted(Fault(Family.FIREFLY, 403, "user_non_entitled")),
    FailureClass.QUOTA: NotAccepted(Fault(Family.FIREFLY, 403, "quota_exhausted")),
}
PAUSE = timedelta(minutes=15, seconds=1)


def left(here: Floor, jobs: list[str]) -> list[str]:
    """Return the jobs that wait, each with the breaker as its reason."""
    waiting = [job for job in jobs if here.row(job).status is Status.QUEUED]
    assert all("the breaker is open" in str(here.row(job).reason) for job in waiting)
    return waiting


@pytest.mark.parametrize("failure", REFUSALS)
def test_one_refusal_of_the_organisation_parks_the_others(failure: FailureClass) -> None:
    """One job ends in dlq, and no other is spent on finding out the same."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(8)
        here.images.vendor.script.extend([REFUSALS[failure]] * 8)

        await here.work(jobs)

        assert here.images.vendor.sent == 1
        (dead,) = here.ledger.dead()
        assert dead.failure is failure
        assert len(left(here, jobs)) == 7
        opened = here.shop.limiter.state("ORG#firefly").opened_at
        assert opened is not None

    run(scenario)


@pytest.mark.parametrize("code", ["quota_exhausted", "user_non_entitled"])
def test_a_refusal_that_only_the_jobs_end_tells_parks_the_others_too(code: str) -> None:
    """The vendor took the calls: those that are out end, and no further one is sent."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(20)
        denied = EndedBadly(Fault(Family.FIREFLY, 200, code))
        here.images.vendor.script.extend([Take(ending=denied)] * 20)

        await here.work(jobs)

        sent = here.images.vendor.sent
        assert 0 < sent < len(jobs)
        assert len(here.ledger.dead()) == sent
        assert len(left(here, jobs)) == len(jobs) - sent
        assert here.shop.limiter.state("ORG#firefly").opened_at is not None

    run(scenario)


def test_one_job_tries_and_its_success_lets_the_others_go() -> None:
    """They are due within a minute, and none of them has counted an attempt."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(5)
        here.images.vendor.script.append(REFUSALS[FailureClass.ENTITLEMENT])
        await here.work(jobs)
        await here.clock.sleep(PAUSE)

        ended = turns(await here.work(left(here, jobs)))
        assert set(ended) == {"parked", "succeeded"}
        waiting = left(here, jobs)
        now = here.clock.now()
        due = [(here.row(job).not_before or now) - now for job in waiting]
        assert max(due) <= timedelta(minutes=1)
        await here.clock.sleep(timedelta(minutes=1))

        assert set(turns(await here.work(waiting))) == {"succeeded"}
        assert here.images.vendor.sent == len(jobs)
        assert here.shop.limiter.state("ORG#firefly").opened_at is None
        assert {here.row(job).attempts for job in waiting} == {0}

    run(scenario)


def test_a_refused_probe_costs_one_job_and_no_more() -> None:
    """While the organisation stays refused, each quarter of an hour one job finds out."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(5)
        here.images.vendor.script.extend([REFUSALS[FailureClass.QUOTA]] * 2)
        await here.work(jobs)
        await here.clock.sleep(PAUSE)

        await here.work(left(here, jobs))

        assert here.images.vendor.sent == 2
        assert len(here.ledger.dead()) == 2
        assert len(left(here, jobs)) == 3

    run(scenario)


@pytest.mark.parametrize(
    ("fault", "closes"),
    [
        (Fault(Family.FIREFLY, 422, "prompt_unsafe"), True),
        (Fault(Family.FIREFLY, 422, "validation_error"), True),
        (Fault(Family.FIREFLY, 403, "access_error", field="body.customModelId"), True),
        (Fault(Family.FIREFLY, 503, "internal_error"), False),
        (Fault(Family.FIREFLY, 418, "teapot"), False),
        (Fault(Family.FIREFLY, None, "connect_error"), False),
    ],
)
def test_a_probe_that_is_refused_for_its_own_sake_shows_that_the_others_are_served(
    *, fault: Fault, closes: bool
) -> None:
    """Who can't be served at all does not read prompts; an outage tells nothing."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(5)
        here.images.vendor.script.append(REFUSALS[FailureClass.QUOTA])
        await here.work(jobs)
        await here.clock.sleep(PAUSE)
        here.images.vendor.script.append(NotAccepted(fault))
        if not closes:
            here.images.vendor.script.extend([NotAccepted(fault)] * 9)

        await here.work(left(here, jobs)[:1])

        state = here.shop.limiter.state("ORG#firefly")
        assert (state.opened_at is None) is closes

    run(scenario)


async def _with_custom_model(here: Floor, refused: NotAccepted | None) -> None:
    """Work on a job with a custom model that is refused, then on one without any."""
    own = config(
        campaign="own",
        aspects=ASPECTS,
        templates={aspect: f"{aspect}.psd" for aspect in ASPECTS},
        recipe=recipe(model="image3_custom", custom_model="urn:aaid:sc:1"),
    )
    plain = own.model_copy(update={"campaign": CAMPAIGN, "recipe": recipe()})
    prices = card(generate={Model.IMAGE3_CUSTOM: Decimal(1), Model.IMAGE3: Decimal(1)})
    catalogue = FixedCatalogue(own, plain, cards=(prices,))
    here.intake = replace(here.intake, catalogue=catalogue)
    here.shop = replace(here.shop, catalogue=catalogue)
    if refused:
        here.images.vendor.script.append(refused)
    (first,) = here.order(1, campaign="own")
    assert turns(await here.work([first])) == ["failed"]
    assert here.row(first).failure is FailureClass.ENTITLEMENT
    assert turns(await here.work(here.order(1, prefix="plain"))) == ["succeeded"]


def test_who_may_not_list_custom_models_makes_all_other_calls() -> None:
    """The free listing is refused, which says nothing of calls that need no custom model."""

    async def scenario() -> None:
        here = floor()
        here.models = FakeModels("access_error")
        await _with_custom_model(here, None)
        assert here.images.vendor.sent == 1

    run(scenario)


def test_a_custom_model_that_is_not_shared_stops_its_own_campaign_alone() -> None:
    """The paid call names the model as what is refused."""

    async def scenario() -> None:
        here = floor()
        here.models = FakeModels("")
        denied = Fault(Family.FIREFLY, 403, "access_error", field="body.customModelId")
        await _with_custom_model(here, NotAccepted(denied))
        assert here.shop.limiter.state("ORG#firefly").opened_at is None

    run(scenario)


def test_a_job_s_own_refusal_opens_no_breaker() -> None:
    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        unsafe = NotAccepted(Fault(Family.FIREFLY, 422, "prompt_unsafe"))
        here.images.vendor.script.append(unsafe)

        ended = await here.work(jobs)

        assert sorted(turns(ended)) == ["failed", "succeeded", "succeeded"]
        assert here.shop.limiter.state("ORG#firefly").opened_at is None

    run(scenario)
