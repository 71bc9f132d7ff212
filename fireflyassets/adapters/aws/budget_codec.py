"""Budgets to and from DynamoDB items: the tables ``budgets`` and ``audit``, and a job's booking.

Belongs here: attribute names and keys. Does not: when something is written. A month of a customer
is one partition: its counters and the blocks that stand, so that one query shows it whole.
"""

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.event_codec import pending
from fireflyassets.adapters.budget_rules import BudgetEvent, EventKind
from fireflyassets.core.budget import Block, Booking, Counter, Raise
from fireflyassets.ports.briefs import BegunBrief
from fireflyassets.ports.budgets import Audited

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

COUNTER: Final = "counter#"
BLOCK: Final = "block#"
OPEN: Final = "open"
"""What the blocks that stand are found under."""
OPEN_BRIEF: Final = "brief"
"""What briefs in mid-writing are found under."""


# -- keys -----------------------------------------------------------------------------------
def month_key(customer: str, month: str) -> "AttributeValueTypeDef":
    """Return what all of a customer's month is kept under."""
    return to.text(f"{customer}#{month}")


def counter_key(customer: str, month: str, scope: str) -> Item:
    """Return the primary key of a counter."""
    return {"budget": month_key(customer, month), "sk": to.text(f"{COUNTER}{scope}")}


def block_key(block: Block) -> Item:
    """Return the primary key of a block."""
    key = month_key(block.customer, block.month)
    return {"budget": key, "sk": to.text(f"{BLOCK}{block.block_id}")}


# -- a job's booking ------------------------------------------------------------------------
def booking_attribute(booking: Booking) -> "AttributeValueTypeDef":
    """Return a booking as a map."""
    return to.mapping(
        {
            "month": to.text(booking.month),
            "scopes": to.texts(booking.scopes),
            "held": to.number(booking.held),
            "spent": to.number(booking.spent),
        }
    )


def booking_of(read: Reader) -> Booking:
    """Return the booking of such a map."""
    return Booking(
        month=read.text("month"),
        scopes=read.texts("scopes"),
        held=read.decimal("held"),
        spent=read.decimal("spent"),
    )


# -- counters and blocks --------------------------------------------------------------------
def counter_of(item: Item) -> Counter:
    """Return the counter of an item."""
    read = Reader(item)
    customer, _, month = read.text("budget").rpartition("#")
    return Counter(
        customer=customer,
        month=month,
        scope=read.text("sk").removeprefix(COUNTER),
        taken=read.maybe_decimal("taken") or Decimal(0),
        spent=read.maybe_decimal("spent") or Decimal(0),
        cap=read.maybe_decimal("cap"),
        alerted=read.maybe_integer("alerted") or 0,
        raised=raise_of(read.mapping("raised")) if read.has("raised") else None,
        campaigns=frozenset(read.members("campaigns")),
        moved_at=read.maybe_instant("movedAt"),
    )


def block_item(block: Block) -> Item:
    """Return the item of a block; it stands in the index until it is gone."""
    return {
        **block_key(block),
        "campaign": to.text(block.campaign),
        "scopes": to.texts(block.scopes),
        "left": to.number(block.left),
        "madeAt": to.instant(block.made_at),
        "open": to.text(OPEN),
    }


def block_of(item: Item) -> Block:
    """Return the block of an item."""
    read = Reader(item)
    customer, _, month = read.text("budget").rpartition("#")
    return Block(
        block_id=read.text("sk").removeprefix(BLOCK),
        customer=customer,
        campaign=read.text("campaign"),
        month=month,
        scopes=read.texts("scopes"),
        left=read.decimal("left"),
        made_at=read.instant("madeAt"),
    )


# -- briefs in mid-writing ------------------------------------------------------------------
def brief_key(brief: BegunBrief) -> Item:
    """Return the primary key of a writer's word, which no month's is.

    Two writers of the same brief have the same manifest, and each takes back its own alone.
    """
    return {"budget": to.text(f"{brief.customer}#briefs"), "sk": to.text(brief.word)}


def brief_item(brief: BegunBrief) -> Item:
    """Return the item of a brief; it stands in the index of what is open until it is gone."""
    return {
        **brief_key(brief),
        "customer": to.text(brief.customer),
        "manifest": to.text(brief.manifest),
        "campaign": to.text(brief.campaign),
        "campaignVersion": to.text(brief.version),
        "rateCard": to.text(brief.rate_card),
        "partial": to.flag(value=brief.partial),
        "madeAt": to.instant(brief.made_at),
        "open": to.text(OPEN_BRIEF),
    }


def brief_of(item: Item) -> BegunBrief:
    """Return the brief of an item."""
    read = Reader(item)
    return BegunBrief(
        word=read.text("sk"),
        customer=read.text("customer"),
        campaign=read.text("campaign"),
        version=read.text("campaignVersion"),
        rate_card=read.text("rateCard"),
        manifest=read.text("manifest"),
        made_at=read.instant("madeAt"),
        partial=read.flag("partial"),
    )


# -- raises and events ----------------------------------------------------------------------
def raise_attributes(raised: Raise) -> Item:
    """Return a raise as attributes."""
    return {
        "operations": to.number(raised.operations),
        "until": to.instant(raised.until),
        "by": to.text(raised.by),
        "why": to.text(raised.why),
        "at": to.instant(raised.at),
    }


def raise_of(read: Reader) -> Raise:
    """Return the raise of such attributes."""
    return Raise(
        operations=read.decimal("operations"),
        until=read.instant("until"),
        by=read.text("by"),
        why=read.text("why"),
        at=read.instant("at"),
    )


def audit_subject(customer: str, month: str) -> "AttributeValueTypeDef":
    """Return what a month's audit is kept under."""
    return to.text(f"budget#{customer}#{month}")


def audit_item(audited: Audited, chance: str) -> Item:
    """Return the item of an audit entry; *chance* keeps two of one millisecond apart."""
    return {
        "subject": audit_subject(audited.customer, audited.month),
        "sk": to.text(f"{to.iso(audited.raised.at)}#{chance}"),
        "customer": to.text(audited.customer),
        "month": to.text(audited.month),
        "scope": to.text(audited.scope),
        **raise_attributes(audited.raised),
    }


def audited_of(item: Item) -> Audited:
    """Return the audit entry of an item."""
    read = Reader(item)
    return Audited(read.text("customer"), read.text("month"), read.text("scope"), raise_of(read))


def event_item(event: BudgetEvent) -> Item:
    """Return the outbox item of an event."""
    return {
        **pending(is_told=event.kind is EventKind.SOFT),
        "eventId": to.text(event.event_id),
        "kind": to.text(event.kind),
        "customer": to.text(event.customer),
        "month": to.text(event.month),
        "at": to.instant(event.at),
        "facts": to.mapping({name: to.text(fact) for name, fact in event.facts}),
    }


def event_of(item: Item) -> BudgetEvent:
    """Return the event of an outbox item."""
    read = Reader(item)
    facts = read.mapping("facts")
    return BudgetEvent(
        event_id=read.text("eventId"),
        kind=EventKind(read.text("kind")),
        customer=read.text("customer"),
        month=read.text("month"),
        at=read.instant("at"),
        facts=tuple((name, facts.text(name)) for name in facts.names()),
    )
