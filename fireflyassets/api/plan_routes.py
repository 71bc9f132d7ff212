"""Routes of plans: a brief priced and projected, and released as it was planned.

Belongs here: HTTP in front of ``stages/planning.py``. Does not: its rules, tokens' form.
"""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from fireflyassets.api import description, plan_shapes, plan_tokens, shapes
from fireflyassets.api.answers import IfNoneMatch, body_of, tell
from fireflyassets.api.bodies import CSV, JSON_LINES, BriefBody, media_type
from fireflyassets.api.description import RETOLD, refusals
from fireflyassets.api.desk import AtDesk, Desk, Reader, Writer, require_campaign
from fireflyassets.api.intake_routes import insist_on_some, read_brief
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core import ids
from fireflyassets.core.errors import CampaignMoved
from fireflyassets.core.plan import Plan
from fireflyassets.core.request import Problem
from fireflyassets.stages.intake import problems_of
from fireflyassets.stages.planning import digest_of

router: Final = APIRouter()


@router.post(
    "/v1/plans",
    response_model=plan_shapes.PlannedJobs,
    responses=refusals(
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    ),
    openapi_extra=description.BRIEF,
)
def plan_brief(
    request: Request,
    at: AtDesk,
    who: Writer,
    body: BriefBody,
    campaign: Annotated[str, Query(pattern=f"^{ids.SLUG.pattern}$")],
) -> Response:
    """Tell what a brief would cost, when it would be done, and what would be refused.

    The token releases it within a day, as long as the campaign and its templates stay as they are.
    """
    is_csv = media_type(request, CSV, JSON_LINES) == CSV
    made, token = planned(at, who.tenant, campaign, body, is_csv=is_csv)
    return JSONResponse(plan_shapes.plan(made, token, api_url=at.api_url))


@router.post(
    "/v1/plans/{token}/release",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.Batch,
    responses=refusals(
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.CONFLICT,
        HTTPStatus.GONE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    ),
)
def release_plan(at: AtDesk, who: Writer, token: str) -> Response:
    """Accept the rows of a plan that fit, as they were planned. Releasing it again is safe."""
    return JSONResponse(released(at, who.tenant, token), HTTPStatus.ACCEPTED)


@router.get(
    "/v1/campaigns/{campaign}/plan",
    response_model=plan_shapes.CampaignPlan,
    responses={**RETOLD, **refusals(HTTPStatus.NOT_FOUND)},
)
def compare_plan(
    at: AtDesk, who: Reader, campaign: str, if_none_match: IfNoneMatch = None
) -> Response:
    """Tell how the jobs of the last released plan stand against what it said."""
    require_campaign(at, who.tenant, campaign)
    found = at.campaigns.planned(who.tenant, campaign)
    told: plan_shapes.CampaignPlan = {
        "campaignId": campaign,
        "plan": None if found is None else plan_shapes.standing(found),
    }
    return tell(body_of(told), if_none_match)


def planned(
    at: Desk, tenant: str, campaign: str, content: bytes, *, is_csv: bool
) -> tuple[Plan, str | None]:
    """Return the plan of a brief and, where there is something to release, its token."""
    brief = read_brief(content, is_csv=is_csv, detail="The file can't be read.")
    digest = digest_of(content)
    made = at.planning.plan(brief.rows, digest, customer=tenant, campaign=campaign)
    return made, plan_tokens.issued(made, content, at.planning, at.seals, is_csv=is_csv)


def released(at: Desk, tenant: str, token: str) -> shapes.Batch:
    """Release a plan and return what became of its rows.

    Raises:
        ProblemRaised: It is none of the tenant's, too old, or its brief is not kept any more; the
            campaign is not what was planned with; or no row of it fits any more.
    """
    promise = plan_tokens.opened(token, at.seals, at.ports.clock, tenant=tenant)
    brief = at.planning.brief(promise)
    if brief is None:
        raise plan_tokens.outdated("The brief of the plan is no longer kept as it was.")
    try:
        answers = at.planning.release(promise, brief.rows)
    except CampaignMoved as moved:
        problem = Problem("token", "plan", str(moved), moved.remedy)
        raise ProblemRaised(HTTPStatus.CONFLICT, str(moved), problem) from moved
    at.campaigns.moved(tenant, promise.campaign)
    problems = problems_of(brief.rows, answers)
    insist_on_some(answers, problems, partial=True)
    return shapes.batch(promise.campaign, brief.rows, answers, problems, api_url=at.api_url)
