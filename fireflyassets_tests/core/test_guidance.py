"""What customers are told of a fault."""

from dataclasses import replace

import pytest

from fireflyassets.core import guidance
from fireflyassets.core.failure import REPLAYS, FailureClass, Replay
from fireflyassets.core.job import CAMPAIGN, FACTORY, FENCE, Hold
from fireflyassets.core.status import Status
from fireflyassets_tests.contracts.ledgers import NOON, job


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


@pytest.mark.parametrize("by", [CAMPAIGN, FENCE, FACTORY, "ann"])
def test_a_held_job_says_who_lets_it_go_on(by: str) -> None:
    """Whoever holds it: nobody is left to guess, or to send it again and pay twice."""
    held = replace(job(), hold=Hold("a reason", NOON, by))

    said = guidance.of(held) or ""

    assert ("campaign is resumed" in said) is (by == CAMPAIGN)
    assert ("may be paid for twice" in said) is (by == FENCE)
    assert said
