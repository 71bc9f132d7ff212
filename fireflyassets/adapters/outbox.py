"""The outbox row that every change of a job's status but a claim writes in its own transaction.

Belongs here: what such a row says and how it is numbered, for every ledger. Does not: delivery.
"""

from dataclasses import dataclass
from datetime import datetime

from fireflyassets.adapters.budget_rules import BudgetEvent, EventKind
from fireflyassets.core.event import OF_STATUS, Event, EventType
from fireflyassets.core.review import told_as
from fireflyassets.core.status import Status
from fireflyassets.ports.reviews import Judging


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """One change of one job's status."""

    event_id: str
    """``job#epoch#status``: unique, since a job has one status of a kind in one epoch."""
    job_id: str
    customer: str
    campaign: str
    status: Status
    at: datetime
    version: int
    """Rises with each event of a job: a projection that has seen a higher one drops this one."""


def status_event(
    *, job_id: str, customer: str, campaign: str, epoch: int, status: Status, at: datetime
) -> StatusEvent:
    """Return the event of a job's move to *status* in *epoch*.

    An epoch begins with ``running``, of which nobody is told, and ends with any other status, so
    that its own number orders the events without a count being stored.
    """
    return StatusEvent(
        event_id=f"{job_id}#{epoch}#{status.value}",
        job_id=job_id,
        customer=customer,
        campaign=campaign,
        status=status,
        at=at,
        version=2 * epoch + (status is not Status.RUNNING),
    )


def asset_event(one: Judging) -> Event | None:
    """Return what customers are told of a decision; None: nothing.

    The decision is an epoch of its own, so its number is that of the epoch's end.
    """
    made = one.judgement
    kind = told_as(one.row.human_reviewed, made.move)
    if kind is None:
        return None
    return Event(
        event_id=f"{made.job_id}#{made.version}#{kind.value}",
        type=kind,
        customer=made.customer,
        at=made.at,
        job_id=made.job_id,
        campaign=one.row.campaign_id,
        sequence=2 * made.version + 1,
        facts={"code": made.code.value} if made.code else {},
    )


def told_of(event: StatusEvent | BudgetEvent) -> Event | None:
    """Return what customers are told of an event; None: nothing."""
    if isinstance(event, BudgetEvent):
        if event.kind is not EventKind.SOFT:
            return None
        return Event(
            event_id=event.event_id,
            type=EventType.BUDGET_SOFT,
            customer=event.customer,
            at=event.at,
            facts=dict(event.facts),
        )
    if event.status not in OF_STATUS:
        return None
    return Event(
        event_id=event.event_id,
        type=OF_STATUS[event.status],
        customer=event.customer,
        at=event.at,
        job_id=event.job_id,
        campaign=event.campaign,
        status=event.status,
        sequence=event.version,
    )
