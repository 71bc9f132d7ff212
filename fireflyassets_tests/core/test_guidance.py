"""What customers are told of a fault."""

from dataclasses import replace

import pytest

from fireflyassets.core import guidance
from fireflyassets.core.failure import REPLAYS, FailureClass, Replay
from fireflyassets.core.status import Status
from fireflyassets_tests.contracts.ledgers import job


@pytest.mark.parametrize("failure", FailureClass)
def test_every_class_says_what_was_refused_and_what_to_change(failure: FailureClass) -> None:
    """Two sentences; where we run the job again by ourselves, nothing is asked of the customer."""
    said = guidance.told(failure)

    assert said.count(".") >= 2
    if REPLAYS[failure] is not Replay.NEVER:
        assert "We run the job again" in said


def test_only_a_fault_is_explained() -> None:
    """A job that goes on, or whose fault nobody classed, gets no guess."""
    ended = replace(job(), status=Status.DLQ, failure=FailureClass.QUOTA)

    assert guidance.of(ended) == guidance.told(FailureClass.QUOTA)
    assert guidance.of(replace(ended, failure=None)) is None
    assert guidance.of(replace(ended, status=Status.QUEUED)) is None
