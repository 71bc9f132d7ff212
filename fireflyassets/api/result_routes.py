"""Routes that tell and hand out: jobs, campaigns, outputs, thumbnails.

Belongs here: reads of the caller's own rows. Does not: writes.
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, RedirectResponse, Response

from fireflyassets.api import shapes
from fireflyassets.api.desk import AtDesk, Desk, Onlooker, Tenant
from fireflyassets.api.problems import ProblemRaised, not_found
from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.status import Status
from fireflyassets.stages import notify

router: Final = APIRouter()

URL_LIFE: Final = timedelta(minutes=5)
"""Long enough to begin a download on a slow line; the address of ours signs a new one any time."""
_NOT_STORED: Final = {"Cache-Control": "no-store"}


@router.get("/v1/jobs/{job_id}")
def show_job(at: AtDesk, who: Tenant, job_id: str) -> Response:
    """Tell how a job stands."""
    row = _row(at, who, job_id)
    return JSONResponse(shapes.job(row, api_url=at.api_url), headers=_NOT_STORED)


@router.get("/v1/jobs/{job_id}/outputs/{aspect}")
def hand_out(at: AtDesk, who: Tenant, job_id: str, aspect: str) -> Response:
    """Redirect to a rendition, by a URL signed now."""
    row = _row(at, who, job_id)
    if row.status is not Status.SUCCEEDED:
        raise not_found(f"The job is {row.status.value}; it has no outputs yet.", "job_id")
    if not notify.is_published(row):
        detail = f"The outputs are not published: their review is {row.human_reviewed.value}."
        problem = Problem("job_id", "review", detail, "Wait for the reviewers.")
        raise ProblemRaised(HTTPStatus.CONFLICT, detail, problem)
    key = next((key for key in row.outputs if ids.delivered_aspect(key) == aspect), None)
    if key is None:
        raise not_found("The job has no output of that aspect.", "aspect")
    if not at.ports.objects.exists(key):
        detail = "The output is no longer kept."
        problem = Problem("aspect", "expired", detail, "Ask for the job anew under a new key.")
        raise ProblemRaised(HTTPStatus.GONE, detail, problem)
    url = at.ports.objects.read_url(key, life=URL_LIFE)
    return RedirectResponse(url, HTTPStatus.TEMPORARY_REDIRECT, headers=_NOT_STORED)


@router.get("/v1/campaigns/{campaign}")
def sum_up(at: AtDesk, who: Tenant, campaign: str) -> Response:
    """Tell a campaign's counts by status, and its operations: estimated, actual and possible."""
    rows = _rows(at, who, campaign)
    return JSONResponse(shapes.campaign(campaign, rows), headers=_NOT_STORED)


@router.get("/v1/campaigns/{campaign}/jobs")
def list_jobs(
    at: AtDesk, who: Tenant, campaign: str, status: Annotated[Status | None, Query()] = None
) -> Response:
    """List all of a campaign's jobs, the oldest first; a campaign holds at most some thousands."""
    rows = [row for row in _rows(at, who, campaign) if status in {None, row.status}]
    jobs = [shapes.job(row, api_url=at.api_url) for row in rows]
    return JSONResponse({"campaignId": campaign, "jobs": jobs}, headers=_NOT_STORED)


@router.get("/assets/{customer}/{campaign}/{job_id}/{name}", include_in_schema=False)
def show_thumbnail(
    at: AtDesk, who: Onlooker, customer: str, campaign: str, job_id: str, name: str
) -> Response:
    """Show a small picture of a job, for our own pages."""
    missing = not_found("There is no such picture.", "job_id")
    if who not in {None, customer}:
        raise missing
    row = _row(at, customer, job_id)
    small = at.thumbnails.of(row, name) if row.campaign_id == campaign else None
    if small is None:
        raise missing
    return Response(
        small, media_type="image/webp", headers={"Cache-Control": "private, max-age=60"}
    )


@router.get("/health", include_in_schema=False)
def show_health() -> Response:
    """Say that the process answers; it looks at nothing behind it."""
    return JSONResponse({"status": "ok"}, headers=_NOT_STORED)


def _row(at: Desk, who: str, job_id: str) -> JobRow:
    """Return the tenant's own row; another tenant's is as absent as none."""
    found = at.ports.ledger.jobs(who, [job_id]) if ids.KEY.fullmatch(job_id) else {}
    if job_id not in found:
        raise not_found("There is no such job.", "job_id")
    return found[job_id]


def _rows(at: Desk, who: str, campaign: str) -> list[JobRow]:
    if not ids.SLUG.fullmatch(campaign):
        raise not_found("There is no such campaign.", "campaign")
    rows = at.ports.ledger.campaign_jobs(who, campaign)
    if not rows:
        # Raises where there is none; a campaign may also just be new.
        at.ports.catalogue.campaign(who, campaign)
    return rows
