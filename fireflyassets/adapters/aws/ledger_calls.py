"""Paid calls in the DynamoDB ledger: attempts, results, operations.

Belongs here: what was sent and made for a job. Does not: the job's row, which only `bind` looks at.
What was paid is written under no condition but that nothing known is overwritten.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, work_codec
from fireflyassets.adapters.aws.database import Applied, Committed, query
from fireflyassets.adapters.aws.expressions import Change, Condition, check, new, put, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.aws.ledger_turns import lost, owned
from fireflyassets.adapters.ledger_rules import may_be_restated, orphaned
from fireflyassets.core.job import StepResult
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    History,
    Operation,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_CREATOR: Final = "creator"
"""Names the call that created an attempt, so that a retry of it knows its own row."""


class LedgerCalls(LedgerBase):
    """The spend fence's part of the ledger."""

    def history(self, job_id: str) -> History:
        """Return everything sent and made for a job, read consistently, all pages."""
        condition = Condition("#jobId = :job", {":job": to.text(job_id)})
        items = list(self._database.pages(query(self._tables.work, condition)))
        results = filter(None, map(work_codec.result_of, items))
        found: dict[tuple[str, int], Operation] = {}
        for one in chain.from_iterable(map(work_codec.operations_of, items)):
            key = (one.vendor_id, one.output)
            if may_be_restated(found.get(key)):
                found[key] = one
        return History(
            steps={(result.step, result.generation): result for result in results},
            attempts=tuple(filter(None, map(work_codec.attempt_of, items))),
            operations=tuple(found[key] for key in sorted(found)),
        )

    def begin_attempt(self, attempt: Attempt) -> bool:
        """Create the attempt's row; False if it exists.

        The client sends a write again when its answer was lost; the row that then stands in the
        way is our own, and says so.
        """
        creator = to.text(str(uuid4()))
        item = {
            **work_codec.attempt_key(attempt),
            **work_codec.attempt_attributes(attempt),
            **to.present(work_codec.open_attributes(attempt)),
            _CREATOR: creator,
        }
        answer = self._database.put(put(self._tables.work, item, new("sk")))
        return isinstance(answer, Applied) or (answer.item or {}).get(_CREATOR) == creator

    def accept_attempt(
        self,
        attempt: Attempt,
        *,
        vendor_id: str,
        status_url: str,
        cancel_url: str | None,
        operations: Sequence[Operation],
    ) -> None:
        """Store the vendor's id and URLs, without any lease or epoch condition, and book them."""
        accepted = replace(
            attempt,
            state=AttemptState.ACCEPTED,
            vendor_id=vendor_id,
            status_url=status_url,
            cancel_url=cancel_url,
        )
        change = noted(accepted).and_also(work_codec.named(operations))
        # Whose row it is matters no more once the vendor has answered.
        self._write(attempt, change.and_also(Change({_CREATOR: None})))

    def close_attempt(
        self,
        attempt: Attempt,
        state: AttemptState,
        *,
        fault: str,
        counts: bool,
        operations: Sequence[Operation] = (),
    ) -> None:
        """Note how a send ended that made nothing; the vendor's id, if any, stays."""
        closed = replace(attempt, state=state, fault=fault, counts=counts)
        self._write(attempt, noted(closed).and_also(work_codec.booked(operations)))

    def _write(self, attempt: Attempt, change: Change) -> None:
        key = work_codec.attempt_key(attempt)
        self._database.update(update(self._tables.work, key, change))

    def bind(self, claim: Claim, result: StepResult, operations: Sequence[Operation]) -> None:
        """Write a step's result and state its operation rows; another send's result stays."""
        key = codec.job_key(claim.job_id, claim.customer)
        still_ours: TransactWriteItemTypeDef = {
            "ConditionCheck": check(self._tables.jobs, key, owned(claim))
        }
        if not self._make(still_ours, result, operations):
            raise lost(claim)

    def book(self, operations: Sequence[Operation]) -> None:
        """Write operations that belong to no result, send by send."""
        for key, change in _by_send(operations, work_codec.booked):
            self._database.update(update(self._tables.work, key, change))

    def _make(
        self,
        guard: "TransactWriteItemTypeDef",
        result: StepResult,
        operations: Sequence[Operation],
    ) -> bool:
        """Write a result, or orphan its operations if another send's is there; False by *guard*.

        Its send is owed nothing more either way.
        """
        n: to.Item = {":n": to.number(result.n)}
        free = Condition("attribute_not_exists(#result) OR #result.#n = :n", n)
        kept = Change({"result": work_codec.result_attribute(result)})
        stated = _by_send(operations, work_codec.stated)
        answer = self._database.transact([guard, *self._heard(result, kept, free, stated)])
        if isinstance(answer, Committed) or 0 in answer.failed:
            return isinstance(answer, Committed)
        another = Condition("#result.#n <> :n", n)
        orphans = _by_send(map(orphaned, operations), work_codec.booked)
        answer = self._database.transact(
            [guard, *self._heard(result, Change({}), another, orphans)]
        )
        return isinstance(answer, Committed)

    def _heard(
        self,
        result: StepResult,
        kept: Change,
        condition: Condition,
        booked: Iterable[tuple[to.Item, Change]],
    ) -> "list[TransactWriteItemTypeDef]":
        """Return one write for each item: the step's first send, by *condition*, and the others."""
        of = (result.step, result.generation)
        send = work_codec.send_key(result.job_id, *of, result.n)
        first = work_codec.result_key(result)
        said = work_codec.send_attributes(*of, result.n)
        heard = Change({"open": None, "openAt": None}, firsts=said)
        changes: dict[str, tuple[to.Item, Change]] = {}
        kept = replace(kept, firsts=work_codec.send_attributes(*of, work_codec.FIRST))
        for key, change in ((first, kept), (send, heard), *booked):
            _, known = changes.get(sort := to.Reader(key).text("sk"), (key, Change({})))
            changes[sort] = (key, known.and_also(change))
        table, sort = self._tables.work, to.Reader(first).text("sk")
        return [
            {"Update": update(table, key, change, condition if name == sort else None)}
            for name, (key, change) in changes.items()
        ]


def noted(attempt: Attempt) -> Change:
    """Return what writes all that *attempt* says; what it does not say stays."""
    return Change({**work_codec.attempt_attributes(attempt), **work_codec.open_attributes(attempt)})


def _by_send(
    operations: Iterable[Operation], change: Callable[[list[Operation]], Change]
) -> list[tuple[to.Item, Change]]:
    """Return what *change* makes of each send's operations, under the send's key."""
    sends: dict[tuple[str, str, int, int], list[Operation]] = {}
    for one in operations:
        sends.setdefault((one.job_id, one.step, one.generation, one.n), []).append(one)
    return [(work_codec.send_key(*send), change(rows)) for send, rows in sends.items()]
