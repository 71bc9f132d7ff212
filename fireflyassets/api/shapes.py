"""Shapes: rows and answers as the JSON that customers' systems read.

Belongs here: names and forms of fields. Does not: deciding. Operations are decimal strings, as
nothing else keeps them exact on the way; times are ISO 8601 in UTC. ``costActual`` is what was
certainly billed, ``costPossible`` what may have been billed besides.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from fireflyassets.api.problems import said
from fireflyassets.core.brief import Row
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded
from fireflyassets.stages import notify
from fireflyassets.stages.intake import Answer, Invalid


def job(row: JobRow, *, api_url: str) -> dict[str, object]:
    """Return a job: what a webhook says, and what only its owner asks."""
    return {
        **notify.payload(row, api_url=api_url),
        "key": row.idempotency_key,
        "url": f"{api_url}/v1/jobs/{row.job_id}",
        "createdAt": notify.instant(row.created_at),
        "updatedAt": notify.instant(row.updated_at),
        "notBefore": None if row.not_before is None else notify.instant(row.not_before),
        "held": row.hold is not None,
        "reason": row.hold.reason if row.hold else row.reason,
        "humanReviewed": row.human_reviewed.value,
        "costEstimate": str(row.cost_estimate),
        "costActual": None if row.cost_actual is None else str(row.cost_actual),
        "costPossible": None if row.cost_possible is None else str(row.cost_possible),
    }


def campaign(name: str, rows: Sequence[JobRow]) -> dict[str, object]:
    """Return a campaign's sums over all its jobs."""
    counts = Counter(row.status for row in rows)
    return {
        "campaignId": name,
        "jobs": len(rows),
        "byStatus": {status.value: counts[status] for status in Status},
        "held": sum(row.hold is not None for row in rows),
        "costEstimate": str(sum((row.cost_estimate for row in rows), Decimal(0))),
        "costActual": str(sum((row.cost_actual or Decimal(0) for row in rows), Decimal(0))),
        "costPossible": str(sum((row.cost_possible or Decimal(0) for row in rows), Decimal(0))),
    }


def batch(
    name: str, rows: Sequence[Row], answers: Sequence[Answer], problems: Sequence[Problem]
) -> dict[str, object]:
    """Return the answers to a brief, row by row."""
    jobs = [
        {
            "row": row.number,
            "key": answer.row.idempotency_key,
            "jobId": answer.row.job_id,
            "status": answer.row.status.value,
            "repeated": isinstance(answer, Duplicate),
        }
        for row, answer in zip(rows, answers, strict=True)
        if isinstance(answer, Recorded | Duplicate)
    ]
    new = [answer.row for answer in answers if isinstance(answer, Recorded)]
    return {
        "campaignId": name,
        "accepted": len(new),
        "repeated": len(jobs) - len(new),
        "refused": len(rows) - len(jobs),
        "costEstimate": str(sum((row.cost_estimate for row in new), Decimal(0))),
        "jobs": jobs,
        "problems": [said(problem) for problem in problems],
    }


def problems_of(rows: Sequence[Row], answers: Sequence[Answer]) -> list[Problem]:
    """Return the problems of all rows; a conflict is one of the key."""
    told: list[Problem] = []
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer, Invalid):
            told += answer.problems
        elif isinstance(answer, Conflict):
            told.append(replace(conflict(), row=row.number))
    return told


def conflict() -> Problem:
    """Return the problem of a key that stands for another request."""
    return Problem(
        "key",
        "conflict",
        "Another request was recorded under this key.",
        "Send it under a new key, or repeat the first request exactly.",
    )
