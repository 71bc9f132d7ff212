"""The classification table: total, by code first, and unknown means hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.failure import (
    ACTIONS,
    GUIDANCE,
    Action,
    FailureClass,
    Family,
    Fault,
    classify,
)

PS, FF = Family.PHOTOSHOP, Family.FIREFLY

ROWS = [
    (Fault(FF, 401, "401013"), FailureClass.AUTH),
    (Fault(FF, 403, "quota_exhausted"), FailureClass.QUOTA),
    (Fault(FF, 403, "user_non_entitled"), FailureClass.ENTITLEMENT),
    (Fault(FF, 403), FailureClass.ENTITLEMENT),
    (Fault(FF, 404), FailureClass.MODEL_RETIRED),
    (Fault(FF, 404, "unknown_job_id"), FailureClass.LOST_ANSWER),
    (Fault(FF, 408, "timeout_error"), FailureClass.TRANSIENT),
    (Fault(FF, 413), FailureClass.INVALID_REQUEST),
    (Fault(FF, 422, "validation_error"), FailureClass.INVALID_REQUEST),
    (Fault(FF, 422, "validation_error", "body.image.source.url"), FailureClass.STALE_REFERENCE),
    (Fault(FF, 400, "400312"), FailureClass.STALE_REFERENCE),
    (Fault(FF, 422, "prompt_unsafe"), FailureClass.UNSAFE_CONTENT),
    (Fault(FF, None, "prompt_unsafe"), FailureClass.UNSAFE_CONTENT),
    (Fault(FF, 451), FailureClass.UNSAFE_CONTENT),
    (Fault(FF, 429, "rate_limited"), FailureClass.THROTTLED),
    (Fault(FF, 503, "model_not_loaded"), FailureClass.TRANSIENT),
    (Fault(FF, 500), FailureClass.TRANSIENT),
    (Fault(PS, None, "500600"), FailureClass.TRANSIENT),
    (Fault(PS, None, "400411"), FailureClass.UNSAFE_CONTENT),
    (Fault(PS, None, "400401"), FailureClass.INVALID_REQUEST),
    (Fault(PS, None, "403421"), FailureClass.QUOTA),
    (Fault(PS, None, "404404", "image.source.url"), FailureClass.STALE_REFERENCE),
    (Fault(PS, None, "404999", "image.source.url"), FailureClass.STALE_REFERENCE),
    (Fault(PS, None, "422404"), FailureClass.STALE_REFERENCE),
    (Fault(PS, None, "", "image.source.url"), FailureClass.STALE_REFERENCE),
    (
        Fault(PS, 403, "unauthorized_forbidden", message="Try later, high traffic"),
        FailureClass.TRANSIENT,
    ),
    (Fault(PS, 403, "unauthorized_forbidden"), FailureClass.ENTITLEMENT),
    (Fault(PS, 200, "never_heard_of"), FailureClass.UNKNOWN),
    (Fault(FF, 418), FailureClass.UNKNOWN),
]


@pytest.mark.parametrize(("fault", "failure"), ROWS, ids=lambda one: str(one)[:60])
def test_each_row_has_its_class(fault: Fault, failure: FailureClass) -> None:
    """What Adobe says becomes the class that operators read in the table."""
    assert classify(fault) is failure


def test_every_class_has_an_action_and_guidance() -> None:
    """Nobody meets a class that the factory or a person does not know what to do with."""
    assert set(ACTIONS) == set(FailureClass)
    assert set(GUIDANCE) == set(FailureClass)
    assert ACTIONS[FailureClass.UNKNOWN] is Action.HOLD


@given(
    st.builds(
        Fault,
        family=st.sampled_from(Family),
        status=st.none() | st.integers(0, 999),
        code=st.text(max_size=30),
        field=st.text(max_size=30),
        message=st.text(max_size=80),
    )
)
def test_the_table_is_total(fault: Fault) -> None:
    """Whatever comes, there is a class, and it never raises."""
    assert classify(fault) in FailureClass
