"""Results, attempts and operations to and from items of the table ``work``.

Belongs here: attribute names and sort keys of what was sent and made for a job. Does not: jobs
and waves (``aws/codec.py``). Numbers in sort keys are padded, so that keys sort as numbers do.

One item for each send: what it is, what is booked for it, and, in a step's first, the step's
result. A paid call is so three small writes, each billed by the kilobyte of one item.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.expressions import Change
from fireflyassets.adapters.ledger_rules import RESTATED
from fireflyassets.core.failure import Family
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.money import Cause
from fireflyassets.ports.entries import (
    UNNAMED,
    Attempt,
    AttemptState,
    Decision,
    Operation,
    Verdict,
    unnamed,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

FIRST: Final = 1
"""The number of a step's first send."""
OPEN: Final = "open"
"""What the sends that are owed an answer are found under."""
_NAMED: Final = ("taken", "spent")
_NAMELESS: Final = ("maybe", "perhaps")
"""Places of operations by the vendor's id and by their send alone: the first of each holds what may
be restated, the second what says more. Neither is written over, so that no write needs a look."""


def attempt_key(attempt: Attempt) -> Item:
    """Return the primary key of an attempt."""
    return send_key(attempt.job_id, attempt.step, attempt.generation, attempt.n)


def send_key(job_id: str, step: str, generation: int, n: int) -> Item:
    """Return the primary key of a step's n-th send."""
    return {"jobId": to.text(job_id), "sk": to.text(f"{step}#{generation:04d}#{n:05d}")}


def result_key(result: StepResult) -> Item:
    """Return the primary key of what holds a step's result: its first send, whichever made it."""
    return send_key(result.job_id, result.step, result.generation, FIRST)


def send_attributes(step: str, generation: int, n: int) -> Item:
    """Return what every item says: the parts of its own key."""
    return {"step": to.text(step), "generation": to.number(generation), "n": to.number(n)}


def open_attributes(attempt: Attempt) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what puts an open send into its index, and takes any other one out."""
    if not attempt.is_open:
        return {"open": None, "openAt": None}
    sends = f"{attempt.job_id}#{attempt.step}#{attempt.n}"
    return {
        "open": to.text(OPEN),
        "openAt": to.text(f"{to.iso(attempt.submitted_at)}#{sends}"),
    }


def open_bound(at: datetime, *, behind: bool) -> "AttributeValueTypeDef":
    """Return a bound in the index just before, or behind, the sends of one millisecond."""
    return to.text(f"{to.iso(at)}{'$' if behind else '#'}")


def attempt_attributes(attempt: Attempt) -> Item:
    """Return everything of an attempt but its key."""
    decision = attempt.decision
    optional = {
        "outputKey": attempt.output_key,
        "vendorId": attempt.vendor_id,
        "statusUrl": attempt.status_url,
        "cancelUrl": attempt.cancel_url,
        "fault": attempt.fault,
        "decision": decision.verdict if decision else None,
        "decidedBy": decision.by if decision else None,
        "decidedAt": to.iso(decision.at) if decision else None,
        "decidedWhy": decision.why if decision else None,
    }
    return {
        **send_attributes(attempt.step, attempt.generation, attempt.n),
        "family": to.text(attempt.family),
        "organisation": to.text(attempt.organisation),
        "wave": to.text(attempt.wave_id),
        "epoch": to.number(attempt.epoch),
        "submittedAt": to.instant(attempt.submitted_at),
        "cause": to.text(attempt.cause),
        "state": to.text(attempt.state),
        "replay": to.number(attempt.replay),
        "counts": to.flag(value=attempt.counts),
        **{name: to.text(value) for name, value in optional.items() if value is not None},
    }


def attempt_of(item: Item) -> Attempt | None:
    """Return the attempt of an item; None where nobody wrote that it began."""
    read = Reader(item)
    if not read.has("state"):
        return None
    return Attempt(
        job_id=read.text("jobId"),
        step=read.text("step"),
        generation=read.integer("generation"),
        n=read.integer("n"),
        family=Family(read.text("family")),
        organisation=read.text("organisation"),
        wave_id=read.text("wave"),
        epoch=read.integer("epoch"),
        submitted_at=read.instant("submittedAt"),
        output_key=read.maybe_text("outputKey"),
        cause=Cause(read.text("cause")),
        state=AttemptState(read.text("state")),
        replay=read.integer("replay"),
        counts=read.flag("counts"),
        vendor_id=read.maybe_text("vendorId"),
        status_url=read.maybe_text("statusUrl"),
        cancel_url=read.maybe_text("cancelUrl"),
        fault=read.maybe_text("fault"),
        decision=_decision(read),
    )


def _decision(read: Reader) -> Decision | None:
    if not read.has("decision"):
        return None
    verdict = Verdict(read.text("decision"))
    by, why = read.text("decidedBy"), read.maybe_text("decidedWhy")
    return Decision(verdict, by=by, at=read.instant("decidedAt"), why=why)


def result_attribute(result: StepResult) -> "AttributeValueTypeDef":
    """Return a step's result as a map."""
    picture = result.picture
    held: dict[str, AttributeValueTypeDef | None] = {
        "n": to.number(result.n),
        "key": to.text(picture.key),
        "sha256": to.text(picture.sha256),
        "mediaType": to.text(picture.media_type),
        "width": to.number(picture.width),
        "height": to.number(picture.height),
        "sizeBytes": to.number(picture.size_bytes),
        "operations": to.number(result.operations),
        "model": None if result.model is None else to.text(result.model),
        "seed": None if result.seed is None else to.number(result.seed),
        "ignoredWords": to.flag(value=True) if result.ignored_words else None,
        "facts": to.mapping({name: to.text(fact) for name, fact in result.facts.items()}),
    }
    return to.mapping(to.present(held))


def result_of(item: Item) -> StepResult | None:
    """Return the step's result that an item holds, if it is a step's first send and has one."""
    row = Reader(item)
    if not row.has("result"):
        return None
    read = row.mapping("result")
    facts = read.mapping("facts")
    return StepResult(
        job_id=row.text("jobId"),
        step=row.text("step"),
        generation=row.integer("generation"),
        n=read.integer("n"),
        picture=_picture(read),
        operations=read.decimal("operations"),
        model=read.maybe_text("model"),
        seed=read.maybe_integer("seed"),
        ignored_words=read.has("ignoredWords") and read.flag("ignoredWords"),
        facts={name: facts.text(name) for name in facts.names()},
    )


def _picture(read: Reader) -> Picture:
    return Picture(
        key=read.text("key"),
        sha256=read.text("sha256"),
        media_type=read.text("mediaType"),
        width=read.integer("width"),
        height=read.integer("height"),
        size_bytes=read.integer("sizeBytes"),
    )


def booked(operations: Iterable[Operation]) -> Change:
    """Return what books operations of one send: a cause that says more stands, whoever is late."""
    rows = list(operations)
    weaker = [_place(replace(one, cause=RESTATED)) for one in rows if one.cause is not RESTATED]
    return Change(
        dict.fromkeys(weaker), firsts={_place(one): _charge(one) for one in rows} | _of(rows)
    )


def stated(operations: Iterable[Operation]) -> Change:
    """Return what states operations of one send, whatever was known of them."""
    rows = list(operations)
    change, sure = booked(rows), {_place(one): _charge(one) for one in rows}
    return Change({**change.sets, **sure}, firsts=_of(rows))


def named(operations: Iterable[Operation]) -> Change:
    """Return what books operations by the vendor's id, no more by their send alone."""
    rows = list(operations)
    change = booked(rows)
    nameless = [f"{place}_{one.output}" for one in rows for place in _NAMELESS]
    return Change({**change.sets, **dict.fromkeys(nameless)}, firsts=change.firsts)


def operations_of(item: Item) -> list[Operation]:
    """Return the operations that an item holds, each as the surest cause has it."""
    read = Reader(item)
    found: dict[str, Operation] = {}
    for place in (*_NAMED, *_NAMELESS):
        for name in read.names():
            kind, _, output = name.rpartition("_")
            if kind == place:
                found[f"{place in _NAMED}#{output}"] = _operation(read, name, int(output))
    return list(found.values())


def _place(operation: Operation) -> str:
    """Return the attribute of an operation: by the vendor's id or without, by what is known."""
    nameless = operation.vendor_id.startswith(UNNAMED)
    weak, sure = _NAMELESS if nameless else _NAMED
    return f"{weak if operation.cause is RESTATED else sure}_{operation.output}"


def _charge(operation: Operation) -> "AttributeValueTypeDef":
    return to.mapping(
        {
            "operations": to.number(operation.operations),
            "rateCard": to.text(operation.rate_card),
            "cause": to.text(operation.cause),
            "bookedAt": to.instant(operation.booked_at),
        }
    )


def _of(operations: Iterable[Operation]) -> Item:
    """Return what the operations of one send have in common."""
    common: Item = {}
    for one in operations:
        common |= {"customer": to.text(one.customer), "campaign": to.text(one.campaign)}
        common |= send_attributes(one.step, one.generation, one.n)
        if not one.vendor_id.startswith(UNNAMED):
            common["vendorId"] = to.text(one.vendor_id)
    return common


def _operation(row: Reader, name: str, output: int) -> Operation:
    charge, send = (
        row.mapping(name),
        (row.text("step"), row.integer("generation"), row.integer("n")),
    )
    is_named = name.startswith(_NAMED)
    return Operation(
        job_id=row.text("jobId"),
        vendor_id=row.text("vendorId") if is_named else unnamed(*send),
        output=output,
        step=send[0],
        generation=send[1],
        n=send[2],
        customer=row.text("customer"),
        campaign=row.text("campaign"),
        operations=charge.decimal("operations"),
        rate_card=charge.text("rateCard"),
        cause=Cause(charge.text("cause")),
        booked_at=charge.instant("bookedAt"),
    )
