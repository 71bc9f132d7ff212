"""Routes of reviews: what waits for a person, and what people decide.

Belongs here: HTTP in front of ``stages/review.py``. Does not: its rules.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from fireflyassets.api import answers
from fireflyassets.api import review_shapes as shapes
from fireflyassets.api.answers import place
from fireflyassets.api.bodies import JobBody
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Desk, Reviewer, job_row, require_campaign
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.tokens import Caller
from fireflyassets.api.wishes import body as described
from fireflyassets.api.wishes import wish
from fireflyassets.core.request import Problem
from fireflyassets.stages.review import Outcome, Pick, Ruling

router: Final = APIRouter()

MOST: Final = 1000
"""Jobs on one page."""
_PRIVATE: Final = {"Cache-Control": "no-store"}
_OF_A_BODY: Final = refusals(
    HTTPStatus.NOT_FOUND,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


@router.get(
    "/v1/campaigns/{campaign}/reviews",
    response_model=shapes.ReviewList,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def list_reviews(
    at: AtDesk,
    who: Reviewer,
    campaign: str,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 200,
    cursor: Annotated[str | None, Query(description="next of the page before.")] = None,
) -> Response:
    """List the jobs that wait for a review, in the order they came in, page by page."""
    after = None if cursor is None else place(cursor, tenant=who.tenant, campaign=campaign)
    require_campaign(at, who.tenant, campaign)
    rows = at.ports.ledger.unreviewed(who.tenant, campaign, after=after, most=limit)
    told: shapes.ReviewList = {
        "campaignId": campaign,
        "jobs": [*map(shapes.reviewable, rows)],
        "next": answers.cursor(rows[-1]) if len(rows) == limit else None,
    }
    return JSONResponse(told, headers=_PRIVATE)


@router.post(
    "/v1/campaigns/{campaign}/reviews",
    response_model=shapes.Decided,
    responses=_OF_A_BODY,
    openapi_extra=described(shapes.Decision),
)
def decide_on_jobs(at: AtDesk, who: Reviewer, campaign: str, body: JobBody) -> Response:
    """Decide on jobs as they were seen. Those that moved since are refused, each with its reason.

    Sending the same again decides nothing twice.
    """
    require_campaign(at, who.tenant, campaign)
    said = wish(shapes.Decision, body, of="decision")
    told = decide(at, who, campaign, said.picks(), said.ruling(who.subject))
    if isinstance(told, tuple):
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise ProblemRaised(status, "The decision is not right.", *told)
    return JSONResponse(shapes.decided(told), headers=_PRIVATE)


@router.get(
    "/v1/jobs/{job_id}/reviews",
    response_model=shapes.History,
    responses=refusals(HTTPStatus.NOT_FOUND),
)
def show_history(at: AtDesk, who: Reviewer, job_id: str) -> Response:
    """Tell all decisions on a job's outputs, the first first."""
    row = job_row(at, who.tenant, job_id)
    found = at.ports.ledger.judgements(row.job_id)
    told: shapes.History = {"jobId": job_id, "decisions": [*map(shapes.judgement, found)]}
    return JSONResponse(told, headers=_PRIVATE)


def decide(
    at: Desk, who: Caller, campaign: str, picks: Sequence[Pick], ruling: Ruling
) -> Outcome | tuple[Problem, ...]:
    """Decide, and let the objects' tags say so at once."""
    told = at.reviews.judge(who.tenant, campaign, picks, ruling)
    if isinstance(told, Outcome) and told.rows:
        at.showing.tag(told.rows)
        at.campaigns.moved(who.tenant, campaign)
    return told
