"""The ledger in DynamoDB that counts what it has written.

Belongs here: new jobs and booked operations, counted where they became durable. Does not: any
write of its own; the ends of turns, which know more than the ledger is told (``wave/counting.py``).
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.core import metric
from fireflyassets.core.budget import Block
from fireflyassets.core.job import JobRow
from fireflyassets.core.tally import Tally
from fireflyassets.ports.entries import Attempt, AttemptState, Operation, Recorded, Recording

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class CountedLedger(DynamoLedger):
    """Counts into one tally. A write that is repeated after an outage may count twice."""

    def __init__(self, client: "DynamoDBClient", *, prefix: str, tally: Tally) -> None:
        super().__init__(client, prefix=prefix)
        self._tally = tally

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        """Write rows as the ledger does, and count the new ones."""
        answers = super().record(rows, block)
        for answer in answers:
            if isinstance(answer, Recorded):
                self._tally.add(metric.ACCEPTED, customer=answer.row.customer_id)
        return answers

    def accept_attempt(
        self,
        attempt: Attempt,
        *,
        vendor_id: str,
        status_url: str,
        cancel_url: str | None,
        operations: Sequence[Operation],
    ) -> None:
        """Store the vendor's id as the ledger does, and count what was booked with it."""
        super().accept_attempt(
            attempt,
            vendor_id=vendor_id,
            status_url=status_url,
            cancel_url=cancel_url,
            operations=operations,
        )
        self._count(operations)

    def close_attempt(
        self,
        attempt: Attempt,
        state: AttemptState,
        *,
        fault: str,
        counts: bool,
        operations: Sequence[Operation] = (),
    ) -> None:
        """Close a send as the ledger does, and count its cost where no id was booked before."""
        super().close_attempt(attempt, state, fault=fault, counts=counts, operations=operations)
        if attempt.vendor_id is None:
            self._count(operations)

    def book(self, operations: Sequence[Operation]) -> None:
        """Write rows as the ledger does, and count them: nothing was booked for them before."""
        super().book(operations)
        self._count(operations)

    def _count(self, operations: Iterable[Operation]) -> None:
        for one in operations:
            self._tally.add(
                metric.OPERATIONS,
                float(one.operations),
                customer=one.customer,
                campaign=one.campaign,
            )
