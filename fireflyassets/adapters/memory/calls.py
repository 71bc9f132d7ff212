"""Results, attempts and operations of the memory ledger.

Belongs here: the three dictionaries and their order. Does not: locking, which the ledger does.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from fireflyassets.adapters.ledger_rules import may_be_restated, orphaned
from fireflyassets.core.job import StepResult
from fireflyassets.ports.entries import Attempt, History, Operation, unnamed

Key = TypeVar("Key", tuple[str, str, int], tuple[str, str, int, int])


class MemoryCalls:
    """What was sent and made, by job."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, str, int], StepResult] = {}
        self._attempts: dict[tuple[str, str, int, int], Attempt] = {}
        self._operations: dict[tuple[str, str, int], Operation] = {}
        self._bound: set[tuple[str, str, int, int]] = set()

    def begin(self, attempt: Attempt) -> bool:
        """Create the attempt; False if its key is taken."""
        key = _attempt_key(attempt)
        if key in self._attempts:
            return False
        self._attempts[key] = attempt
        return True

    def note(self, attempt: Attempt) -> None:
        """Write what is known of an attempt now; what was known and is not said again stays."""
        known = self._attempts.get(_attempt_key(attempt), attempt)
        self._attempts[_attempt_key(attempt)] = replace(
            attempt,
            vendor_id=attempt.vendor_id or known.vendor_id,
            status_url=attempt.status_url or known.status_url,
            cancel_url=attempt.cancel_url or known.cancel_url,
            fault=attempt.fault or known.fault,
            decision=attempt.decision or known.decision,
        )

    def accept(self, attempt: Attempt, operations: Iterable[Operation]) -> None:
        """Note an accepted attempt and book it by its id, no more by its send."""
        self.note(attempt)
        for operation in operations:
            self._operations.pop(
                (
                    attempt.job_id,
                    unnamed(attempt.step, attempt.generation, attempt.n),
                    operation.output,
                ),
                None,
            )
            self._operations.setdefault(_operation_key(operation), operation)

    def is_still(self, attempt: Attempt) -> bool:
        """Say whether the send stands as *attempt* shows it."""
        return self._attempts.get(_attempt_key(attempt)) == attempt

    def open(self) -> list[Attempt]:
        """Return the sends that are owed an answer; what a result names has had its own."""
        return [
            one for key, one in self._attempts.items() if one.is_open and key not in self._bound
        ]

    def bind(self, result: StepResult, operations: Iterable[Operation]) -> None:
        """Keep a result and state its operations; another send's result stays."""
        self._bound.add((result.job_id, result.step, result.generation, result.n))
        key = (result.job_id, result.step, result.generation)
        if self._results.get(key, result).n != result.n:
            self.book(map(orphaned, operations))
            return
        self._results[key] = result
        self._operations.update({_operation_key(one): one for one in operations})

    def book(self, operations: Iterable[Operation]) -> None:
        """Keep operations; of known ones only those are restated that say too little."""
        for operation in operations:
            key = _operation_key(operation)
            if may_be_restated(self._operations.get(key)):
                self._operations[key] = operation

    def history(self, job_id: str) -> History:
        """Return the job's part, sorted by key."""
        return History(
            steps={
                (result.step, result.generation): result
                for _, result in sorted(
                    (item for item in self._results.items() if item[0][0] == job_id),
                    key=lambda item: item[0],
                )
            },
            attempts=tuple(self._attempts[key] for key in sorted(_of(job_id, self._attempts))),
            operations=tuple(
                self._operations[key] for key in sorted(_of(job_id, self._operations))
            ),
        )


def _of(job_id: str, keys: Iterable[Key]) -> list[Key]:
    """Return a job's own keys; few of many, so they are sorted afterwards."""
    return [key for key in keys if key[0] == job_id]


def _operation_key(operation: Operation) -> tuple[str, str, int]:
    return (operation.job_id, operation.vendor_id, operation.output)


def _attempt_key(attempt: Attempt) -> tuple[str, str, int, int]:
    return (attempt.job_id, attempt.step, attempt.generation, attempt.n)
