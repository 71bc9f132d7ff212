"""Routes that add campaigns.

Belongs here: HTTP in front of ``stages/adding.py``. Does not: its rules.
"""

from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.bodies import JSON, JobBody, json_fields
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Operator
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core import schemas
from fireflyassets.ports.campaign_store import Added, NameTaken
from fireflyassets.stages import adding

router: Final = APIRouter()


class NewCampaign(TypedDict):
    """A campaign that was added."""

    campaignId: str
    title: str
    version: Annotated[str, Field(description="What its jobs pin; it changes with the file.")]
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]


_BODY: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {JSON: {"schema": schemas.NEW_CAMPAIGN}}}
}


@router.post(
    "/v1/campaigns",
    status_code=HTTPStatus.CREATED,
    response_model=NewCampaign,
    responses=refusals(
        HTTPStatus.CONFLICT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    ),
    openapi_extra=_BODY,
)
def add_campaign(
    at: AtDesk,
    who: Operator,
    body: JobBody,
    like: Annotated[
        str | None,
        Query(description="A campaign of yours, for recipe, templates and all that is left out."),
    ] = None,
) -> Response:
    """Add a campaign, as its file would say it. Jobs are taken within seconds, and made soon."""
    fields = json_fields(body)
    ports = at.ports
    answer = adding.add(
        ports.campaigns, ports.catalogue, ports.clock, customer=who.tenant, said=fields, like=like
    )
    if isinstance(answer, NameTaken):
        taken = adding.name_taken(str(fields.get("campaign")))
        raise ProblemRaised(HTTPStatus.CONFLICT, "The campaign was not added.", taken)
    if not isinstance(answer, Added):
        detail = "The campaign was not added."
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, detail, *answer)
    config = answer.campaign.config
    told: NewCampaign = {
        "campaignId": config.campaign,
        "title": config.title,
        "version": answer.campaign.version,
        "url": f"{at.api_url}/v1/campaigns/{config.campaign}",
    }
    return JSONResponse(told, HTTPStatus.CREATED, headers={"Location": told["url"]})
