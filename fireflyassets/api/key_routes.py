"""Routes of API keys: a tenant's own admins make, rotate and revoke them.

Belongs here: HTTP in front of ``stages/api_keys.py``. Does not: its rules, reading a key that
somebody sent (``tokens.py``). A key makes no keys: one that was stolen would outlive its end.
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from fireflyassets.api.bodies import JobBody
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Desk, Operator
from fireflyassets.api.problems import ProblemRaised, not_found
from fireflyassets.api.tokens import Caller
from fireflyassets.api.wishes import body as body_of
from fireflyassets.api.wishes import wish
from fireflyassets.core.api_key import LONGEST, USUAL, ApiKey, KeyState, Scope
from fireflyassets.core.event import Instant, instant
from fireflyassets.core.request import Problem
from fireflyassets.stages.api_keys import Issued

router: Final = APIRouter()

_PRIVATE: Final = {"Cache-Control": "no-store"}
_OF_A_BODY: Final = refusals(
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


class NewKey(BaseModel):
    """What a key is made of."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"name": "Asset store", "scopes": ["jobs:write", "jobs:read"], "days": 90}
        },
    )

    name: str = Field(min_length=1, max_length=100, description="What uses it.")
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope))
    days: int = Field(default=USUAL.days, ge=1, le=LONGEST.days, strict=True)


class KeyShape(TypedDict):
    """A key, without its secret."""

    keyId: str
    name: str
    scopes: list[str]
    state: Annotated[str, Field(json_schema_extra={"enum": [one.value for one in KeyState]})]
    createdAt: Instant
    createdBy: str
    expiresAt: Instant
    lastUsedAt: Annotated[Instant | None, Field(description="To the hour; null: never.")]


class KeyWithSecret(KeyShape):
    """A key as it is shown once."""

    apiKey: Annotated[str, Field(description="Send it as Authorization: Bearer …")]


class KeyList(TypedDict):
    """All keys of a tenant that serve, or ended within ninety days."""

    keys: list[KeyShape]


def _person(who: Operator) -> Caller:
    if who.by_key:
        said = "API keys are made, rotated and revoked with a person's token."
        raise ProblemRaised(
            HTTPStatus.FORBIDDEN,
            said,
            Problem("Authorization", "person", said, "Send a token of the issuer."),
        )
    return who


Person = Annotated[Caller, Depends(_person)]


@router.post(
    "/v1/api-keys",
    status_code=HTTPStatus.CREATED,
    response_model=KeyWithSecret,
    responses=_OF_A_BODY,
    openapi_extra=body_of(NewKey),
)
def issue_key(at: AtDesk, who: Person, body: JobBody) -> Response:
    """Make an API key for a system that has no OIDC. It is shown here, and never again."""
    asked = wish(NewKey, body, of="API key")
    if beyond := sorted(set(asked.scopes) - who.scopes):
        said = f"Your token lacks {', '.join(beyond)}, which the key is to have."
        problem = Problem("scopes", "scope", said, "Ask for scopes that you have yourself.")
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, "The API key is not right.", problem)
    told = at.api_keys.issue(
        who.tenant,
        name=asked.name,
        scopes=asked.scopes,
        life=timedelta(days=asked.days),
        by=who.subject,
    )
    return _issued(at, told, HTTPStatus.CREATED)


@router.get("/v1/api-keys", response_model=KeyList, responses=refusals())
def list_keys(at: AtDesk, who: Operator) -> Response:
    """List the tenant's API keys, without their secrets, which nobody has."""
    keys = [_shape(at, one) for one in at.ports.api_keys.keys(who.tenant)]
    return JSONResponse({"keys": keys}, headers=_PRIVATE)


@router.post(
    "/v1/api-keys/{key_id}/rotate",
    response_model=KeyWithSecret,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def rotate_key(at: AtDesk, who: Person, key_id: str) -> Response:
    """Make a successor, shown this once. The key serves beside it for 24 hours at most."""
    told = at.api_keys.rotate(who.tenant, key_id, by=who.subject)
    return _issued(at, told, HTTPStatus.OK)


@router.delete(
    "/v1/api-keys/{key_id}", response_model=KeyShape, responses=refusals(HTTPStatus.NOT_FOUND)
)
def revoke_key(at: AtDesk, who: Person, key_id: str) -> Response:
    """Revoke an API key: it serves nobody from now on. Asking again is safe."""
    told = at.api_keys.revoke(who.tenant, key_id, by=who.subject)
    if told is None:
        raise _none()
    return JSONResponse(_shape(at, told), headers=_PRIVATE)


def _issued(at: Desk, told: Issued | Problem | None, status: HTTPStatus) -> Response:
    if told is None:
        raise _none()
    if isinstance(told, Problem):
        raise ProblemRaised(HTTPStatus.CONFLICT, "No API key was made.", told)
    said: dict[str, Any] = {**_shape(at, told.key), "apiKey": told.text}
    return JSONResponse(said, status, headers=_PRIVATE)


def _none() -> ProblemRaised:
    return not_found("There is no such API key.", "key_id")


def _shape(at: Desk, one: ApiKey) -> KeyShape:
    return {
        "keyId": one.key_id,
        "name": one.name,
        "scopes": sorted(one.scopes),
        "state": one.state(at.ports.clock.now()).value,
        "createdAt": instant(one.created_at),
        "createdBy": one.created_by,
        "expiresAt": instant(one.expires_at),
        "lastUsedAt": None if one.last_used_at is None else instant(one.last_used_at),
    }
