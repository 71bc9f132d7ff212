"""What the dead left behind, in the memory ledger: open sends, stranded jobs, decisions.

Belongs here: the part of the port that sweeps and people use. Does not: what a wave does.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.ledger_rules import check_unowned, decided
from fireflyassets.adapters.memory import turns
from fireflyassets.adapters.memory.budgets import MemoryBudgets
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Attempt, Decision, Ending, Operation, Resumed, WaveState


class MemoryLeftovers(MemoryBudgets):
    """The sweeps' and the operators' part of the ledger."""

    def open_attempts(
        self, *, before: datetime, after: datetime | None = None, most: int
    ) -> list[Attempt]:
        """Return up to *most* sends that are owed an answer, the oldest first."""
        with self._lock:
            found = self._calls.open()
        due = [
            one
            for one in found
            if one.submitted_at < before and (after is None or one.submitted_at > after)
        ]
        return sorted(due, key=lambda one: (one.submitted_at, one.job_id, one.step, one.n))[:most]

    def stranded(self, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs that run under a wave that has ended or is gone."""
        with self._lock:
            rows = [row for row in self._rows.values() if self._is_stranded(row)]
        return sorted(rows, key=lambda row: (row.wave or "", row.job_id))[:most]

    def _is_stranded(self, row: JobRow) -> bool:
        wave = self._waves.get(row.wave or "")
        return row.status is Status.RUNNING and (wave is None or wave.state is WaveState.ENDED)

    def unsettled(self, *, after: str | None, most: int) -> list[JobRow]:
        """Return up to *most* unsettled rows by job id, behind *after*."""
        with self._lock:
            rows = [row for row in self._rows.values() if row.unsettled]
        behind = (row for row in rows if after is None or row.job_id > after)
        return sorted(behind, key=lambda row: row.job_id)[:most]

    def adopt(self, row: JobRow, result: StepResult, operations: Sequence[Operation]) -> bool:
        """As `bind`, for a job that no wave works on."""
        check_unowned(row)
        with self._lock:
            if not self._is_still(row):
                return False
            self._calls.bind(result, operations)
            return True

    def decide(
        self,
        row: JobRow,
        attempt: Attempt,
        decision: Decision,
        move: Resumed | Ending | None,
        operations: Sequence[Operation],
    ) -> bool:
        """Write a decision on an unknown send, what it books and how its job moves."""
        with self._lock:
            if not self._is_still(row) or not self._calls.is_still(attempt):
                return False
            self._calls.note(decided(attempt, decision))
            self._calls.book(operations)
            if isinstance(move, Ending):
                ended = turns.finished(replace(row, epoch=row.epoch + 1), move)
                self._write(replace(ended, hold=None, not_before=None))
            elif move is not None:
                self._keep(turns.resumed(row, move.at))
            return True

    def recost(self, row: JobRow, cost: Cost) -> bool:
        """Write what an ended job has cost by now; False if it has moved."""
        with self._lock:
            now = self._rows.get(row.job_id)
            if now is None or not self._is_still(row) or now.cost != row.cost:
                return False
            self._keep(turns.costing(now, cost))
            return True

    def lift(self, row: JobRow, *, now: datetime, said: str | None = None) -> bool:
        """Take the hold that *row* shows off its job; False if it has moved."""
        with self._lock:
            if row.hold is None or not self._is_still(row):
                return False
            lifted = turns.resumed(row, now)
            if said is not None:
                lifted = replace(lifted, reason=said, replays=row.replays + 1, crashes=0)
            self._keep(lifted)
            return True

    def _is_still(self, row: JobRow) -> bool:
        now = self._rows.get(row.job_id)
        return now is not None and (now.status, now.epoch, now.hold, now.booking) == (
            row.status,
            row.epoch,
            row.hold,
            row.booking,
        )
