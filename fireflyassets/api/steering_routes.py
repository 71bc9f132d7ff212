"""Routes that steer: cancel a job; hold, resume and cancel a campaign.

Belongs here: HTTP in front of ``stages/steering.py``. Does not: its rules.
"""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from fireflyassets.api import shapes
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Operator, Writer, job_row, require_campaign
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.result_routes import campaign_sums
from fireflyassets.core.request import Problem
from fireflyassets.stages.steering import Kept

router: Final = APIRouter()

Reason = Annotated[
    str, Query(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", description="Why.")
]
_OF_A_CAMPAIGN: Final = refusals(HTTPStatus.NOT_FOUND)


@router.post(
    "/v1/jobs/{job_id}/cancel",
    response_model=shapes.Job,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def cancel_job(at: AtDesk, who: Writer, job_id: str) -> Response:
    """Cancel a job that no wave works on; costActual says what was billed for it until then."""
    told = at.steering.cancel(job_row(at, who.tenant, job_id), by=who.subject)
    if isinstance(told, Kept):
        raise ProblemRaised(
            HTTPStatus.CONFLICT,
            "The job was not cancelled.",
            Problem("job_id", "status", told.reason, told.fix),
        )
    return JSONResponse(shapes.job(told.row, api_url=at.api_url))


@router.post(
    "/v1/campaigns/{campaign}/hold",
    response_model=shapes.Campaign,
    responses={**_OF_A_CAMPAIGN, **refusals(HTTPStatus.UNPROCESSABLE_ENTITY)},
)
def hold_campaign(
    at: AtDesk, who: Operator, campaign: str, reason: Reason = "asked for"
) -> Response:
    """Put a campaign on hold: no wave of it begins. What runs goes on to its end."""
    require_campaign(at, who.tenant, campaign)
    at.steering.hold(who.tenant, campaign, reason=reason, by=who.subject)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))


@router.post(
    "/v1/campaigns/{campaign}/resume", response_model=shapes.Campaign, responses=_OF_A_CAMPAIGN
)
def resume_campaign(at: AtDesk, who: Operator, campaign: str) -> Response:
    """Let a campaign go on. Asking again is safe."""
    require_campaign(at, who.tenant, campaign)
    at.steering.resume(who.tenant, campaign)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))


@router.post(
    "/v1/campaigns/{campaign}/cancel", response_model=shapes.Campaign, responses=_OF_A_CAMPAIGN
)
def cancel_campaign(at: AtDesk, who: Operator, campaign: str) -> Response:
    """Cancel what waits, and hold the rest: ask again until `byStatus` shows none running."""
    require_campaign(at, who.tenant, campaign)
    at.steering.cancel_all(who.tenant, campaign, by=who.subject)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))
