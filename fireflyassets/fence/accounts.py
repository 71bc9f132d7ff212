"""The fence's report: what was billed, between which bounds, and a named row for every gap.

Belongs here: the sums of one job's history by day, pure. Does not: reading ledgers, printing.

    bound + orphaned <= billed <= bound + orphaned + unknown + possible duplicates
                                  + possible cost of 5xx + accepted but failed + in flight
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cause
from fireflyassets.ports.entries import (
    UNNAMED,
    Attempt,
    AttemptState,
    History,
    Operation,
    Verdict,
)

Price = Callable[[JobRow, Attempt], Decimal]
"""What one send of a step costs by the card of its day."""


class Part(StrEnum):
    """What a send's operations are to the bill."""

    BOUND = "bound"
    ORPHANED = "orphaned"
    UNKNOWN = "unknown"
    POSSIBLE_DUPLICATE = "possible_duplicate"
    POSSIBLE_COST = "possible_cost"
    ACCEPTED_BUT_FAILED = "accepted_but_failed"
    IN_FLIGHT = "in_flight"


CERTAIN = frozenset({Part.BOUND, Part.ORPHANED})
"""What the vendor billed for sure; every other part is a gap between the bounds."""

_OF_CAUSE = {
    Cause.FIRST_TRY: Part.BOUND,
    Cause.RETRY: Part.BOUND,
    Cause.REGENERATE: Part.BOUND,
    Cause.DUPLICATE: Part.BOUND,
    Cause.EXTRA_VARIANT: Part.BOUND,
    Cause.EXTRA_ASPECT: Part.BOUND,
    Cause.ORPHANED: Part.ORPHANED,
    Cause.POSSIBLE_DUPLICATE: Part.POSSIBLE_DUPLICATE,
    Cause.POSSIBLE_COST: Part.POSSIBLE_COST,
    Cause.ACCEPTED_BUT_FAILED: Part.ACCEPTED_BUT_FAILED,
    Cause.CANCELLED_LATE: Part.ORPHANED,
}
"""What was saved by the cache is no part of any bill."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One send, or one output of it, and what it is to the bill."""

    part: Part
    job_id: str
    step: str
    n: int
    vendor_id: str | None
    operations: Decimal
    day: date
    """Of the send, in UTC: the vendor bills when it accepts."""
    why: str


@dataclass(frozen=True, slots=True)
class Account:
    """A campaign's bill on one day under one credential."""

    campaign: str
    credential: str
    day: date
    entries: list[Entry] = field(default_factory=list[Entry])

    def total(self, part: Part) -> Decimal:
        """Return the operations of one part."""
        found = (one.operations for one in self.entries if one.part is part)
        return sum(found, Decimal(0))

    @property
    def at_least(self) -> Decimal:
        """Return what was billed at least."""
        return sum((self.total(part) for part in CERTAIN), Decimal(0))

    @property
    def at_most(self) -> Decimal:
        """Return what was billed at most."""
        return sum((self.total(part) for part in Part), Decimal(0))

    def gaps(self) -> list[Entry]:
        """Return what lies between the bounds, send by send."""
        return [one for one in self.entries if one.part not in CERTAIN]


def accounts(work: Iterable[tuple[JobRow, History]], price: Price) -> list[Account]:
    """Return the accounts of jobs with their histories, by campaign, credential and day."""
    found: dict[tuple[str, str, date], Account] = {}
    for row, history in work:
        slug = f"{row.customer_id}/{row.campaign_id}"
        for entry in entries(row, history, price):
            key = (slug, row.credential, entry.day)
            found.setdefault(key, Account(*key)).entries.append(entry)
    return [found[key] for key in sorted(found)]


def entries(row: JobRow, history: History, price: Price) -> Iterator[Entry]:
    """Yield one entry for each operation row, and for each send that has none and may be billed."""
    sends = {(one.step, one.generation, one.n): one for one in history.attempts}
    booked: set[tuple[str, int, int]] = set()
    for operation in history.operations:
        key = (operation.step, operation.generation, operation.n)
        booked.add(key)
        if operation.cause in _OF_CAUSE:
            yield _booked(operation, sends.get(key))
    for key, send in sends.items():
        if key not in booked and (part := _unbooked(send)):
            yield Entry(
                part=part,
                job_id=row.job_id,
                step=send.step,
                n=send.n,
                vendor_id=send.vendor_id,
                operations=price(row, send),
                day=send.submitted_at.date(),
                why=_why(send),
            )


def _booked(operation: Operation, send: Attempt | None) -> Entry:
    named = operation.vendor_id.startswith(UNNAMED)
    return Entry(
        part=_part(operation, send),
        job_id=operation.job_id,
        step=operation.step,
        n=operation.n,
        vendor_id=None if named else operation.vendor_id,
        operations=operation.operations,
        day=(send.submitted_at if send else operation.booked_at).date(),
        why=_why(send) if send else operation.cause.value,
    )


def _part(operation: Operation, send: Attempt | None) -> Part:
    """Return what a booked send is to the bill: one that is open yet may still become another."""
    if send is not None and operation.cause is Cause.ACCEPTED_BUT_FAILED:
        if send.state is AttemptState.ACCEPTED:
            return Part.IN_FLIGHT
        if send.is_unknown:
            return Part.UNKNOWN
    return _OF_CAUSE[operation.cause]


def _unbooked(send: Attempt) -> Part | None:
    """Return what a send without an operation row is to the bill; None: certainly nothing."""
    if send.state is AttemptState.ACCEPTED:
        return Part.IN_FLIGHT
    if send.decision is not None and send.decision.verdict is Verdict.RESUBMIT:
        return Part.POSSIBLE_DUPLICATE
    return Part.UNKNOWN if send.state in {AttemptState.SUBMITTING, AttemptState.LOST} else None


def _why(send: Attempt) -> str:
    said = send.fault or send.state.value
    if send.decision is None:
        return said
    return f"{said}; {send.decision.verdict} by {send.decision.by}"
