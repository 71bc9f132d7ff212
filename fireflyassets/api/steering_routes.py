"""Routes that steer: cancel or resume a job, hold its files; hold, resume and cancel a campaign.

Belongs here: HTTP before ``stages/steering.py`` and ``stages/holding.py``. Does not: their rules.
"""

from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from fireflyassets.api import shapes
from fireflyassets.api.bodies import JSON, ReasonBody, json_fields
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Operator, Writer, job_row, require_campaign
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.result_routes import campaign_sums
from fireflyassets.api.shown_job import ShownJob, shown_job
from fireflyassets.core import schemas
from fireflyassets.core.request import Problem, reason_of
from fireflyassets.stages.steering import Cancelling, Kept

router: Final = APIRouter()

_OF_A_CAMPAIGN: Final = refusals(HTTPStatus.NOT_FOUND)
_CANCELLING: Final[dict[str, Any]] = {
    "model": ShownJob,
    "description": "A run works on the job and ends it within half a minute, or once what it has "
    "in flight at Adobe has ended.",
}
_OF_A_REASON: Final = refusals(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


def _with_reason(*, required: bool) -> dict[str, Any]:
    content = {JSON: {"schema": schemas.REASON}}
    return {"requestBody": {"required": required, "content": content}}


def _reason(body: bytes) -> str:
    reason = reason_of(json_fields(body))
    if isinstance(reason, tuple):
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, "The reason is not right.", *reason)
    return reason


@router.post(
    "/v1/jobs/{job_id}/cancel",
    response_model=ShownJob,
    responses={HTTPStatus.ACCEPTED: _CANCELLING}
    | refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def cancel_job(at: AtDesk, who: Writer, job_id: str) -> Response:
    """Cancel a job; calls that are in flight at Adobe are called back.

    costActual says what was billed until then, costPossible what may still be billed: a call that
    is cancelled too late is billed all the same, and then moves into costActual.
    """
    told = at.steering.cancel(job_row(at, who.tenant, job_id), by=who.subject)
    if isinstance(told, Kept):
        raise ProblemRaised(
            HTTPStatus.CONFLICT,
            "The job was not cancelled.",
            Problem("job_id", "status", told.reason, told.fix),
        )
    status = HTTPStatus.ACCEPTED if isinstance(told, Cancelling) else HTTPStatus.OK
    return JSONResponse(shown_job(at, told.row), status)


@router.post(
    "/v1/jobs/{job_id}/resume",
    response_model=ShownJob,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT) | _OF_A_REASON,
    openapi_extra=_with_reason(required=True),
)
def resume_job(at: AtDesk, who: Operator, job_id: str, body: ReasonBody) -> Response:
    """Let a job go on that is held until somebody has looked. Asking again is safe."""
    row = job_row(at, who.tenant, job_id)
    told = at.steering.let_go_on(row, by=who.subject, why=_reason(body))
    if isinstance(told, Kept):
        raise ProblemRaised(
            HTTPStatus.CONFLICT,
            "The job was not resumed.",
            Problem("job_id", "status", told.reason, told.fix),
        )
    return JSONResponse(shown_job(at, told))


@router.post(
    "/v1/jobs/{job_id}/legal-hold",
    response_model=shapes.LegalHold,
    responses=refusals(HTTPStatus.NOT_FOUND) | _OF_A_REASON,
    openapi_extra=_with_reason(required=True),
)
def hold_files(at: AtDesk, who: Operator, job_id: str, body: ReasonBody) -> shapes.LegalHold:
    """Keep a job's files until they are released, whatever their retention class."""
    row, why = job_row(at, who.tenant, job_id), _reason(body)
    files = at.holding.hold(who.tenant, row.campaign_id, job_id, by=who.subject, why=why)
    return {"held": True, "files": len(files)}


@router.post(
    "/v1/jobs/{job_id}/legal-hold/release",
    response_model=shapes.LegalHold,
    responses=refusals(HTTPStatus.NOT_FOUND) | _OF_A_REASON,
    openapi_extra=_with_reason(required=True),
)
def release_files(at: AtDesk, who: Operator, job_id: str, body: ReasonBody) -> shapes.LegalHold:
    """Give a job's files back to their retention class."""
    row, why = job_row(at, who.tenant, job_id), _reason(body)
    files = at.holding.release(who.tenant, row.campaign_id, job_id, by=who.subject, why=why)
    return {"held": False, "files": len(files)}


@router.post(
    "/v1/campaigns/{campaign}/hold",
    response_model=shapes.Campaign,
    responses=_OF_A_CAMPAIGN | _OF_A_REASON,
    openapi_extra=_with_reason(required=False),
)
def hold_campaign(at: AtDesk, who: Operator, campaign: str, body: ReasonBody) -> Response:
    """Put a campaign on hold: no wave of it begins. What runs goes on to its end."""
    require_campaign(at, who.tenant, campaign)
    reason = _reason(body) if body else "asked for"
    at.steering.hold(who.tenant, campaign, reason=reason, by=who.subject)
    at.campaigns.moved(who.tenant, campaign)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))


@router.post(
    "/v1/campaigns/{campaign}/resume", response_model=shapes.Campaign, responses=_OF_A_CAMPAIGN
)
def resume_campaign(at: AtDesk, who: Operator, campaign: str) -> Response:
    """Let a campaign go on. Asking again is safe."""
    require_campaign(at, who.tenant, campaign)
    at.steering.resume(who.tenant, campaign)
    at.campaigns.moved(who.tenant, campaign)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))


@router.post(
    "/v1/campaigns/{campaign}/cancel", response_model=shapes.Campaign, responses=_OF_A_CAMPAIGN
)
def cancel_campaign(at: AtDesk, who: Operator, campaign: str) -> Response:
    """Cancel what waits at once, and what runs as soon as its run hears of it.

    The campaign is on hold then, for what is sent later too, until it is resumed.
    """
    require_campaign(at, who.tenant, campaign)
    at.steering.cancel_all(who.tenant, campaign, by=who.subject)
    at.campaigns.moved(who.tenant, campaign)
    return JSONResponse(campaign_sums(at, who.tenant, campaign))
