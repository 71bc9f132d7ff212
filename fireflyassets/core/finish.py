"""When a campaign is expected to be done: a plain division, with what it takes for granted.

Belongs here: the estimate from what is open and how fast it is worked off. Does not: the pace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status


@dataclass(frozen=True, slots=True)
class Finish:
    """The minute of the expected finish, or None, and why it is that."""

    at: datetime | None
    note: str


def expected(rows: Sequence[JobRow], *, jobs_per_minute: float, now: datetime) -> Finish:
    """Return when the open jobs among *rows* will be done at that pace, if no one else uses it."""
    live = [row for row in rows if row.status in {Status.QUEUED, Status.RUNNING}]
    going = [row for row in live if row.hold is None]
    if not going:
        held = f"its {len(live)} open jobs are held" if live else "it has no open job"
        return Finish(None, f"No finish is expected: {held}.")
    done_at = max(
        now + timedelta(minutes=len(going) / jobs_per_minute),
        *(row.not_before or now for row in going),
    )
    # To the minute: the answer would else differ each time it is asked for.
    minute = done_at.replace(second=0, microsecond=0) + timedelta(minutes=1)
    note = (
        f"{len(going)} open jobs at {jobs_per_minute:.3g} a minute, if no other campaign uses the "
        "organisation's pace and its day's quota lasts."
    )
    return Finish(minute, note)
