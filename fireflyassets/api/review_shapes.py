"""Reviews as JSON, and the body that decides.

Belongs here: names and forms of fields. Does not: routes, rules.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from fireflyassets.core import ids
from fireflyassets.core.event import Instant, instant
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import ACTIONS, Code, Judgement, Move
from fireflyassets.stages.review import MOST, NOTE_LIMIT, Outcome, Pick, Ruling


class Seen(BaseModel):
    """A job as it was seen."""

    model_config = ConfigDict(extra="forbid")

    jobId: str = Field(max_length=64)  # noqa: N815 - as everywhere in the API.
    version: int = Field(ge=0, description="Of the list: another one by now is refused.")


class Decision(BaseModel):
    """What is decided on which jobs."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "decision": "reject",
                "code": "R-QUALITY",
                "jobs": [{"jobId": "0b6f…", "version": 1}],
            }
        },
    )

    decision: Move
    jobs: list[Seen] = Field(min_length=1, max_length=MOST)
    code: Code | None = None
    note: str = Field(default="", max_length=NOTE_LIMIT)
    cluster: bool = Field(
        default=False, description="They are one cluster: some are drawn for a second look."
    )

    def picks(self) -> list[Pick]:
        """Return the jobs as they were seen."""
        return [Pick(one.jobId, one.version) for one in self.jobs]

    def ruling(self, by: str) -> Ruling:
        """Return what is decided."""
        return Ruling(self.decision, by, self.code, self.note, is_cluster=self.cluster)


class Reviewable(TypedDict):
    """A job that waits for its review."""

    jobId: str
    version: int
    key: str
    aspects: list[str]
    since: Annotated[Instant | None, Field(description="It has been made since then.")]
    lastDecision: str | None


class ReviewList(TypedDict):
    """A page of jobs that wait for their review."""

    campaignId: str
    jobs: list[Reviewable]
    next: Annotated[str | None, Field(description="cursor of the next page; null: none.")]


class RefusedJob(TypedDict):
    """A job that nothing was decided on."""

    jobId: str
    reason: str


class DecidedJob(TypedDict):
    """A job as it was decided on."""

    jobId: str
    version: int
    humanReviewed: str
    decision: str


class Decided(TypedDict):
    """What came of a decision."""

    act: str
    decided: list[DecidedJob]
    refused: list[RefusedJob]


class JudgementShape(TypedDict):
    """One decision in a job's history."""

    version: int
    decision: str
    by: str
    at: Instant
    code: str | None
    action: Annotated[str | None, Field(description="What is to be done about the rejection.")]
    note: str


class History(TypedDict):
    """All decisions on a job, the first first."""

    jobId: str
    decisions: list[JudgementShape]


def reviewable(row: JobRow) -> Reviewable:
    """Return a job that waits for its review."""
    return {
        "jobId": row.job_id,
        "version": row.epoch,
        "key": row.idempotency_key,
        "aspects": [*map(ids.delivered_aspect, row.outputs)],
        "since": instant(row.ended_at) if row.ended_at else None,
        "lastDecision": row.judged.move.value if row.judged else None,
    }


def decided(outcome: Outcome) -> Decided:
    """Return what came of a decision."""
    return {
        "act": outcome.act,
        "decided": [
            {
                "jobId": row.job_id,
                "version": row.epoch,
                "humanReviewed": row.human_reviewed.value,
                "decision": row.judged.move.value if row.judged else "",
            }
            for row in outcome.rows
        ],
        "refused": [{"jobId": one.job_id, "reason": one.reason} for one in outcome.refused],
    }


def judgement(one: Judgement) -> JudgementShape:
    """Return a decision of a job's history."""
    return {
        "version": one.version,
        "decision": one.move.value,
        "by": one.by,
        "at": instant(one.at),
        "code": one.code.value if one.code else None,
        "action": ACTIONS[one.code] if one.code else None,
        "note": one.note,
    }
