"""The route that tells why a job waits. Here: HTTP and the shape. Not here: the causes."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Reader, job_row
from fireflyassets.core.cause import HeldBy
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.core.why import Why
from fireflyassets.stages import notify

router: Final = APIRouter()


class JobWhy(TypedDict):
    """Why a job is not being made just now."""

    jobId: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    status: Annotated[str, Field(json_schema_extra={"enum": [one.value for one in Status]})]
    heldBy: Annotated[str, Field(json_schema_extra={"enum": [one.value for one in HeldBy]})]
    cause: Annotated[str, Field(description="The cause by name.", examples=["DayQuotaUsed"])]
    reason: str
    since: notify.Instant
    expectedStart: Annotated[
        notify.Instant | None, Field(description="Null: it has begun, or nobody can say.")
    ]
    liftedBy: Annotated[str, Field(description="Who can lift it, and how.")]


def told(row: JobRow, found: Why) -> JobWhy:
    """Return an answer as JSON."""
    cause, starts = found.cause, found.expected_start
    return {
        "jobId": row.job_id,
        "status": row.status.value,
        "heldBy": cause.held_by.value,
        "cause": type(cause).__name__,
        "reason": cause.sentence,
        "since": notify.instant(cause.since),
        "expectedStart": None if starts is None else notify.instant(starts),
        "liftedBy": cause.lifted_by,
    }


@router.get(
    "/v1/jobs/{job_id}/why", response_model=JobWhy, responses=refusals(HTTPStatus.NOT_FOUND)
)
def tell_why(at: AtDesk, who: Reader, job_id: str) -> Response:
    """Tell what holds a job, since when, when it is likely to begin, and who can lift it."""
    row = job_row(at, who.tenant, job_id)
    return JSONResponse(told(row, at.asking.why(row)), headers={"Cache-Control": "no-store"})
