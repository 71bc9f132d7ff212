"""What a customer is told about a job. Here: the shape and what it withholds."""

import json
from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from fireflyassets.core import ids
from fireflyassets.core.event import Event, EventType, JobEvent
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Recorded
from fireflyassets.stages.notify import event_body, payload
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


def told_of(row: JobRow, kind: EventType, status: Status | None) -> dict[str, object]:
    event = Event("e", kind, CUSTOMER, NOON, row.job_id, CAMPAIGN, status, sequence=3)
    said = json.loads(event_body(event, row, api_url=API))
    assert isinstance(said, dict)
    TypeAdapter(JobEvent).validate_python(said, strict=True)
    return said


def test_an_event_has_the_fields_that_polling_shows() -> None:
    """One shape for both: what a webhook says is what GET says, with the event's own fields."""
    row = done()

    told = told_of(row, EventType.JOB_SUCCEEDED, Status.SUCCEEDED)

    own = {"type": "job.succeeded", "version": 1, "sequence": 3}
    own |= {"failureClass": None, "reviewCode": None}
    assert told == payload(row, api_url=API) | own | {"timestamp": "2026-11-30T12:00:00Z"}


@pytest.mark.parametrize("review", [HumanReview.PENDING, HumanReview.APPROVED])
def test_with_approval_required_only_the_approval_names_outputs(review: HumanReview) -> None:
    """Even where the approval came before job.succeeded was sent."""
    row = done(human_reviewed=review)

    early = told_of(row, EventType.JOB_SUCCEEDED, Status.SUCCEEDED)
    approved = told_of(replace(row, human_reviewed=HumanReview.APPROVED), *(_APPROVED))
    rejected = told_of(replace(row, human_reviewed=HumanReview.REJECTED), *(_REJECTED))

    assert early["outputs"] == rejected["outputs"] == []
    assert len(approved["outputs"]) == len(ASPECTS)  # pyright: ignore[reportArgumentType]


_APPROVED = (EventType.ASSET_APPROVED, None)
_REJECTED = (EventType.ASSET_REJECTED, None)


def test_a_row_that_moved_on_does_not_change_what_happened() -> None:
    """A failure that is told after its replay has ended well is told as the failure it was."""
    told = told_of(done(), EventType.JOB_FAILED, Status.DLQ)

    assert (told["status"], told["outputs"]) == ("dlq", [])


def test_a_payload_of_the_most_aspects_is_thin() -> None:
    aspects = [f"{1000 + n}x1080" for n in range(25)]
    row = done()
    keys = [ids.delivery_key(CUSTOMER, CAMPAIGN, row.job_id, one, "p.jpg") for one in aspects]

    event = Event("e", EventType.JOB_SUCCEEDED, CUSTOMER, NOON, row.job_id, CAMPAIGN)
    body = event_body(event, replace(row, outputs=tuple(keys)), api_url=API)

    assert len(body.encode()) < 20_000
    assert "X-Amz" not in body
