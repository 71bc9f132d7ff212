"""Notify: what a customer is told about a job, by webhook or when asked.

In: ledger rows and events. Out: payloads that hold our own URLs, never a signed one. Spends:
nothing. Delivery, signing and retries are not here (``stages/telling.py``).
"""

from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.event import (
    VERSION,
    Event,
    EventType,
    Instant,
    JobPayload,
    body_of,
    facts_payload,
    instant,
    is_of_a_job,
)
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status

__all__ = ["Instant", "JobPayload", "event_body", "instant", "is_published", "payload"]

_NAMING: Final = frozenset({EventType.JOB_SUCCEEDED, EventType.ASSET_APPROVED})
"""Events that may name outputs."""


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


def event_body(event: Event, row: JobRow | None, *, api_url: str) -> str:
    """Return the text of an event's payload; *row* is the job that it is about.

    The event decides what happened: the row may have moved on since. Outputs are named where the
    row still stands as the event says, and with approval required by ``asset.approved`` alone.
    """
    if row is None or not is_of_a_job(event.type):
        return body_of(facts_payload(event))
    status = event.status or row.status
    reviewed = row.human_reviewed is not HumanReview.NOT_REQUIRED
    early = event.type is EventType.JOB_SUCCEEDED and reviewed
    names = event.type in _NAMING and row.status is status and not early
    told = payload(row, api_url=api_url)
    failed = event.type in {EventType.JOB_FAILED, EventType.JOB_REVIEW} and row.failure
    return body_of(
        {
            **told,
            "status": status.value,
            "outputs": told["outputs"] if names else [],
            "completedAt": instant(event.at) if event.status else told["completedAt"],
            "type": event.type.value,
            "version": VERSION,
            "timestamp": instant(event.at),
            "sequence": event.sequence,
            "failureClass": row.failure.value if failed and row.failure else None,
            "reviewCode": event.facts.get("code"),
        }
    )


def is_published(row: JobRow) -> bool:
    """Say whether the job's outputs may leave the house."""
    reviewed = row.human_reviewed in {HumanReview.NOT_REQUIRED, HumanReview.APPROVED}
    return row.status is Status.SUCCEEDED and reviewed


def _url(row: JobRow, aspect: str, api_url: str) -> str:
    return f"{api_url.rstrip('/')}/v1/jobs/{row.job_id}/outputs/{aspect}"
