"""The API's description: OpenAPI 3.1 that says of each route what it really answers.

Belongs here: problems by status with an example each, examples of bodies, the document as a whole.
Does not: shapes (``shapes.py``), the wording of problems that are raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from fireflyassets.api import problems
from fireflyassets.api.bodies import CSV, JSON, JSON_LINES
from fireflyassets.api.problems import MEDIA_TYPE, SEND_AGAIN, ProblemBody
from fireflyassets.core import event
from fireflyassets.core.brief import ASPECT_SEPARATOR, HEADER
from fireflyassets.core.event import EventType
from fireflyassets.core.request import KEY_FIELD, Problem

Responses = dict[int | str, dict[str, Any]]
"""As FastAPI takes them."""

_EXAMPLE: Final = "https://assets.example.com"
_VALIDATION: Final = ("HTTPValidationError", "ValidationError")
"""Shapes that FastAPI describes for parameters; we answer with problems instead."""


@dataclass(frozen=True, slots=True)
class _Case:
    when: str
    detail: str
    problem: Problem | None = None
    headers: tuple[str, ...] = field(default=())


_CASES: Final[Mapping[HTTPStatus, _Case]] = {
    HTTPStatus.BAD_REQUEST: _Case(
        "The body is no JSON object, it lacks its key, or the api-version is unknown.",
        "The job was not accepted.",
        Problem(
            KEY_FIELD, "missing", "The idempotency key is missing.", "Send one; a UUID is advised."
        ),
    ),
    HTTPStatus.UNAUTHORIZED: _Case(
        "No valid bearer token.",
        "A valid bearer token is needed.",
        Problem("Authorization", "expired", "The token has expired.", "Get a new token."),
        ("WWW-Authenticate",),
    ),
    HTTPStatus.PAYMENT_REQUIRED: _Case(
        "A budget has no room for it; which one, its cap, what is spent and reserved is told.",
        "The job was not accepted.",
        Problem(
            "",
            "over-budget",
            "The budget customer of 2026-11 has no room for 3.5 operations: cap 100, spent 61, "
            "reserved 37.",
            "Ask for a higher cap, send fewer jobs, or wait for the next month.",
        ),
    ),
    HTTPStatus.FORBIDDEN: _Case(
        "The token is good and lacks the scope.",
        "The token lacks the scope jobs:write.",
        Problem("Authorization", "scope", "The token lacks the scope jobs:write.", "Ask for it."),
        ("WWW-Authenticate",),
    ),
    HTTPStatus.NOT_FOUND: _Case(
        "There is none of that name, or it is another tenant's.",
        "There is no such job.",
        Problem("job_id", "unknown", "There is no such job.", "Check the spelling."),
    ),
    HTTPStatus.CONFLICT: _Case(
        "It does not fit what is there: another request under the key, a review that is open.",
        "The job was not accepted.",
        Problem(
            KEY_FIELD,
            "conflict",
            "Another request was recorded under this key.",
            "Send it under a new key, or repeat the first request exactly.",
        ),
    ),
    HTTPStatus.GONE: _Case(
        "What it names is no longer kept, or too old.",
        "The output is no longer kept.",
        Problem("aspect", "expired", "The output is no longer kept.", "Ask for the job anew."),
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _Case(
        "The body is over its bound; the rest of it is not read.",
        "The body is over 65536 bytes.",
        Problem("", "size", "The body is over 65536 bytes.", "Send a smaller body, or several."),
    ),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: _Case(
        "The body is of another kind, not UTF-8, or compressed.",
        "The body is of a kind that is not read here.",
        Problem("Content-Type", "media-type", "It is not read here.", "Send application/json."),
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: _Case(
        "A parameter, a field or a row breaks a rule; all of them are named.",
        "The job was not accepted.",
        Problem("prompt", "empty", "prompt is empty.", "Write a prompt."),
    ),
    HTTPStatus.TOO_MANY_REQUESTS: _Case(
        "The tenant asks more often than is allowed, or for more than can be made in time.",
        "This tenant asks more often than is allowed.",
        Problem("", "rate", "This tenant asks more often than is allowed.", "Wait."),
        ("Retry-After",),
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: _Case(
        "A fault of ours.",
        f"The request failed on our side. {SEND_AGAIN}",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: _Case(
        "A part behind the API is away or wrongly configured; send the request again later.",
        "The ledger does not answer.",
        Problem("", "ServiceDown", "The ledger does not answer.", "Send the request again."),
    ),
}
_OF_ALL: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)


def refusals(*statuses: HTTPStatus) -> Responses:
    """Return the problems of a route: *statuses*, and those that every route has."""
    return {status.value: _problem(status, _CASES[status]) for status in (*statuses, *_OF_ALL)}


def _retold() -> Responses:
    tag = headers(ETag="Of this very answer.", Cache_Control="How long it may be kept.")
    said = "Nothing has changed since the answer whose ETag was sent."
    return {
        HTTPStatus.OK.value: {"headers": tag},
        HTTPStatus.NOT_MODIFIED.value: {"description": said, "headers": tag},
    }


def headers(**said: str) -> dict[str, Any]:
    """Return response headers that are always there; ``_`` stands for ``-``."""
    return {
        name.replace("_", "-"): {
            "description": text,
            "required": True,
            "schema": {"type": "string"},
        }
        for name, text in said.items()
    }


def _problem(status: HTTPStatus, case: _Case) -> dict[str, Any]:
    named = (case.problem,) if case.problem else ()
    told = problems.body(status, case.detail, named, api_url=_EXAMPLE)
    said: dict[str, Any] = {
        "description": case.when,
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": f"#/components/schemas/{ProblemBody.__name__}"},
                "example": told,
            }
        },
    }
    if case.headers:
        said["headers"] = headers(**dict.fromkeys(case.headers, "Always."))
    return said


RETOLD: Final = _retold()
"""What answers to be asked for again have."""

_CSV: Final[dict[str, Any]] = {
    "schema": {"type": "string"},
    "example": f"{','.join(HEADER)}\n"
    "market-01,Lemon verbena on a market stall,de-DE,Frisch vom Markt,"
    f"1080x1080{ASPECT_SEPARATOR}1920x1080\n",
}
_JSON_LINES: Final[dict[str, Any]] = {
    "schema": {"type": "string"},
    "example": '{"idempotencyKey": "market-01", "prompt": "Lemon verbena on a market stall", '
    '"locale": "de-DE", "headline": "Frisch vom Markt", "aspects": ["1080x1080"]}\n',
}
BRIEF: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {CSV: _CSV, JSON_LINES: _JSON_LINES}}
}
"""The body of routes that take a brief."""


def install(app: FastAPI) -> None:
    """Let *app* tell its description, made once."""
    app.version = version("fireflyassets")
    app.openapi = partial(_document, app)


def operation_id(route: APIRoute) -> str:
    """Return the name that generated clients call a route by."""
    return route.name


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        said = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            servers=app.servers,
        )
        schemas = cast("dict[str, Any]", said["components"]["schemas"])
        for name in _VALIDATION:
            schemas.pop(name, None)
        told = TypeAdapter(ProblemBody).json_schema(ref_template="#/components/schemas/{model}")
        schemas |= told.pop("$defs") | {ProblemBody.__name__: told}
        for path in said["paths"].values():
            for operation in path.values():
                _without_validation(operation["responses"])
        said["webhooks"] = {kind.value: _webhook(kind, schemas) for kind in EventType}
        app.openapi_schema = said
    return app.openapi_schema


def _webhook(kind: EventType, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return what we send for an event, and what we take for a receipt; parts go to *schemas*."""
    told = event.schema(kind, reference="#/components/schemas/{model}")
    schemas |= told.pop("$defs", {})
    signed = {
        "webhook-id": "The same in each retry: drop what you have had.",
        "webhook-timestamp": "Seconds since 1970, of this very try.",
        "webhook-signature": "`v1,` and the signature, for each secret that is valid.",
    }
    parameters = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        | {"description": text}
        for name, text in signed.items()
    ]
    answers = {
        "2XX": {"description": "You have it."},
        "410": {"description": "You want no more: the endpoint is disabled."},
        "default": {"description": "We try again, over hours; Retry-After is honoured."},
    }
    body = {"required": True, "content": {JSON: {"schema": told}}}
    return {
        "post": {
            "summary": event.SAYS[kind],
            "operationId": kind.value,
            "parameters": parameters,
            "requestBody": body,
            "responses": answers,
        }
    }


def _without_validation(responses: dict[str, Any]) -> None:
    """Take out what FastAPI adds to every route that has parameters."""
    content = responses.get("422", {}).get("content", {})
    if content.get("application/json", {}).get("schema", {}).get("$ref", "").endswith(_VALIDATION):
        del responses["422"]
