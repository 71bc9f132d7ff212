"""What Dagster and the bucket show of a decision, once the sensor has ticked."""

import dagster as dg

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.campaign import Retention, ReviewMode
from fireflyassets.core.review import Code, Move
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.defs.reviews import reviews_sensor
from fireflyassets.ports.reviews import View
from fireflyassets.stages.review import Outcome, Pick, Reviews, Ruling
from fireflyassets.wave.endings import KEEP
from fireflyassets.wave.reports import Check
from fireflyassets_tests.defs.location import (
    CAMPAIGN,
    CUSTOMER,
    DELIVERIES,
    Location,
    location,
)
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config


def reviewed(**settings: object) -> Floor:
    """Return a floor whose campaign asks for approval."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    shape = {"aspects": ASPECTS, "templates": templates, "recipe": recipe()}
    catalogue = FixedCatalogue(config(**shape, review=ReviewMode.REQUIRED))
    return floor(catalogue=catalogue, clock=SystemClock(), **settings)


def tick(there: Location) -> str:
    """Let Dagster evaluate the sensor; return what it says."""
    ports = {name: getattr(there.here.shop, name) for name in WAVE_PORTS}
    with dg.build_sensor_context(instance=there.instance, resources=ports) as context:
        return reviews_sensor.evaluate_tick(context).skip_message or ""


def judge(there: Location, job: str, move: Move, code: Code | None = None) -> None:
    """Decide on a job as it stands."""
    here = there.here
    reviews = Reviews(here.ledger, here.clock, lambda _: KEEP[Retention.STANDARD], lambda: "act")
    picks = [Pick(job, here.row(job).epoch)]
    outcome = reviews.judge(CUSTOMER, CAMPAIGN, picks, Ruling(move, "ann", code))
    assert isinstance(outcome, Outcome)
    assert outcome.refused == ()


def made(there: Location, count: int) -> list[str]:
    """Let jobs be made that wait for their review."""
    jobs = there.here.order(count)
    (request,) = there.dispatch()
    there.run(request)
    return jobs


def test_the_check_of_each_partition_follows_the_review() -> None:
    """Pending warns; approved passes, rejected does not, and both say by whom."""
    with location(reviewed()) as there:
        one, other, third = made(there, 3)
        assert set(there.checks(Check.REVIEW).values()) == {"FAILED"}

        judge(there, one, Move.APPROVE)
        judge(there, other, Move.REJECT, Code.QUALITY)
        said = tick(there)

        assert said.startswith("2 decisions shown by objects, 2 in the catalogue")
        assert there.checks(Check.REVIEW) == {
            one: "SUCCEEDED",
            other: "FAILED",
            third: "FAILED",
        }
        assert set(there.checks(Check.TAGGING).values()) == {"SUCCEEDED"}
        assert there.here.ledger.unshown(View.DAGSTER, most=9) == []
        assert all(key not in there.here.objects.objects for key in there.here.row(other).outputs)
        assert tick(there) == "0 decisions shown by objects, 0 in the catalogue."


def test_an_undone_approval_is_shown_as_open_again() -> None:
    """The catalogue does not go on saying what nobody says any more."""
    with location(reviewed()) as there:
        (job,) = made(there, 1)
        judge(there, job, Move.APPROVE)
        tick(there)
        assert there.checks(Check.REVIEW) == {job: "SUCCEEDED"}

        judge(there, job, Move.UNDO)
        tick(there)

        assert there.checks(Check.REVIEW) == {job: "FAILED"}


def test_of_many_jobs_each_decision_is_an_observation() -> None:
    """Open pages recompute checks by partition from all rows: large campaigns have none."""
    with location(reviewed(partitioned_checks_up_to=0)) as there:
        (job,) = made(there, 1)
        judge(there, job, Move.APPROVE)

        tick(there)

        found = there.instance.fetch_observations(DELIVERIES, limit=9).records
        (shown,) = [one.asset_observation for one in found if one.asset_observation]
        assert shown.partition == job
        assert shown.metadata["human_reviewed"].value == "approved"
        assert shown.metadata["by"].value == "ann"


def test_a_rejected_job_that_is_told_again_is_found_where_it_lies() -> None:
    """Its files were moved with their tags: a person who materializes it again sees that."""
    with location(reviewed()) as there:
        (job,) = made(there, 1)
        judge(there, job, Move.REJECT, Code.QUALITY)
        tick(there)

        there.by_hand([job])

        assert there.checks(Check.TAGGING) == {job: "SUCCEEDED"}
        assert there.checks(Check.REVIEW) == {job: "FAILED"}
