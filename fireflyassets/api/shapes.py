"""Shapes: rows and answers as the JSON that customers' systems read.

Belongs here: names and forms of fields. Does not: deciding. Operations are decimal strings, as
nothing else keeps them exact on the way; times are ISO 8601 in UTC. ``costActual`` is what was
certainly billed, ``costPossible`` what may have been billed besides.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.problems import ProblemPart, said
from fireflyassets.core import guidance
from fireflyassets.core.brief import Row
from fireflyassets.core.finish import Expectation
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.core.sums import Sums
from fireflyassets.ports.entries import Duplicate, Recorded
from fireflyassets.stages import notify
from fireflyassets.stages.intake import Answer, Priced

Operations = Annotated[
    str,
    Field(
        description="Adobe's billing unit, as a decimal string: nothing else keeps it exact.",
        pattern=r"^-?\d+(\.\d+)?$",
        examples=["3.5"],
    ),
]
Key = Annotated[str, Field(examples=["market-01"])]


class Job(notify.JobPayload, TypedDict):
    """A job: how it stands, why it waits, what it costs."""

    idempotencyKey: Key
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]
    createdAt: notify.Instant
    updatedAt: notify.Instant
    notBefore: Annotated[notify.Instant | None, Field(description="When it is due, if parked.")]
    held: Annotated[bool, Field(description="Whether it waits for a person.")]
    reason: Annotated[str | None, Field(description="Why it waits, or why it ended as it did.")]
    failureClass: Annotated[
        str | None,
        Field(description="The class of the fault that it ended by; `fireflyassets failures`."),
    ]
    guidance: Annotated[
        str | None, Field(description="What was refused and what to change; null: nothing.")
    ]
    humanReviewed: Annotated[
        str, Field(json_schema_extra={"enum": [one.value for one in HumanReview]})
    ]
    costEstimate: Operations
    costActual: Operations | None
    costPossible: Operations | None


class Campaign(TypedDict):
    """A campaign's sums over all its jobs."""

    campaignId: str
    jobs: int
    byStatus: Annotated[dict[str, int], Field(description="Every status, those at 0 too.")]
    held: int
    hold: Annotated[str | None, Field(description="Why the campaign is on hold; null: it is not.")]
    outOfService: Annotated[
        str | None,
        Field(description="Why it makes nothing just now, and how to mend it; null: it does."),
    ]
    costEstimate: Operations
    costActual: Operations
    costPossible: Operations
    expectedFinish: Annotated[
        notify.Instant | None, Field(description="To the minute; null where none is expected.")
    ]
    expectedFinishLate: Annotated[
        notify.Instant | None, Field(description="One time in ten it is later than this.")
    ]
    expectedFinishNote: Annotated[
        str, Field(description="What the expectation takes for granted, or why there is none.")
    ]


class LegalHold(TypedDict):
    """What a hold or a release came to."""

    held: bool
    files: int
    """Sidecars included."""


class CampaignJobs(TypedDict):
    """A page of a campaign's jobs, the oldest first."""

    campaignId: str
    jobs: list[Job]
    next: Annotated[
        str | None, Field(description="The cursor of the page behind this one; null at the end.")
    ]


class AcceptedRow(TypedDict):
    """The job that a row of a brief is."""

    row: Annotated[int | None, Field(description="As a spreadsheet counts: the header is row 1.")]
    idempotencyKey: Key
    jobId: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    status: str
    repeated: Annotated[bool, Field(description="Whether it was known before this brief.")]


class Batch(TypedDict):
    """The answers to a brief."""

    campaignId: str
    accepted: int
    repeated: int
    refused: int
    costEstimate: Annotated[Operations, Field(description="Of the rows that are new.")]
    jobs: list[AcceptedRow]
    problems: list[ProblemPart]


class Estimate(TypedDict):
    """What a brief would cost; nothing of it was written."""

    campaignId: str
    jobs: Annotated[int, Field(description="How many would be new.")]
    repeated: int
    refused: int
    costEstimate: Annotated[Operations, Field(description="Of those that would be new.")]
    problems: list[ProblemPart]


def job(row: JobRow, *, api_url: str) -> Job:
    """Return a job: what a webhook says, and what only its owner asks."""
    return {
        **notify.payload(row, api_url=api_url),
        "idempotencyKey": row.idempotency_key,
        "url": f"{api_url}/v1/jobs/{row.job_id}",
        "createdAt": notify.instant(row.created_at),
        "updatedAt": notify.instant(row.updated_at),
        "notBefore": None if row.not_before is None else notify.instant(row.not_before),
        "held": row.hold is not None,
        "reason": row.hold.reason if row.hold else row.reason,
        "failureClass": None if row.failure is None else row.failure.value,
        "guidance": guidance.of(row),
        "humanReviewed": row.human_reviewed.value,
        "costEstimate": str(row.cost_estimate),
        "costActual": None if row.cost_actual is None else str(row.cost_actual),
        "costPossible": None if row.cost_possible is None else str(row.cost_possible),
    }


def campaign(
    name: str,
    sums: Sums,
    hold: Hold | None,
    finish: Expectation,
    *,
    out_of_service: str | None,
) -> Campaign:
    """Return a campaign's sums over all its jobs, and why it makes none now, if it does not."""
    return {
        "campaignId": name,
        "outOfService": out_of_service,
        "jobs": sums.jobs,
        "byStatus": {status.value: sums.by_status[status] for status in Status},
        "held": sums.held,
        "hold": hold.reason if hold else None,
        "costEstimate": str(sums.estimate),
        "costActual": str(sums.certain),
        "costPossible": str(sums.possible),
        "expectedFinish": None if finish.at is None else notify.instant(finish.at),
        "expectedFinishLate": None if finish.late_at is None else notify.instant(finish.late_at),
        "expectedFinishNote": finish.note,
    }


def batch(
    name: str,
    rows: Sequence[Row],
    answers: Sequence[Answer],
    problems: Sequence[Problem],
    *,
    api_url: str,
) -> Batch:
    """Return the answers to a brief, row by row."""
    jobs: list[AcceptedRow] = [
        {
            "row": row.number,
            "idempotencyKey": answer.row.idempotency_key,
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
        "problems": [said(problem, api_url=api_url) for problem in problems],
    }


def estimate(
    name: str,
    rows: Sequence[Row],
    answers: Sequence[Answer],
    problems: Sequence[Problem],
    *,
    api_url: str,
) -> Estimate:
    """Return what *rows* would cost."""
    priced = [answer.row for answer in answers if isinstance(answer, Priced)]
    repeated = sum(isinstance(answer, Duplicate) for answer in answers)
    return {
        "campaignId": name,
        "jobs": len(priced),
        "repeated": repeated,
        "refused": len(rows) - len(priced) - repeated,
        "costEstimate": str(sum((row.cost_estimate for row in priced), Decimal(0))),
        "problems": [said(problem, api_url=api_url) for problem in problems],
    }
