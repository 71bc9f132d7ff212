"""Endpoints and deliveries as JSON, and the bodies that ask for them.

Belongs here: names and forms of fields. Does not: routes, rules.
"""

import re
from datetime import timedelta
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from fireflyassets.core.endpoint import Attempt, Delivery, Endpoint, Kind
from fireflyassets.core.event import EventType, Instant, instant

TOPIC: Final = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:(?P<account>[0-9]{12}):[A-Za-z0-9_-]+")


class NewEndpoint(BaseModel):
    """What an endpoint is made of."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"url": "https://hooks.example.com/in", "types": ["job.succeeded"]}
        },
    )

    url: str = Field(min_length=1, max_length=500, description="https, or the ARN of a topic.")
    kind: Kind = Kind.WEBHOOK
    types: list[EventType] = Field(default_factory=list[EventType], max_length=len(EventType))


class ChangedEndpoint(BaseModel):
    """What is to be different; what is left out stays."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"enabled": True}})

    url: str | None = Field(default=None, min_length=1, max_length=500)
    types: list[EventType] | None = Field(default=None, max_length=len(EventType))
    enabled: bool | None = Field(default=None, strict=True)


class EndpointShape(TypedDict):
    """Where a customer is told of events, and how that goes."""

    endpointId: str
    kind: Annotated[str, Field(json_schema_extra={"enum": [one.value for one in Kind]})]
    url: str
    types: Annotated[list[str], Field(description="Empty: every event.")]
    state: Annotated[str, Field(description="active, polling (down, being probed) or disabled.")]
    failures: Annotated[int, Field(description="In a row.")]
    failingSince: Instant | None
    retryAt: Annotated[Instant | None, Field(description="It is left alone until then.")]
    lastError: str | None
    olderSecretUntil: Annotated[Instant | None, Field(description="Two secrets sign until then.")]
    createdAt: Instant


class EndpointWithSecret(EndpointShape, TypedDict):
    """An endpoint with its newest secret, which is shown this once."""

    secret: str


class EndpointList(TypedDict):
    """All endpoints of a customer."""

    endpoints: list[EndpointShape]


class AttemptShape(TypedDict):
    """One try."""

    at: Instant
    status: Annotated[int | None, Field(description="null: no answer came.")]
    milliseconds: int
    said: Annotated[str, Field(description="The head of the answer, or why there was none.")]


class DeliveryShape(TypedDict):
    """One event for one endpoint."""

    deliveryId: str
    endpointId: str
    webhookId: Annotated[str, Field(description="The header webhook-id: the same in each try.")]
    type: str
    jobId: str | None
    outcome: Annotated[str, Field(description="waiting, delivered or failed.")]
    createdAt: Instant
    dueAt: Annotated[Instant | None, Field(description="When it is tried next.")]
    attempts: list[AttemptShape]


class DeliveryWithBody(DeliveryShape, TypedDict):
    """A delivery with the text whose bytes are signed."""

    body: str


class DeliveryList(TypedDict):
    """A page of deliveries, the newest first."""

    deliveries: list[DeliveryShape]
    next: Annotated[str | None, Field(description="The cursor of the next page; null at the end.")]


class Replayed(TypedDict):
    """How many deliveries are due again."""

    replayed: int


def endpoint(one: Endpoint) -> EndpointShape:
    """Return an endpoint, without any secret."""
    health = one.health
    return {
        "endpointId": one.endpoint_id,
        "kind": one.kind.value,
        "url": one.url,
        "types": sorted(one.types),
        "state": health.state.value,
        "failures": health.failures,
        "failingSince": instant(health.failing_since) if health.failing_since else None,
        "retryAt": instant(health.retry_at) if health.retry_at else None,
        "lastError": health.last_error or None,
        "olderSecretUntil": instant(one.older_until) if one.older_until else None,
        "createdAt": instant(one.created_at),
    }


def delivery(one: Delivery) -> DeliveryShape:
    """Return a delivery with its tries."""
    return {
        "deliveryId": one.delivery_id,
        "endpointId": one.endpoint_id,
        "webhookId": one.webhook_id,
        "type": one.type.value,
        "jobId": one.job_id or None,
        "outcome": one.outcome.value,
        "createdAt": instant(one.created_at),
        "dueAt": instant(one.due_at) if one.due_at else None,
        "attempts": [_attempt(each) for each in one.attempts],
    }


def _attempt(one: Attempt) -> AttemptShape:
    return {
        "at": instant(one.at),
        "status": one.status,
        "milliseconds": round(one.took / timedelta(milliseconds=1)),
        "said": one.said,
    }
