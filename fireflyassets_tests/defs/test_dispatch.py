"""The dispatch sensor through Dagster's own tick: one tenant's trouble is nobody else's."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.sensor_definition import SensorExecutionData

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.request import RawRequest
from fireflyassets.core.status import Status
from fireflyassets.definitions import build_definitions
from fireflyassets.defs import names
from fireflyassets.defs.dispatcher import Dispatcher, cursor_of, remembered
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import ItemState
from fireflyassets.wave.reports import Check
from fireflyassets_tests.defs.location import fast, location, ports
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config


def campaign(customer: str, name: str) -> CampaignConfig:
    """Return a small campaign."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    return config(
        customer=customer, campaign=name, aspects=ASPECTS, templates=templates, recipe=recipe()
    )


def order(here: Floor, customer: str, name: str, *, prefix: str) -> str:
    """Record one job and return its id."""
    request = RawRequest(f"{prefix}-1", "a bottle", "en-GB", "Spring", ASPECTS)
    (answer,) = here.intake.accept([Row(None, request)], customer=customer, campaign=name)
    return answer.row.job_id  # pyright: ignore[reportAttributeAccessIssue]


def evaluated(here: Floor, instance: dg.DagsterInstance, sensor: str) -> SensorExecutionData:
    """Let Dagster evaluate a sensor over what is loaded."""
    given = ports(here)
    defs = build_definitions(here.shop.catalogue.campaigns(), given)
    context = dg.build_sensor_context(instance=instance, definitions=defs, resources=given)
    return defs.get_repository_def().get_sensor_def(sensor).evaluate_tick(context)


def tick(here: Floor, instance: dg.DagsterInstance) -> list[tuple[str, str]]:
    """Let the dispatcher tick; return whose runs were asked for."""
    asked = evaluated(here, instance, "dispatch").run_requests or []
    return [(one.tags[names.CUSTOMER_TAG], one.tags[names.CAMPAIGN_TAG]) for one in asked]


def test_a_campaign_that_left_stops_nobody_else() -> None:
    """Its queued jobs wait, and say why; other campaigns and tenants are dispatched at once."""
    spring, autumn, bolt = (
        campaign("acme", "spring-launch"),
        campaign("acme", "autumn"),
        campaign("bolt", "spring-launch"),
    )
    here = floor(clock=SystemClock(), catalogue=FixedCatalogue(spring, autumn, bolt))
    orphan = order(here, "acme", "autumn", prefix="autumn")
    order(here, "acme", "spring-launch", prefix="spring")
    order(here, "bolt", "spring-launch", prefix="bolt")
    here.shop = replace(here.shop, limits=fast, catalogue=FixedCatalogue(spring, bolt))

    with dg.DagsterInstance.ephemeral() as instance:
        asked = tick(here, instance)
        second = tick(here, instance)
        told = evaluated(here, instance, "queue_lines").skip_message

    assert sorted(asked) == [("acme", "spring-launch"), ("bolt", "spring-launch")]
    assert second == []
    assert told == "Jobs in lines of nobody: 1 parked."
    row = here.row(orphan)
    assert (row.status, row.wave) == (Status.QUEUED, None)
    assert row.not_before is not None
    assert row.not_before > row.created_at + timedelta(minutes=5)
    assert "is not loaded" in (row.reason or "")


def test_a_renamed_credential_takes_its_jobs_along() -> None:
    """Dispatch alone never sees the old line; the sensor of the lines moves its jobs."""
    here = floor(clock=SystemClock(), catalogue=FixedCatalogue(campaign("acme", "autumn")))
    job = order(here, "acme", "autumn", prefix="autumn")
    renamed = campaign("acme", "autumn").model_copy(update={"credential": "acme-new"})
    here.shop = replace(here.shop, limits=fast, catalogue=FixedCatalogue(renamed))

    with dg.DagsterInstance.ephemeral() as instance:
        before = tick(here, instance)
        told = evaluated(here, instance, "queue_lines").skip_message
        after = tick(here, instance)

    assert told == "Jobs in lines of nobody: 1 rebound."
    assert (before, after) == ([], [("acme", "autumn")])
    assert here.row(job).credential == "acme-new"


def test_a_limiter_that_does_not_answer_stops_no_dispatch() -> None:
    """The size of a wave goes by the contract then; who needs tickets parks its jobs."""
    here = floor(clock=SystemClock(), catalogue=FixedCatalogue(campaign("acme", "autumn")))
    order(here, "acme", "autumn", prefix="autumn")
    here.shop = replace(here.shop, limits=fast, limiter=Mute(now=here.clock.now))

    with dg.DagsterInstance.ephemeral() as instance:
        assert tick(here, instance) == [("acme", "autumn")]


class Mute(MemoryLimiter):
    """A limiter whose store does not answer."""

    def register(self, item: str, limits: Limits) -> None:
        raise LimiterUnavailable(item, "a test")

    def state(self, item: str) -> ItemState:
        raise LimiterUnavailable(item, "a test")


def queueing(most: int) -> dict[str, object]:
    """Return the settings of an instance that runs so many at once, the rest queued."""
    return {
        "run_coordinator": {
            "module": "dagster._core.run_coordinator",
            "class": "QueuedRunCoordinator",
        },
        "concurrency": {"runs": {"max_concurrent_runs": most}},
    }


def test_waves_are_formed_for_free_places_alone_and_the_next_tick_goes_on(tmp_path: Path) -> None:
    """Three tenants, one place: each has its turn, the third by the credits in the cursor."""
    tenants = ("acme", "bolt", "cove")
    here = floor(
        clock=SystemClock(),
        catalogue=FixedCatalogue(*(campaign(tenant, "spring-launch") for tenant in tenants)),
    )
    here.shop = replace(
        here.shop, limits=fast, settings=here.shop.settings.model_copy(update={"wave_jobs": 1})
    )
    for tenant in tenants:
        for n in range(2):
            order(here, tenant, "spring-launch", prefix=f"{n}")
    order_of_turns: list[str] = []
    cursor: str | None = None

    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=queueing(1)) as instance:
        for _ in range(4):
            dispatcher = Dispatcher(instance, here.shop, remembered(cursor))
            asked = dispatcher.tick(here.clock.now())
            nothing_more = Dispatcher(instance, here.shop).tick(here.clock.now())
            assert (len(asked), nothing_more) == (1, [])
            order_of_turns += [one.tags[names.CUSTOMER_TAG] for one in asked]
            cursor = cursor_of(dispatcher.credits)
            here.ledger.end(asked[0].tags[names.WAVE_TAG])

    assert order_of_turns == ["acme", "bolt", "cove", "acme"]


def test_a_run_that_is_not_over_holds_its_place(tmp_path: Path) -> None:
    """A person's run counts like a wave's, before it has begun, too."""
    here = floor(clock=SystemClock(), catalogue=FixedCatalogue(campaign("acme", "spring-launch")))
    here.shop = replace(here.shop, limits=fast)
    order(here, "acme", "spring-launch", prefix="spring")

    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=queueing(1)) as instance:
        run = instance.create_run_for_job(nothing)
        assert Dispatcher(instance, here.shop).tick(here.clock.now()) == []
        instance.report_run_failed(run)
        assert len(Dispatcher(instance, here.shop).tick(here.clock.now())) == 1


@dg.job
def nothing() -> None:
    """Do nothing."""


@pytest.mark.parametrize(("up_to", "planned"), [(2, 6), (1, 3)])
def test_checks_by_partition_are_planned_for_small_campaigns_alone(
    up_to: int, planned: int
) -> None:
    """A run plans no row for a check that it will not evaluate; the summaries always come."""
    here = floor(clock=SystemClock(), partitioned_checks_up_to=up_to)
    with location(here) as made:
        jobs = made.here.order(2)

        (request,) = made.dispatch()
        result = made.run(request)

        assert request.asset_check_keys is not None
        assert len(request.asset_check_keys) == planned
        assert result.success
        shown = made.checks(Check.TAGGING)
        assert set(shown) == (set(jobs) if up_to == 2 else set())
        assert made.summary(Check.TAGGING) is not None
