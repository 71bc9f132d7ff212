"""What a customer is told about a job. Here: the shape and what it withholds."""

from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal

import pytest

from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Recorded
from fireflyassets.stages.notify import payload
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, NOON, asked, front_door

API = "https://assets.example"


def done(**changes: object) -> JobRow:
    (told,) = front_door().intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    assert isinstance(told, Recorded)
    keys = [
        ids.delivery_key(CUSTOMER, CAMPAIGN, told.row.job_id, aspect, "picture.jpg")
        for aspect in ASPECTS
    ]
    finished = replace(
        told.row,
        status=Status.SUCCEEDED,
        outputs=tuple(keys),
        cost_actual=Decimal("3.5"),
        ended_at=NOON,
    )
    return replace(finished, **changes)


def test_a_finished_job_names_its_outputs_by_our_addresses() -> None:
    """The source's shape; no signed URL, no bucket."""
    row = done()

    assert payload(row, api_url=API + "/") == {
        "jobId": row.job_id,
        "campaignId": CAMPAIGN,
        "status": "succeeded",
        "outputs": [
            {"aspect": aspect, "url": f"{API}/v1/jobs/{row.job_id}/outputs/{aspect}"}
            for aspect in ASPECTS
        ],
        "completedAt": "2026-11-30T12:00:00Z",
    }


def test_a_running_job_has_neither_outputs_nor_end() -> None:
    row = done(status=Status.RUNNING, outputs=(), ended_at=None)

    told = payload(row, api_url=API)

    assert (told["status"], told["outputs"], told["completedAt"]) == ("running", [], None)


@pytest.mark.parametrize(
    ("review", "outputs"),
    [
        (HumanReview.NOT_REQUIRED, 3),
        (HumanReview.APPROVED, 3),
        (HumanReview.PENDING, 0),
        (HumanReview.REJECTED, 0),
    ],
)
def test_outputs_wait_for_the_review(review: HumanReview, outputs: int) -> None:
    """What nobody has approved is not named to the customer."""
    assert len(payload(done(human_reviewed=review), api_url=API)["outputs"]) == outputs


def test_outputs_of_a_job_that_did_not_succeed_are_not_named() -> None:
    assert payload(done(status=Status.REVIEW), api_url=API)["outputs"] == []


def test_times_are_told_in_utc() -> None:
    """Whatever zone an instant carries."""
    elsewhere = NOON.astimezone(timezone(timedelta(hours=4)))

    assert payload(done(ended_at=elsewhere), api_url=API)["completedAt"] == "2026-11-30T12:00:00Z"
