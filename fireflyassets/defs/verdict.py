# pyright: standard
"""How a run ends: green, or red with one sentence that says why and what to do.

Belongs here: the words of a run's end, for the person who opens its page. Does not: deciding how
a job ends; the wave did, and the ledger says so already.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import dagster as dg

from fireflyassets.core.errors import FactoryError
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import ENDED, Status
from fireflyassets.wave.reports import Ended, Skipped, Turn

_NEXT: Final[dict[Status, str]] = {
    Status.REVIEW: "in review (mend the request and send it under a new key)",
    Status.DLQ: "in dlq (remove the cause, then materialize again: what is finished is kept)",
    Status.FAILED: "closed",
    Status.CANCELLED: "cancelled",
}
_LATER: Final[dict[Turn, str]] = {
    Turn.SUCCEEDED: "delivered",
    Turn.PARKED: "waiting (to go on by itself; shown as failed until then)",
    Turn.HELD: "held (a person decides; shown as failed until then)",
    Turn.LOST: "left to another run (shown as failed until then)",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of every job that a run was asked for."""

    ended: Sequence[Ended]
    refused: Sequence[Skipped]
    """Jobs that a person asked for and that may not be worked on now."""

    @property
    def is_red(self) -> bool:
        """Say whether the run must end red, so that exactly those partitions show it.

        Without a red end, partitions of jobs that were refused or taken away would look as if
        nothing had been wrong.
        """
        return bool(self.refused) or any(one.turn in {Turn.FAILED, Turn.LOST} for one in self.ended)

    def to_name(self) -> set[str]:
        """Return the jobs that the table names."""
        return {one.job_id for one in [*self._not_delivered(), *self.refused]}

    def failure(self, keys: Mapping[str, str]) -> dg.Failure:
        """Return the red end; *keys* are the customer's own names of the jobs to name."""
        rows = [
            (one.job_id, one.status if one.turn is Turn.FAILED else one.turn, one.reason)
            for one in self._not_delivered()
        ]
        rows += [(one.job_id, "left alone", one.reason) for one in self.refused]
        table = [
            dg.TableRecord(
                {"key": keys.get(job, ""), "job": job, "now": str(now), "reason": reason or ""}
            )
            for job, now, reason in rows
        ]
        sentence = self.sentence()
        return dg.Failure(
            sentence,
            metadata={"summary": sentence, "jobs": dg.MetadataValue.table(table)},
            allow_retries=False,
        )

    def sentence(self) -> str:
        """Say in one sentence what failed, what to do about it, and that the rest is well."""
        turns = Counter(one.turn for one in self.ended)
        failed = Counter(one.status for one in self.ended if one.turn is Turn.FAILED)
        parts = [f"{count} {_NEXT[status]}" for status, count in sorted(failed.items())]
        if self.refused:
            parts.append(f"{len(self.refused)} left alone (the table says why)")
        parts += [f"{turns[turn]} {words}" for turn, words in _LATER.items() if turns[turn]]
        asked = len(self.ended) + len(self.refused)
        bad = f"{turns[Turn.FAILED]} failed" if failed else "none failed"
        return f"Of {asked} {'job' if asked == 1 else 'jobs'} {bad}: {'; '.join(parts)}."

    def _not_delivered(self) -> list[Ended]:
        return [one for one in self.ended if one.turn is not Turn.SUCCEEDED]


SILENT: Final = "This run ended before it could say what became of its jobs."


def afterwards(rows: Sequence[JobRow]) -> str:
    """Say what became of the jobs of a run that died; the ledger knows."""
    held = sum(row.hold is not None for row in rows)
    later = sum(row.hold is None and row.status not in ENDED for row in rows)
    ended = Counter(row.status for row in rows if row.status in _NEXT)
    parts = [f"{sum(row.status is Status.SUCCEEDED for row in rows)} delivered"]
    parts += [f"{later} go on by themselves, in another run"] if later else []
    parts += [f"{held} held (a person decides)"] if held else []
    parts += [f"{count} {_NEXT[status]}" for status, count in sorted(ended.items())]
    return f"{SILENT} The ledger does: of {len(rows)}, {'; '.join(parts)}."


def interrupted(crash: Exception) -> dg.Failure:
    """Return the red end of a run whose wave could not go on."""
    known = isinstance(crash, FactoryError)
    why = str(crash) if known else f"{type(crash).__name__}; its trace is below"
    remedy = crash.remedy if known and crash.remedy else "Nothing, if it passes by itself."
    sentence = (
        f"The wave stopped: {why.rstrip('.')}. {remedy} Jobs that are not done go back to the "
        "queue by themselves, and nothing that is paid is paid again."
    )
    return dg.Failure(sentence, metadata={"summary": sentence}, allow_retries=False)
