"""Results, attempts and operations to and from items of the table ``work``.

Belongs here: attribute names and sort keys of what was sent and made for a job. Does not: jobs
and waves (``aws/codec.py``). Numbers in sort keys are padded, so that keys sort as numbers do.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.core.failure import Family
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.money import Cause
from fireflyassets.ports.entries import Attempt, AttemptState, Decision, Operation, Verdict

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

STEP: Final = "step#"
ATTEMPT: Final = "attempt#"
OPERATION: Final = "operation#"
OPEN: Final = "open"
"""What the sends that are owed an answer are found under."""


def work_key(job_id: str, sort: str) -> Item:
    """Return the primary key of a piece of a job's work."""
    return {"jobId": to.text(job_id), "sk": to.text(sort)}


def attempt_key(attempt: Attempt) -> Item:
    """Return the primary key of an attempt."""
    return send_key(attempt.job_id, attempt.step, attempt.generation, attempt.n)


def send_key(job_id: str, step: str, generation: int, n: int) -> Item:
    """Return the primary key of a step's n-th send."""
    return work_key(job_id, f"{ATTEMPT}{step}#{generation:04d}#{n:05d}")


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
        "step": to.text(attempt.step),
        "generation": to.number(attempt.generation),
        "n": to.number(attempt.n),
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


def attempt_of(item: Item) -> Attempt:
    """Return the attempt of an item."""
    read = Reader(item)
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


def result_item(result: StepResult) -> Item:
    """Return the item of a step's result."""
    picture = result.picture
    return to.present(
        {
            **work_key(result.job_id, f"{STEP}{result.step}#{result.generation:04d}"),
            "step": to.text(result.step),
            "generation": to.number(result.generation),
            "n": to.number(result.n),
            "picture": to.mapping(
                {
                    "key": to.text(picture.key),
                    "sha256": to.text(picture.sha256),
                    "mediaType": to.text(picture.media_type),
                    "width": to.number(picture.width),
                    "height": to.number(picture.height),
                    "sizeBytes": to.number(picture.size_bytes),
                }
            ),
            "operations": to.number(result.operations),
            "model": None if result.model is None else to.text(result.model),
            "seed": None if result.seed is None else to.number(result.seed),
            "ignoredWords": to.flag(value=True) if result.ignored_words else None,
            "facts": to.mapping({name: to.text(fact) for name, fact in result.facts.items()}),
        }
    )


def result_of(item: Item) -> StepResult:
    """Return the step's result of an item."""
    read = Reader(item)
    facts = read.mapping("facts")
    return StepResult(
        job_id=read.text("jobId"),
        step=read.text("step"),
        generation=read.integer("generation"),
        n=read.integer("n"),
        picture=_picture(read.mapping("picture")),
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


def operation_key(job_id: str, vendor_id: str, output: int) -> Item:
    """Return the primary key of an operation row."""
    return work_key(job_id, f"{OPERATION}{vendor_id}#{output:04d}")


def operation_item(operation: Operation) -> Item:
    """Return the item of an operation row."""
    return {
        **operation_key(operation.job_id, operation.vendor_id, operation.output),
        "vendorId": to.text(operation.vendor_id),
        "output": to.number(operation.output),
        "step": to.text(operation.step),
        "generation": to.number(operation.generation),
        "n": to.number(operation.n),
        "customer": to.text(operation.customer),
        "campaign": to.text(operation.campaign),
        "operations": to.number(operation.operations),
        "rateCard": to.text(operation.rate_card),
        "cause": to.text(operation.cause),
        "bookedAt": to.instant(operation.booked_at),
    }


def operation_of(item: Item) -> Operation:
    """Return the operation of an item."""
    read = Reader(item)
    return Operation(
        job_id=read.text("jobId"),
        vendor_id=read.text("vendorId"),
        output=read.integer("output"),
        step=read.text("step"),
        generation=read.integer("generation"),
        n=read.integer("n"),
        customer=read.text("customer"),
        campaign=read.text("campaign"),
        operations=read.decimal("operations"),
        rate_card=read.text("rateCard"),
        cause=Cause(read.text("cause")),
        booked_at=read.instant("bookedAt"),
    )
