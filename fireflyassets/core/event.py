"""The events that customers are told of: their names, versions, payloads and schemas.

Belongs here: the catalogue, and an event as whatever wrote it noted it. Does not: what a job's
payload holds (``stages/notify.py``), delivery (``core/endpoint.py``).

Payloads are thin: what happened and where to ask for more. They hold addresses of ours alone, and
never a prompt, a signed address or a secret.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from fireflyassets.core.status import Status

VERSION: Final = 1
"""Of all payloads. Fields may be added under a version; it rises when one changes or goes."""
BODY_LIMIT: Final = 20_000
"""Bytes of a payload, at most."""

Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""As `instant` writes it."""


class EventType(StrEnum):
    """What happened."""

    JOB_SUCCEEDED = "job.succeeded"
    JOB_FAILED = "job.failed"
    JOB_REVIEW = "job.review"
    JOB_CANCELLED = "job.cancelled"
    ASSET_APPROVED = "asset.approved"
    ASSET_REJECTED = "asset.rejected"
    ASSET_RECALLED = "asset.recalled"
    CAMPAIGN_COMPLETED = "campaign.completed"
    CAMPAIGN_HALTED = "campaign.halted"
    BUDGET_SOFT = "campaign.budget.soft"
    ENDPOINT_DISABLED = "endpoint.disabled"
    ENDPOINT_TEST = "endpoint.test"


SAYS: Final[Mapping[EventType, str]] = {
    EventType.JOB_SUCCEEDED: "A job has ended well. Where its campaign asks for approval it names "
    "no outputs: asset.approved does.",
    EventType.JOB_FAILED: "A job has ended by a fault. We may run it again, under the same key.",
    EventType.JOB_REVIEW: "A job has ended, and somebody must look at it or mend its input.",
    EventType.JOB_CANCELLED: "A job has been cancelled, by you or by an operator.",
    EventType.ASSET_APPROVED: "A job's outputs are approved, and may be fetched.",
    EventType.ASSET_REJECTED: "A job's outputs are rejected.",
    EventType.ASSET_RECALLED: "A job's outputs that were published must not be used any more.",
    EventType.CAMPAIGN_COMPLETED: "All jobs of a campaign have ended; once more where "
    "some are added or run again, and all have ended anew.",
    EventType.CAMPAIGN_HALTED: "A campaign has been halted; its facts say why.",
    EventType.BUDGET_SOFT: "A step of a budget's ladder is reached; nothing is stopped.",
    EventType.ENDPOINT_DISABLED: "An endpoint gets nothing for now: poll until it is back.",
    EventType.ENDPOINT_TEST: "Somebody asked for a test of an endpoint.",
}
OF_STATUS: Final[Mapping[Status, EventType]] = {
    Status.SUCCEEDED: EventType.JOB_SUCCEEDED,
    Status.FAILED: EventType.JOB_FAILED,
    Status.DLQ: EventType.JOB_FAILED,
    Status.REVIEW: EventType.JOB_REVIEW,
    Status.CANCELLED: EventType.JOB_CANCELLED,
}
"""Moves of a job that customers are told of: all of its ends."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as it was noted in the transaction that made it happen."""

    event_id: str
    """Of the outbox row: the same however often it is written."""
    type: EventType
    customer: str
    at: datetime
    job_id: str = ""
    """Empty where it is about no job."""
    campaign: str = ""
    status: Status | None = None
    sequence: int = 0
    """Rises with each event of a job."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What else it tells, where it is about no job."""

    @property
    def webhook_id(self) -> str:
        """Return what receivers know it by: the same in each delivery and each retry."""
        return f"evt_{hashlib.sha256(self.event_id.encode()).hexdigest()[:32]}"


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


class JobEvent(JobPayload, TypedDict):
    """What happened to a job."""

    type: str
    version: Literal[1]
    timestamp: Instant
    sequence: Annotated[
        int, Field(description="Rises with each event of a job: drop one that is behind.")
    ]
    failureClass: Annotated[
        str | None, Field(description="The class of the fault that it ended by; null: none.")
    ]
    reviewCode: Annotated[
        str | None, Field(description="Why reviewers rejected the outputs; null: they did not.")
    ]


class FactsEvent(TypedDict):
    """What happened to a campaign, a budget or an endpoint."""

    type: str
    version: Literal[1]
    timestamp: Instant
    campaignId: Annotated[str | None, Field(description="null where it is about no campaign.")]
    facts: Annotated[
        dict[str, str],
        Field(
            description="campaign.budget.soft: scope, percent, taken, cap. "
            "campaign.completed: jobs, and how many ended as succeeded, failed, dlq, review and "
            "cancelled. campaign.halted: reason, since. "
            "endpoint.disabled: endpointId, reason, since, lastError, howToReturn."
        ),
    ]


def completed(customer: str, campaign: str, ends: Mapping[Status, int], at: datetime) -> Event:
    """Return the event of a campaign whose jobs have all ended, the last one at *at*.

    Whoever sees the same ends makes the same event.
    """
    jobs = sum(ends.values())
    counts = {status.value: str(ends.get(status, 0)) for status in OF_STATUS}
    return Event(
        event_id=f"campaign#{customer}#{campaign}#completed#{jobs}#{at.isoformat()}",
        type=EventType.CAMPAIGN_COMPLETED,
        customer=customer,
        at=at,
        campaign=campaign,
        facts={"jobs": str(jobs), **counts},
    )


def halted(customer: str, campaign: str, *, reason: str, since: datetime) -> Event:
    """Return the event of a campaign that has been put on hold."""
    return Event(
        event_id=f"campaign#{customer}#{campaign}#halted#{since.isoformat()}",
        type=EventType.CAMPAIGN_HALTED,
        customer=customer,
        at=since,
        campaign=campaign,
        facts={"reason": reason, "since": instant(since)},
    )


def is_of_a_job(kind: EventType) -> bool:
    """Say whether an event's payload is a `JobEvent`; any other is a `FactsEvent`."""
    return kind.value.startswith(("job.", "asset."))


def facts_payload(event: Event) -> FactsEvent:
    """Return the payload of an event that is about no job."""
    return {
        "type": event.type.value,
        "version": VERSION,
        "timestamp": instant(event.at),
        "campaignId": event.campaign or None,
        "facts": dict(event.facts),
    }


def body_of(payload: JobEvent | FactsEvent) -> str:
    """Return a payload as the text whose bytes are signed and sent.

    Raises:
        ValueError: It is over `BODY_LIMIT`, which nothing that we write can be.
    """
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > BODY_LIMIT:
        raise ValueError(f"The payload of {payload['type']} is over {BODY_LIMIT} bytes.")
    return text


def schema(kind: EventType, *, reference: str = "#/$defs/{model}") -> dict[str, Any]:
    """Return the JSON Schema of an event's payload."""
    shape = TypeAdapter(JobEvent if is_of_a_job(kind) else FactsEvent)
    told = shape.json_schema(ref_template=reference)
    told["properties"]["type"] = {"const": kind.value}
    return told | {"title": kind.value, "description": SAYS[kind]}


def instant(at: datetime) -> str:
    """Return an instant as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
