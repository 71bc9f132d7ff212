"""Routes that tell and hand out: jobs, campaigns, outputs, thumbnails.

Belongs here: reads of the caller's own rows. Does not: writes.
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api import answers, budget_shapes, shapes
from fireflyassets.api.answers import IfNoneMatch, body_of, place, tell
from fireflyassets.api.description import RETOLD, headers, refusals
from fireflyassets.api.desk import (
    AtDesk,
    Desk,
    Onlooker,
    Reader,
    job_row,
    require_campaign,
)
from fireflyassets.api.problems import ProblemRaised, not_found
from fireflyassets.api.shown_job import ShownJob, shown_job
from fireflyassets.api.tokens import Caller
from fireflyassets.core import ids
from fireflyassets.core.api_key import Scope
from fireflyassets.core.budget import month_of, side_by_side
from fireflyassets.core.finish import Expectation, expected
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.core.sums import Sums
from fireflyassets.stages import notify
from fireflyassets.stages.outlook import each_call

router: Final = APIRouter()


URL_LIFE: Final = timedelta(minutes=5)
"""Long enough to begin a download on a slow line; the address of ours signs a new one any time."""
MOST_JOBS: Final = 1000
"""On one page: about 600 kB."""
_NOT_STORED: Final = {"Cache-Control": "no-store"}


@router.get(
    "/v1/jobs/{job_id}",
    response_model=ShownJob,
    responses={**RETOLD, **refusals(HTTPStatus.NOT_FOUND)},
)
def show_job(at: AtDesk, who: Reader, job_id: str, if_none_match: IfNoneMatch = None) -> Response:
    """Tell how a job stands, and what its calls and tries have come to so far."""
    row = job_row(at, who.tenant, job_id)
    return tell(body_of(shown_job(at, row)), if_none_match)


@router.get(
    "/v1/jobs/{job_id}/outputs/{aspect}",
    status_code=HTTPStatus.TEMPORARY_REDIRECT,
    response_class=RedirectResponse,
    responses={
        HTTPStatus.TEMPORARY_REDIRECT: {
            "headers": headers(Location="A URL that reads the file, for some minutes."),
        },
        **refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE),
    },
)
def hand_out(at: AtDesk, who: Reader, job_id: str, aspect: str) -> Response:
    """Redirect to a rendition, by a URL signed now."""
    row = job_row(at, who.tenant, job_id)
    if row.status is not Status.SUCCEEDED:
        raise _without_outputs(row)
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


def _without_outputs(row: JobRow) -> ProblemRaised:
    """Say that a job is there and its outputs are not, and whether they will be."""
    closed = row.status in {Status.CANCELLED, Status.FAILED, Status.REVIEW}
    detail = f"The job is {row.status.value}; it has no outputs{'' if closed else ' yet'}."
    fix = (
        "Send it anew, mended if need be, under a new key."
        if closed
        else "Look how the job stands."
    )
    return ProblemRaised(HTTPStatus.NOT_FOUND, detail, Problem("job_id", "status", detail, fix))


@router.get(
    "/v1/campaigns/{campaign}",
    response_model=shapes.Campaign,
    responses={**RETOLD, **refusals(HTTPStatus.NOT_FOUND)},
)
def sum_up(at: AtDesk, who: Reader, campaign: str, if_none_match: IfNoneMatch = None) -> Response:
    """Tell a campaign's counts by status, its cost so far, and when it is expected to be done."""
    require_campaign(at, who.tenant, campaign)
    return tell(body_of(campaign_sums(at, who.tenant, campaign)), if_none_match)


def campaign_sums(at: Desk, tenant: str, campaign: str) -> shapes.Campaign:
    """Return a campaign's sums, seconds late at most; whether it is on hold is told as it is."""
    fault = at.ports.catalogue.fault(f"{tenant}/{campaign}")
    hold = at.ports.ledger.campaign_hold(tenant, campaign)
    sums = at.campaigns.sums(tenant, campaign)
    finish = _finish(at, tenant, campaign, sums, stopped=fault is not None or hold is not None)
    return shapes.campaign(campaign, sums, hold, finish, out_of_service=fault)


def _finish(at: Desk, tenant: str, campaign: str, sums: Sums, *, stopped: bool) -> Expectation:
    if stopped:
        why = "No finish is expected: it is on hold or out of service."
        return Expectation(None, None, why)
    loaded = at.ports.catalogue.campaign(tenant, campaign)
    traffic = at.outlook.traffic_of(loaded)
    return expected(sums, each_call(loaded), traffic)


@router.get(
    "/v1/campaigns/{campaign}/jobs",
    response_model=shapes.CampaignJobs,
    responses={
        **RETOLD,
        **refusals(
            HTTPStatus.NOT_FOUND,
            HTTPStatus.UNPROCESSABLE_ENTITY,
        ),
    },
)
def list_jobs(
    at: AtDesk,
    who: Reader,
    campaign: str,
    status: Annotated[Status | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 200,
    cursor: Annotated[str | None, Query(description="next of the page before.")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """List a campaign's jobs in the order they came in, page by page; seconds late at most."""
    after = None if cursor is None else place(cursor, tenant=who.tenant, campaign=campaign)

    def page() -> bytes:
        require_campaign(at, who.tenant, campaign)
        rows = at.ports.ledger.campaign_page(
            who.tenant, campaign, after=after, status=status, most=limit
        )
        told: shapes.CampaignJobs = {
            "campaignId": campaign,
            "jobs": [shapes.job(row, api_url=at.api_url) for row in rows],
            "next": answers.cursor(rows[-1]) if len(rows) == limit else None,
        }
        return body_of(told)

    asked = (who.tenant, campaign, after, status, limit)
    return tell(at.pages.page(asked, page), if_none_match)


@router.get("/v1/budgets", response_model=budget_shapes.Budgets, responses={**RETOLD, **refusals()})
def show_budgets(at: AtDesk, who: Reader, if_none_match: IfNoneMatch = None) -> Response:
    """Tell this month's budgets: what is spent, reserved and left; none is set: no cap."""
    now, ports = at.ports.clock.now(), at.ports
    month = month_of(now)
    caps = ports.catalogue.caps(who.tenant, now.date())
    found = side_by_side(caps, ports.ledger.counters(who.tenant, month), who.tenant, month)
    return tell(body_of(budget_shapes.budgets(month, found, now)), if_none_match)


@router.get("/assets/{customer}/{campaign}/{job_id}/{name}", include_in_schema=False)
def show_thumbnail(
    at: AtDesk, who: Onlooker, customer: str, campaign: str, job_id: str, name: str
) -> Response:
    """Show a small picture of a job, for our own pages."""
    missing = not_found("There is no such picture.", "job_id")
    if who is not None and who.tenant != customer:
        raise missing
    row = job_row(at, customer, job_id)
    if who is not None and not may_see(who, row):
        raise missing
    small = at.thumbnails.of(row, name) if row.campaign_id == campaign else None
    if small is None:
        raise missing
    return Response(
        small, media_type="image/webp", headers={"Cache-Control": "private, max-age=60"}
    )


def may_see(who: Caller, row: JobRow) -> bool:
    """Say whether pictures of a job may be shown: reviewers alone see what is not approved."""
    open_review = row.human_reviewed in {HumanReview.PENDING, HumanReview.REJECTED}
    return not open_review or Scope.REVIEW in who.scopes
