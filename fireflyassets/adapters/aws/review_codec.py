"""Decisions to and from DynamoDB items.

Belongs here: attribute names of the table ``reviews``, and what a decision writes into a job's row.
Does not: when it is written.
"""

from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Act, Code, Judgement, Move
from fireflyassets.core.status import HumanReview
from fireflyassets.ports.reviews import Judging, View

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Attributes = dict[str, "AttributeValueTypeDef | None"]
_DIGITS: Final = 10
"""Of a version in a sort key."""


# -- in a job's row -------------------------------------------------------------------------
def row_attributes(row: JobRow) -> Attributes:
    """Return what a row says of its review, and what it is found under for it."""
    return {
        "looks": looks_attribute(row.looks),
        "judged": judged_attribute(row.judged) if row.judged else None,
        **pending_attributes(row, row.human_reviewed),
    }


def pending_attributes(row: JobRow, review: HumanReview) -> Attributes:
    """Return what a job is found under while its review is open."""
    line = f"{row.customer_id}#{row.campaign_id}"
    return {"reviewKey": to.text(line) if review is HumanReview.PENDING else None}


def looks_attribute(looks: tuple[int, ...]) -> "AttributeValueTypeDef | None":
    """Return perceptual hashes as a list; None where there are none."""
    return to.texts([f"{one:016x}" for one in looks]) if looks else None


def looks_of(read: Reader) -> tuple[int, ...]:
    """Return the hashes of such a list."""
    return tuple(int(one, 16) for one in read.texts("looks")) if read.has("looks") else ()


def judged_attribute(judgement: Judgement) -> "AttributeValueTypeDef":
    """Return the last decision as a map, without its note: rows stay small."""
    return to.mapping(_said(judgement))


def judged_of(read: Reader) -> Judgement | None:
    """Return the last decision of a row."""
    if not read.has("judged"):
        return None
    return _judgement(read.mapping("judged"), read.text("jobId"), read.text("customerId"))


def judged(one: Judging) -> Attributes:
    """Return what a decision writes into a job's row, its epoch apart."""
    made = one.judgement
    return {
        "humanReviewed": to.text(one.review),
        "judged": judged_attribute(made),
        "updatedAt": to.instant(made.at),
        "ttl": to.epoch(one.ttl) if one.ttl else None,
        "unshownAt": to.text(f"{to.iso(made.at)}#{made.job_id}"),
        **pending_attributes(one.row, one.review),
        **unshown_attributes(View.OBJECTS),
    }


def unshown_attributes(view: View | None) -> Attributes:
    """Return what a job is found under until a view shows its last decision."""
    if view is None:
        return {"unshownKey": None, "unshownAt": None}
    return {"unshownKey": to.text(view)}


# -- in the table ---------------------------------------------------------------------------
def judgement_item(one: Judgement) -> Item:
    """Return the item of a decision."""
    note: Item = {"note": to.text(one.note)} if one.note else {}
    key: Item = {"subject": to.text(one.job_id), "sk": to.text(f"{one.version:0{_DIGITS}}")}
    return {**key, "customer": to.text(one.customer), **_said(one), **note}


def judgement_of(item: Item) -> Judgement:
    """Return the decision of an item."""
    read = Reader(item)
    return _judgement(read, read.text("subject"), read.text("customer"))


def acts_subject(customer: str) -> "AttributeValueTypeDef":
    """Return what a customer's acts are found under; no job's id holds a ``#``."""
    return to.text(f"acts#{customer}")


def act_item(act: Act) -> Item:
    """Return the item of an act."""
    return to.present(
        {
            "subject": acts_subject(act.customer),
            "sk": to.text(f"{to.iso(act.at)}#{act.act}"),
            "act": to.text(act.act),
            "customer": to.text(act.customer),
            "campaign": to.text(act.campaign),
            "by": to.text(act.by),
            "at": to.instant(act.at),
            "move": to.text(act.move),
            "asked": to.number(act.asked),
            "code": to.text(act.code) if act.code else None,
            "sampled": to.texts(act.sampled),
        }
    )


def act_of(item: Item) -> Act:
    """Return the act of an item."""
    read = Reader(item)
    return Act(
        act=read.text("act"),
        customer=read.text("customer"),
        campaign=read.text("campaign"),
        by=read.text("by"),
        at=read.instant("at"),
        move=Move(read.text("move")),
        asked=read.integer("asked"),
        code=_code_of(read),
        sampled=read.texts("sampled"),
    )


def since_bound(since: "datetime") -> "AttributeValueTypeDef":
    """Return a bound just before all acts from then on."""
    return to.text(to.iso(since))


def _said(one: Judgement) -> Item:
    said = {
        "version": to.number(one.version),
        "move": to.text(one.move),
        "by": to.text(one.by),
        "at": to.instant(one.at),
        "act": to.text(one.act),
        "code": to.text(one.code) if one.code else None,
    }
    return to.present(said)


def _judgement(read: Reader, job_id: str, customer: str) -> Judgement:
    return Judgement(
        job_id=job_id,
        customer=customer,
        version=read.integer("version"),
        move=Move(read.text("move")),
        by=read.text("by"),
        at=read.instant("at"),
        act=read.text("act"),
        code=_code_of(read),
        note=read.maybe_text("note") or "",
    )


def _code_of(read: Reader) -> Code | None:
    code = read.maybe_text("code")
    return Code(code) if code else None
