"""Events to and from items of the table ``outbox``.

Belongs here: attribute names, and which items the index ``pending`` has. Does not: when an event is
written.
"""

from typing import Final

from fireflyassets.adapters import outbox
from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core.event import OF_STATUS, Event, EventType
from fireflyassets.core.status import Status

PENDING: Final = "pending"
_TYPES: Final = frozenset(EventType)


def event_item(event: StatusEvent) -> Item:
    """Return the outbox item of an event."""
    return {
        **pending(is_told=event.status in OF_STATUS),
        "eventId": to.text(event.event_id),
        "jobId": to.text(event.job_id),
        "customer": to.text(event.customer),
        "campaign": to.text(event.campaign),
        "status": to.text(event.status),
        "at": to.instant(event.at),
        "version": to.number(event.version),
    }


def event_of(item: Item) -> StatusEvent:
    """Return the event of an outbox item."""
    read = Reader(item)
    return StatusEvent(
        event_id=read.text("eventId"),
        job_id=read.text("jobId"),
        customer=read.text("customer"),
        campaign=read.text("campaign"),
        status=Status(read.text("status")),
        at=read.instant("at"),
        version=read.integer("version"),
    )


def pending(*, is_told: bool) -> Item:
    """Return what puts an item before whoever tells customers, if they are told of it."""
    return {"pendingKey": to.text(PENDING)} if is_told else {}


def own_item(event: Event) -> Item:
    """Return the outbox item of an event that is no move of a job's status."""
    return {
        **pending(is_told=True),
        **to.present({"jobId": to.text(event.job_id) if event.job_id else None}),
        "sequence": to.number(event.sequence),
        "eventId": to.text(event.event_id),
        "kind": to.text(event.type),
        "customer": to.text(event.customer),
        "campaign": to.text(event.campaign),
        "at": to.instant(event.at),
        "facts": to.mapping({name: to.text(fact) for name, fact in event.facts.items()}),
    }


def told_of(item: Item) -> Event | None:
    """Return what customers are told of an item; None: nothing."""
    read = Reader(item)
    if read.has("status"):
        return outbox.told_of(event_of(item))
    kind_said = read.text("kind")
    if kind_said not in _TYPES:
        return None
    facts = read.mapping("facts")
    return Event(
        event_id=read.text("eventId"),
        type=EventType(kind_said),
        customer=read.text("customer"),
        at=read.instant("at"),
        job_id=read.maybe_text("jobId") or "",
        campaign=read.maybe_text("campaign") or "",
        sequence=read.maybe_integer("sequence") or 0,
        facts={name: facts.text(name) for name in facts.names()},
    )
