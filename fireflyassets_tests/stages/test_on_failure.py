"""What a recipe may say of a step that fails for good, and which failures no recipe decides on."""

import pytest

from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.recipe_step import INSISTENT, OnFailure
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import EndedBadly, NotAccepted
from fireflyassets_tests.floor import Floor
from fireflyassets_tests.paid_services import Take
from fireflyassets_tests.stages.test_long_recipe import LONG, ordered, steps_of, studio

WIDE = {**LONG[3], "retry": 1}
HELD, PARKED = "held", "parked"
FAULTS = {
    FailureClass.AUTH: ("401013", 401),
    FailureClass.ENTITLEMENT: ("user_non_entitled", 403),
    FailureClass.QUOTA: ("quota_exhausted", 403),
    FailureClass.MODEL_NOT_READY: ("model_not_ready", None),
    FailureClass.UNSAFE_CONTENT: ("output_media_unsafe", 200),
    FailureClass.BUG: ("not_implemented", 501),
    FailureClass.UNKNOWN: ("never_seen", 418),
    FailureClass.INVALID_REQUEST: ("validation_error", 422),
    FailureClass.MODEL_RETIRED: ("model_unknown", None),
    FailureClass.TRANSIENT: ("runtime_error", 500),
}
"""Class -> code and status of a refusal that is of it."""
INSISTED = {
    FailureClass.AUTH: Status.DLQ,
    FailureClass.ENTITLEMENT: Status.DLQ,
    FailureClass.QUOTA: Status.DLQ,
    FailureClass.MODEL_NOT_READY: PARKED,
    FailureClass.UNSAFE_CONTENT: Status.REVIEW,
    FailureClass.BUG: HELD,
    FailureClass.UNKNOWN: HELD,
}
WISHED = {
    OnFailure.SKIP: Status.SUCCEEDED,
    OnFailure.HOLD: HELD,
    OnFailure.DLQ: Status.DLQ,
    OnFailure.REVIEW: Status.REVIEW,
}


def fails(failure: FailureClass, wish: OnFailure) -> tuple[Floor, str]:
    """Return a floor, and a job of it, whose third picture step meets a failure."""
    here = studio(*LONG[:3], {**WIDE, "on_failure": wish}, *LONG[4:])
    code, status = FAULTS[failure]
    fault = Fault(Family.FIREFLY, status, code)
    ends = [Take(ending=EndedBadly(fault))] if status in {200, 500} else [NotAccepted(fault)]
    here.images.vendor.script.extend([Take(), *ends, *ends])
    return here, ordered(here)


def outcome(here: Floor, job: str) -> str:
    """Return where a job is: its status, or what keeps it in its line."""
    row = here.row(job)
    if row.status is not Status.QUEUED:
        return row.status
    return HELD if row.hold else PARKED


@pytest.mark.parametrize("wish", OnFailure)
@pytest.mark.parametrize("failure", FAULTS)
def test_who_decides_where_a_failed_job_goes(failure: FailureClass, wish: OnFailure) -> None:
    """The class, where it is no matter of the step alone; the recipe in all other cases."""

    async def scenario() -> None:
        here, job = fails(failure, wish)
        await here.work([job])
        assert outcome(here, job) == INSISTED.get(failure, WISHED[wish])
        assert ("wide" in steps_of(here, job)) is False

    run(scenario)


def test_the_table_of_who_decides_is_whole() -> None:
    """A throttled call and a lost answer never reach a recipe; every other class is in the table.

    A template's defect and a stale reference follow the recipe; a store that can't be read or
    written is no step's fault, and a picture that it lost is not left out.
    """
    elsewhere = {FailureClass.THROTTLED, FailureClass.LOST_ANSWER, FailureClass.STORAGE}
    assert set(INSISTED) | elsewhere == INSISTENT
    left = {FailureClass.TEMPLATE_DEFECT, FailureClass.STALE_REFERENCE}
    assert set(FAULTS) | elsewhere | left == set(FailureClass)


def test_what_no_step_stands_in_for_is_named() -> None:
    """The one that would have does not run for this locale: a person has to look."""

    async def scenario() -> None:
        asked = {"locale": ["de-DE"]}
        spare = {"name": "spare", "kind": "generate", "size": "48x27", "when": asked}
        wide = {**WIDE, "picture": "art.picture", "on_failure": "skip"}
        hero = {"Hero": "wide.picture or spare.picture", "Headline": "job.headline"}
        here = studio(LONG[0], spare, wide, {**LONG[4], "inputs": hero})
        job = ordered(here)
        refused = NotAccepted(Fault(Family.FIREFLY, 422, "validation_error"))
        here.images.vendor.script.extend([Take(), refused])
        await here.work([job])
        row = here.row(job)
        assert row.status is Status.REVIEW
        assert "nothing stands in for 32x18, 18x32" in (row.reason or "")
        assert here.documents.vendor.sent == 0

    run(scenario)
