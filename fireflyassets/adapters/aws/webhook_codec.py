"""Endpoints and deliveries to and from items of ``endpoints`` and ``deliveries``.

Belongs here: attribute names. Does not: when something is written.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.core.endpoint import (
    Attempt,
    Delivery,
    Endpoint,
    Health,
    Kind,
    Outcome,
    State,
)
from fireflyassets.core.event import EventType

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

LIVE: Final = "live"


def endpoint_key(customer: str, endpoint_id: str) -> Item:
    """Return the key of an endpoint."""
    return {"customer": to.text(customer), "endpointId": to.text(endpoint_id)}


def endpoint_item(one: Endpoint) -> Item:
    """Return the item of an endpoint."""
    health = one.health
    return {
        **endpoint_key(one.customer, one.endpoint_id),
        "live": to.text(LIVE),
        "kind": to.text(one.kind),
        "url": to.text(one.url),
        "types": to.texts(sorted(one.types)),
        "createdAt": to.instant(one.created_at),
        "secret": to.number(one.secret),
        "state": to.text(health.state),
        "failures": to.number(health.failures),
        "lastError": to.text(health.last_error),
        "version": to.number(one.version),
        **to.present(
            {
                "olderUntil": to.instant(one.older_until) if one.older_until else None,
                "failingSince": to.instant(health.failing_since) if health.failing_since else None,
                "retryAt": to.instant(health.retry_at) if health.retry_at else None,
            }
        ),
    }


def endpoint_of(item: Item) -> Endpoint:
    """Return the endpoint of an item."""
    read = Reader(item)
    return Endpoint(
        customer=read.text("customer"),
        endpoint_id=read.text("endpointId"),
        kind=Kind(read.text("kind")),
        url=read.text("url"),
        types=frozenset(map(EventType, read.texts("types"))),
        created_at=read.instant("createdAt"),
        secret=read.integer("secret"),
        older_until=read.maybe_instant("olderUntil"),
        health=Health(
            state=State(read.text("state")),
            failures=read.integer("failures"),
            failing_since=read.maybe_instant("failingSince"),
            retry_at=read.maybe_instant("retryAt"),
            last_error=read.text("lastError"),
        ),
        version=read.integer("version"),
    )


def delivery_key(customer: str, delivery_id: str) -> Item:
    """Return the key of a delivery."""
    return {"customer": to.text(customer), "deliveryId": to.text(delivery_id)}


def delivery_item(one: Delivery) -> Item:
    """Return the item of a delivery."""
    return {
        **delivery_key(one.customer, one.delivery_id),
        "endpointId": to.text(one.endpoint_id),
        "webhookId": to.text(one.webhook_id),
        "type": to.text(one.type),
        "body": to.text(one.body),
        "createdAt": to.instant(one.created_at),
        "ttl": to.epoch(one.expires_at),
        "outcome": to.text(one.outcome),
        "tries": to.number(one.tries),
        "attempts": {"L": [to.mapping(_attempt_item(each)) for each in one.attempts]},
        **to.present(
            {
                "dueAt": to.instant(one.due_at) if one.due_at else None,
                "jobId": to.text(one.job_id) if one.job_id else None,
                "askedAt": to.instant(one.asked_at) if one.asked_at else None,
            }
        ),
    }


def progress(one: Delivery) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what a try or a replay changes."""
    item = delivery_item(one)
    return {name: item.get(name) for name in ("outcome", "tries", "attempts", "dueAt")}


def delivery_of(item: Item) -> Delivery:
    """Return the delivery of an item."""
    read = Reader(item)
    return Delivery(
        customer=read.text("customer"),
        delivery_id=read.text("deliveryId"),
        endpoint_id=read.text("endpointId"),
        webhook_id=read.text("webhookId"),
        type=EventType(read.text("type")),
        body=read.text("body"),
        created_at=read.instant("createdAt"),
        outcome=Outcome(read.text("outcome")),
        due_at=read.maybe_instant("dueAt"),
        tries=read.integer("tries"),
        attempts=tuple(map(_attempt_of, read.readers("attempts"))),
        job_id=read.maybe_text("jobId") or "",
        asked_at=read.maybe_instant("askedAt"),
    )


def _attempt_item(one: Attempt) -> Item:
    wait = one.retry_after
    return {
        "at": to.instant(one.at),
        "took": to.number(_milliseconds(one.took)),
        "said": to.text(one.said),
        **to.present(
            {
                "status": to.number(one.status) if one.status is not None else None,
                "retryAfter": to.number(_milliseconds(wait)) if wait is not None else None,
            }
        ),
    }


def _attempt_of(read: Reader) -> Attempt:
    wait = read.maybe_integer("retryAfter")
    return Attempt(
        at=read.instant("at"),
        status=read.maybe_integer("status"),
        took=timedelta(milliseconds=read.integer("took")),
        said=read.text("said"),
        retry_after=None if wait is None else timedelta(milliseconds=wait),
    )


def _milliseconds(duration: timedelta) -> int:
    return round(duration / timedelta(milliseconds=1))
