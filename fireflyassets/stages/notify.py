"""Notify: what a customer is told about a job, by webhook or when asked.

In: ledger rows. Out: payloads that hold our own URLs, never a signed one. Spends: nothing.
Delivery, signing and retries are not here.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status

Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""As `instant` writes it."""


class OutputLink(TypedDict):
    """One rendition, by an address of ours that authorises, checks the review and redirects."""

    aspect: Annotated[str, Field(examples=["1080x1920"])]
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]


class JobPayload(TypedDict):
    """The customer-facing shape of a job."""

    jobId: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    campaignId: Annotated[str, Field(examples=["spring-launch"])]
    status: Annotated[str, Field(json_schema_extra={"enum": [one.value for one in Status]})]
    outputs: list[OutputLink]
    """Only once they may be published: the job has succeeded, and no review is open."""
    completedAt: Instant | None


def payload(row: JobRow, *, api_url: str) -> JobPayload:
    """Return what the customer is told; *api_url* is the public base of our API.

    Outputs are named only once they may be published: the job has succeeded, and nobody still
    has to approve them or has rejected them.
    """
    aspects = map(ids.delivered_aspect, row.outputs) if is_published(row) else ()
    return {
        "jobId": row.job_id,
        "campaignId": row.campaign_id,
        "status": row.status.value,
        "outputs": [{"aspect": aspect, "url": _url(row, aspect, api_url)} for aspect in aspects],
        "completedAt": None if row.ended_at is None else instant(row.ended_at),
    }


def is_published(row: JobRow) -> bool:
    """Say whether the job's outputs may leave the house."""
    reviewed = row.human_reviewed in {HumanReview.NOT_REQUIRED, HumanReview.APPROVED}
    return row.status is Status.SUCCEEDED and reviewed


def instant(at: datetime) -> str:
    """Return an instant as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _url(row: JobRow, aspect: str, api_url: str) -> str:
    return f"{api_url.rstrip('/')}/v1/jobs/{row.job_id}/outputs/{aspect}"
