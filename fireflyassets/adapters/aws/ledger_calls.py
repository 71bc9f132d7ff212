"""Paid calls in the DynamoDB ledger: attempts, results, operations.

Belongs here: what was sent and made for a job. Does not: the job's row, which only `bind` looks at.
What was paid is written under no condition but that nothing known is overwritten.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, work_codec
from fireflyassets.adapters.aws.database import TRANSACTION_ITEMS, Applied, Committed, query
from fireflyassets.adapters.aws.expressions import Change, Condition, check, new, put, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.aws.ledger_turns import lost, owned
from fireflyassets.adapters.ledger_rules import RESTATED, orphaned
from fireflyassets.core.job import StepResult
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    History,
    Operation,
    unnamed,
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
        kinds: dict[str, list[to.Item]] = {}
        for item in self._database.pages(query(self._tables.work, condition)):
            kind, _, _ = to.Reader(item).text("sk").partition("#")
            kinds.setdefault(f"{kind}#", []).append(item)
        results = map(work_codec.result_of, kinds.get(work_codec.STEP, []))
        return History(
            steps={(result.step, result.generation): result for result in results},
            attempts=tuple(map(work_codec.attempt_of, kinds.get(work_codec.ATTEMPT, []))),
            operations=tuple(map(work_codec.operation_of, kinds.get(work_codec.OPERATION, []))),
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
        nameless = [
            work_codec.operation_key(attempt.job_id, unnamed(attempt), one.output)
            for one in operations
        ]
        table = self._tables.work
        self._write_what_is_new(
            [self._noted(accepted)],
            [
                *({"Delete": {"TableName": table, "Key": key}} for key in nameless),
                *(self._new(work_codec.operation_item(one)) for one in operations),
            ],
        )

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
        self._write_what_is_new([self._noted(closed)], self._booked(operations))

    def _noted(self, attempt: Attempt) -> "TransactWriteItemTypeDef":
        """Write all that *attempt* says over what is known; what it does not say stays."""
        said = {**work_codec.attempt_attributes(attempt), **work_codec.open_attributes(attempt)}
        key = work_codec.attempt_key(attempt)
        return {"Update": update(self._tables.work, key, Change(said))}

    def bind(self, claim: Claim, result: StepResult, operations: Sequence[Operation]) -> None:
        """Write a step's result and state its operation rows; another send's result stays."""
        key = codec.job_key(claim.job_id, claim.customer)
        still_ours: TransactWriteItemTypeDef = {
            "ConditionCheck": check(self._tables.jobs, key, owned(claim))
        }
        if not self._make(still_ours, result, operations):
            raise lost(claim)

    def book(self, operations: Sequence[Operation]) -> None:
        """Write operation rows that belong to no result."""
        writes = self._booked(operations)
        while writes:
            chunk, rest = writes[:TRANSACTION_ITEMS], writes[TRANSACTION_ITEMS:]
            answer = self._database.transact(chunk)
            known = set[int]() if isinstance(answer, Committed) else set(answer.failed)
            kept = [] if isinstance(answer, Committed) else chunk
            writes = [part for place, part in enumerate(kept) if place not in known] + rest

    def _make(
        self,
        guard: "TransactWriteItemTypeDef",
        result: StepResult,
        operations: Sequence[Operation],
    ) -> bool:
        """Write a result, or orphan its operations if another send's is there; False by *guard*.

        Its send, if it has a row, is owed nothing more either way.
        """
        table, item = self._tables.work, work_codec.result_item(result)
        send = work_codec.send_key(result.job_id, result.step, result.generation, result.n)
        change = Change({"bound": to.flag(value=True), "open": None, "openAt": None})
        heard: TransactWriteItemTypeDef = {
            "Update": update(table, send, change, Condition("attribute_exists(#sk)"))
        }
        n: to.Item = {":n": to.number(result.n)}
        ours = Condition("attribute_not_exists(#sk) OR #n = :n", n)
        stated: list[TransactWriteItemTypeDef] = [
            {"Put": put(table, work_codec.operation_item(one))} for one in operations
        ]
        if self._write_what_is_new([guard, {"Put": put(table, item, ours)}], [heard, *stated]):
            return True
        key: to.Item = {"jobId": item["jobId"], "sk": item["sk"]}
        another: TransactWriteItemTypeDef = {
            "ConditionCheck": check(table, key, Condition("#n <> :n", n))
        }
        orphans = self._booked([orphaned(one) for one in operations])
        return self._write_what_is_new([guard, another], [heard, *orphans])

    def _write_what_is_new(
        self,
        guards: "Sequence[TransactWriteItemTypeDef]",
        writes: "list[TransactWriteItemTypeDef]",
    ) -> bool:
        """Write together what is not known yet; False, and nothing, if a guard fails."""
        while True:
            answer = self._database.transact([*guards, *writes])
            if isinstance(answer, Committed):
                return True
            if any(place < len(guards) for place in answer.failed):
                return False
            kept = enumerate(writes, len(guards))
            writes = [part for place, part in kept if place not in answer.failed]

    def _booked(self, operations: Sequence[Operation]) -> "list[TransactWriteItemTypeDef]":
        better = Condition(
            "attribute_not_exists(#sk) OR #cause = :restated", {":restated": to.text(RESTATED)}
        )
        items = map(work_codec.operation_item, operations)
        return [{"Put": put(self._tables.work, item, better)} for item in items]

    def _new(self, item: to.Item) -> "TransactWriteItemTypeDef":
        return {"Put": put(self._tables.work, item, new("sk"))}
