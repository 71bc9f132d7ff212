"""Events to and from items of the table ``outbox``.

Belongs here: attribute names. Does not: when an event is written.
"""

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core.status import Status


def event_item(event: StatusEvent) -> Item:
    """Return the outbox item of an event."""
    return {
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
