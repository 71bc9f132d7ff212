"""Aborting: jobs of a replay that still wait in their lines go back to ``dlq``.

In: the record of a replay, rows. Out: jobs in ``dlq`` as before it; a word in the record.
Spends: nothing; what a wave has begun goes on, since its calls are paid for.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.failure import class_named
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Ending
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore

_RECORDS: Final = "replays/"


@dataclass(frozen=True, slots=True)
class Aborted:
    """What became of the jobs that a replay had moved."""

    back: tuple[str, ...]
    """In ``dlq`` again."""
    gone_on: tuple[str, ...]
    """Begun, ended or moved by somebody meanwhile."""

    def sentence(self) -> str:
        """Return it in one line, with the ids of what was not got back."""
        on = f" {len(self.gone_on)} had begun, and go on: {', '.join(self.gone_on)}."
        return f"{len(self.back)} jobs are in dlq again.{on if self.gone_on else ''}"


@dataclass(frozen=True, slots=True)
class Abort:
    """The use case. Twice, or beside the replay itself, it takes each job back once."""

    ledger: JobLedger
    objects: ObjectStore
    clock: Clock

    def of(self, record: str, *, by: str, why: str) -> Aborted:
        """Take back what the replay of a *record*, its key, has moved and no wave has begun.

        Raises:
            UnusableArgument: There is no such record.
        """
        content = self.objects.get(record) if record.startswith(_RECORDS) else None
        said = cast("object", json.loads(content)) if content else None
        if not isinstance(said, dict) or "before" not in said:
            raise UnusableArgument(f"There is no record {record!r} of a replay of jobs.")
        told = cast("dict[str, Any]", said)
        back, gone_on = list[str](), list[str]()
        # One that was killed has not written which it moved: all that it planned are looked at.
        for job_id in told["planned"] if told["moved"] is None else told["moved"]:
            row = self.ledger.job(job_id)
            before = told["before"][job_id]
            if row is None or row.status is Status.DLQ:
                continue  # It never moved, or is back.
            mine = back if self._taken_back(row, before) else gone_on
            mine.append(job_id)
        told["aborted"] = [
            *told.get("aborted", ()),
            {"at": self.clock.now().isoformat(), "by": by, "why": why, "back": back},
        ]
        written = json.dumps(told, indent=2, ensure_ascii=False).encode()
        self.objects.put(record, written, media_type="application/json")
        return Aborted(tuple(back), tuple(gone_on))

    def _taken_back(self, row: JobRow, before: dict[str, Any]) -> bool:
        """Put a job back as it was, if it waits as the replay has left it."""
        if row.status is not Status.QUEUED or row.epoch != before["epoch"] + 1:
            return False
        ending = Ending(
            status=Status.DLQ,
            reason=before["reason"],
            outputs=(),
            cost=self.ledger.history(row.job_id).cost,
            ended_at=datetime.fromisoformat(before["endedAt"]),
            ttl=None,
            failure=class_named(before["failure"]),
        )
        return self.ledger.take_back(row, ending)


def as_it_was(row: JobRow) -> dict[str, object]:
    """Return what a record keeps of a dead job, so that its move can be undone."""
    return {
        "epoch": row.epoch,
        "reason": row.reason,
        "failure": row.failure.value if row.failure else None,
        "endedAt": (row.ended_at or row.updated_at).isoformat(),
    }
