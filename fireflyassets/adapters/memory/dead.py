"""Jobs that ended by a fault, in the memory ledger. Here: replays, snapshots. Not here: waves."""

from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.memory import turns
from fireflyassets.adapters.memory.steering import MemorySteering
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.dead import DeadJobs, Owed
from fireflyassets.ports.entries import Ending


class MemoryDead(MemorySteering, DeadJobs):
    """The part of the ledger about jobs that ended by a fault."""

    def dead(self) -> list[JobRow]:
        """Return all jobs in ``dlq``, the longest there first."""
        return sorted((row for row in self.rows() if row.status is Status.DLQ), key=_place)

    def replay(
        self, row: JobRow, *, due_at: datetime, said: str, now: datetime
    ) -> bool | OverBudget:
        """Move dlq -> queued, replays + 1; False if the job has moved."""
        with self._lock:
            if row.status is not Status.DLQ or not self._is_still(row):
                return False
            if over := self._book.refusal(row, now):
                return over
            self._write(turns.replayed(row, due_at=due_at, said=said, now=now))
            return True

    def take_back(self, row: JobRow, ending: Ending) -> bool:
        """Undo a replay of a job that no wave has begun; False if it has moved."""
        with self._lock:
            if row.status is not Status.QUEUED or not self._is_still(row):
                return False
            ended = turns.finished(replace(row, epoch=row.epoch + 1), ending)
            counts = {"attempts": row.attempts, "replays": row.replays - 1}
            self._write(replace(ended, hold=None, not_before=None, **counts))
            return True

    def owed(self, *, most: int) -> list[Owed]:
        """Return up to *most* jobs whose last fault has no snapshot."""
        with self._lock:
            found = [Owed(row, row.updated_at) for row in self._owed.values()]
        return sorted(found, key=lambda one: (one.since, one.row.job_id))[:most]

    def snapped(self, owed: Owed) -> bool:
        """Note that the snapshot is written; False if it is another fault's."""
        with self._lock:
            row = self._owed.get(owed.row.job_id)
            if row is None or row.updated_at != owed.since:
                return False
            del self._owed[owed.row.job_id]
            return True


def _place(row: JobRow) -> tuple[datetime, str]:
    return (row.ended_at or row.updated_at, row.job_id)
