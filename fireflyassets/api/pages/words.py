"""Words: how a job's row reads to people who sell drinks, not software.

Belongs here: plain labels, and which picture stands for a job. Does not: deciding, HTML.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from fireflyassets.api.result_routes import may_see
from fireflyassets.api.tokens import Caller
from fireflyassets.core import guidance, ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status

LABELS: Final = {
    Status.QUEUED: "Waiting",
    Status.RUNNING: "In production",
    Status.SUCCEEDED: "Finished",
    Status.REVIEW: "Needs attention",
    Status.DLQ: "Can be run again",
    Status.FAILED: "Failed",
    Status.CANCELLED: "Cancelled",
}
ON_HOLD: Final = "On hold"
CANCELLING: Final = "Being cancelled"
_TONES: Final = {
    Status.RUNNING: "busy",
    Status.SUCCEEDED: "good",
    Status.REVIEW: "bad",
    Status.DLQ: "bad",
    Status.FAILED: "bad",
}
_REVIEWS: Final = {
    HumanReview.NOT_REQUIRED: "Not asked for",
    HumanReview.PENDING: "Not yet looked at",
    HumanReview.APPROVED: "Approved",
    HumanReview.REJECTED: "Rejected",
}
_WHO_ENDS: Final = {
    Status.DLQ: "An operator runs it again once the cause is gone. What is finished is kept.",
    Status.REVIEW: "Where the reason names nothing of the request, ask an operator first.",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A job as one line of a table, and as the head of its own page."""

    job_id: str
    key: str
    campaign: str
    status: str
    tone: str
    why: str
    """Why it waits, or ended as it did; empty where there is nothing to say."""
    next: str
    """Who or what moves it on, or what to change; empty where nobody need do anything."""
    fault: str
    """The kind of fault that it ended by; empty where it did not, or nobody knows."""
    due_at: datetime | None
    review: str
    next_key: str
    """What the job may be called when it is sent again in other words."""
    pictures: tuple[str, ...]
    """Aspects whose pictures this person may see."""
    estimate: Decimal
    created_at: datetime
    updated_at: datetime


def _status(row: JobRow) -> str:
    if row.status is Status.RUNNING and row.cancel:
        return CANCELLING
    return ON_HOLD if row.hold else LABELS[row.status]


def line(row: JobRow, who: Caller) -> Line:
    """Return a row as *who* may see it."""
    pictures = tuple(map(ids.delivered_aspect, row.outputs)) if may_see(who, row) else ()
    held = row.hold
    return Line(
        job_id=row.job_id,
        key=row.idempotency_key,
        campaign=row.campaign_id,
        status=_status(row),
        tone="held" if held else _TONES.get(row.status, "calm"),
        why=(held.reason if held else row.reason) or "",
        next=_next(row),
        fault=row.failure.value.replace("-", " ").capitalize() if row.failure else "",
        due_at=row.not_before if row.status is Status.QUEUED and not held else None,
        review=_REVIEWS[row.human_reviewed],
        next_key=_next_key(row.idempotency_key),
        pictures=pictures,
        estimate=row.cost_estimate,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


_AGAIN: Final = re.compile(r"(.*)-again-(\d{1,4})")
_KEY_LIMIT: Final = 64


def _next_key(key: str) -> str:
    """Return the key after *key*: ``market-01``, ``market-01-again-2``, ``market-01-again-3``."""
    told = _AGAIN.fullmatch(key)
    stem, number = (told[1], int(told[2]) + 1) if told else (key, 2)
    tail = f"-again-{number}"
    return f"{stem[: _KEY_LIMIT - len(tail)]}{tail}"


def _next(row: JobRow) -> str:
    """Return who acts, and what follows."""
    return guidance.of(row) or _WHO_ENDS.get(row.status, "")
