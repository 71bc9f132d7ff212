"""Aborting: a replay at its work, and taking back to ``dlq`` what of it still waits in its lines.

In: the record of a replay, rows. Out: jobs in ``dlq`` as before it; a word in the record.
Spends: nothing; what a wave has begun goes on, since its calls are paid for.
"""

import json
from collections.abc import Generator
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
class Moved:
    """One job of a replay; *done* False: it stays as it is."""

    job_id: str
    done: bool
    due_at: datetime
    why: str = ""
    """Why it was left where it is."""


@dataclass(frozen=True, slots=True)
class Moves:
    """A replay at its work: each step moves a job."""

    record: str
    """Key of what is on record of it, by which it can be aborted."""
    steps: Generator[Moved]

    def __iter__(self) -> Generator[Moved]:
        """Yield each job once it was moved, or left."""
        return self.steps

    def close(self) -> None:
        """Stop, and write down what was moved."""
        self.steps.close()


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
        asked = {"at": self.clock.now().isoformat(), "by": by, "why": why}
        told = self._read(record)
        earlier: list[object] = told.get("aborted", [])
        # First: a replay that is still at its work stops by it, and takes its last job back.
        self.write(record, {**told, "aborted": [*earlier, asked]})
        back, gone_on = list[str](), list[str]()
        # One that was killed has not written which it moved: all that it planned are looked at.
        for job_id in told["planned"] if told["moved"] is None else told["moved"]:
            row = self.ledger.job(job_id)
            before = told["before"][job_id]
            if row is None or row.status is Status.DLQ:
                continue  # It never moved, or is back.
            mine = back if self._taken_back(row, before) else gone_on
            mine.append(job_id)
        told = self._read(record)  # The replay may have ended by now, and have written its word.
        self.write(record, {**told, "aborted": [*earlier, {**asked, "back": back}]})
        return Aborted(tuple(back), tuple(gone_on))

    def is_asked(self, record: str) -> bool:
        """Say whether somebody has asked to take the replay of a *record* back."""
        return "aborted" in self._read(record)

    def note(self, record: str, moved: list[str]) -> None:
        """Write down what a replay has moved."""
        self.write(record, {**self._read(record), "moved": moved})

    def write(self, record: str, said: dict[str, Any]) -> None:
        """Write a record."""
        content = json.dumps(said, indent=2, ensure_ascii=False).encode()
        self.objects.put(record, content, media_type="application/json")

    def _read(self, record: str) -> dict[str, Any]:
        content = self.objects.get(record) if record.startswith(_RECORDS) else None
        said = cast("object", json.loads(content)) if content else None
        if not isinstance(said, dict) or "before" not in said:
            raise UnusableArgument(f"There is no record {record!r} of a replay of jobs.")
        return cast("dict[str, Any]", said)

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
