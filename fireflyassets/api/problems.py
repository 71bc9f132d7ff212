"""Problems: every error of the API as one shape, made in one place.

Belongs here: RFC 9457 bodies and which error becomes which. Does not: the rules themselves.
A body has ``type title status detail`` and ``problems``: each with field, rule, message, fix, and
row where it came from a file.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Annotated, Any, Final, NotRequired

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import iter_route_contexts
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.routing import compile_path
from typing_extensions import TypedDict

from fireflyassets.api import rules
from fireflyassets.core.errors import (
    BudgetsUnreadable,
    CampaignOutOfService,
    FactoryError,
    Refused,
    ServiceDown,
    StoreUnavailable,
    TemplateChanged,
    UnknownCampaign,
)
from fireflyassets.core.request import Problem

_TOKEN_OF_PLAN: Final = re.compile("(?<=/v1/plans/)[^/]+")
MEDIA_TYPE: Final = "application/problem+json"
_LATER: Final = {"Retry-After": "60"}
"""Seconds: mended files are noticed within ten."""
_OUR_FAULT: Final = "No job of yours can be taken just now; the fault is on our side."
_SEND_LATER: Final = "Nothing is wrong with the request: send the same again later."

SEND_AGAIN: Final = (
    "A part of it may be done: send the same again, which does the rest and nothing twice."
)
"""Of whatever fails in mid-writing: a large brief is written fifty jobs at a time."""

_log = logging.getLogger(__name__)


class ProblemPart(TypedDict):
    """One fault: where it is, which rule it breaks, how to mend it."""

    row: NotRequired[int]
    field: Annotated[str, Field(description="Empty where it is about the whole.")]
    rule: str
    message: str
    fix: str
    doc: Annotated[
        str, Field(description="What the rule asks.", json_schema_extra={"format": "uri"})
    ]


class ProblemBody(TypedDict):
    """What every answer that is no success looks like (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[ProblemPart]


class ProblemRaised(Exception):
    """A request that ends in a problem."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *problems: Problem,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.problems = problems
        self.headers = headers


def logged(address: str) -> str:
    """Return an address as it may be kept: a sign-in's code is in a query, a plan's in a path."""
    return _TOKEN_OF_PLAN.sub("-", address.partition("?")[0])


def not_found(detail: str, field: str) -> ProblemRaised:
    """Return the problem of a thing that is not there, or is another tenant's: the same words."""
    problem = Problem(field, "unknown", detail, "Check the spelling and the token's tenant.")
    return ProblemRaised(HTTPStatus.NOT_FOUND, detail, problem)


def retry_after(wait: timedelta) -> dict[str, str]:
    """Return the header that says when to ask again, in whole seconds and never too early."""
    return {"Retry-After": str(ceil(wait.total_seconds()))}


def response(
    request: Request,
    status: HTTPStatus,
    detail: str,
    problems: Sequence[Problem],
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem as a response."""
    content = body(status, detail, problems, api_url=str(request.app.state.api_url))
    return JSONResponse(content, status, headers=headers, media_type=MEDIA_TYPE)


def body(
    status: HTTPStatus, detail: str, problems: Sequence[Problem], *, api_url: str
) -> ProblemBody:
    """Return a problem as JSON."""
    return {
        "type": f"urn:fireflyassets:problem:{status.phrase.lower().replace(' ', '-')}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "problems": [said(problem, api_url=api_url) for problem in problems],
    }


def said(problem: Problem, *, api_url: str) -> ProblemPart:
    """Return one fault as JSON; the row only where there is one."""
    parts: ProblemPart = {
        "field": problem.field,
        "rule": problem.rule,
        "message": problem.message,
        "fix": problem.fix,
        "doc": rules.link(problem.rule, api_url=api_url),
    }
    return parts if problem.row is None else {"row": problem.row, **parts}


def install(app: FastAPI, *, api_url: str) -> None:
    """Make every error of *app* a problem, which links to our pages at *api_url*."""
    app.state.api_url = api_url
    for kind, answer in ANSWERS.items():
        app.add_exception_handler(kind, answer)


def _raised(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemRaised)  # noqa: S101 - the handler is registered for it.
    return response(request, error.status, error.detail, error.problems, error.headers)


def _refused(request: Request, error: Exception) -> Response:
    remedy = getattr(error, "remedy", "")
    problem = Problem("", type(error).__name__, str(error), remedy)
    if isinstance(error, UnknownCampaign):
        problem = Problem("campaign", "unknown", str(error), "Check the spelling.")
        return response(request, HTTPStatus.NOT_FOUND, str(error), (problem,))
    if isinstance(error, BudgetsUnreadable):
        # The file and its figures are the operators' business.
        _log.error("%s %s", error, error.remedy)
        problem = Problem("", "out-of-service", _OUR_FAULT, _SEND_LATER)
        return response(request, HTTPStatus.SERVICE_UNAVAILABLE, _OUR_FAULT, (problem,), _LATER)
    if isinstance(error, CampaignOutOfService | TemplateChanged):
        # The request is fine and no other is: sent again later, it passes.
        problem = Problem("campaign", "out-of-service", str(error), error.remedy)
        return response(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error), (problem,), _LATER)
    if isinstance(error, StoreUnavailable):
        detail = f"{error} {SEND_AGAIN}"
        return response(request, HTTPStatus.SERVICE_UNAVAILABLE, detail, (problem,), _LATER)
    if isinstance(error, Refused | ServiceDown):
        # Our own configuration or machinery: the request may be fine, and may be sent again.
        return response(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error), (problem,))
    return _bug(request, error)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - the handler is registered for it.
    problems = [_of_parameter(fault) for fault in error.errors()]
    detail = "A parameter is not right."
    return response(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, problems)


def _of_parameter(fault: Mapping[str, Any]) -> Problem:
    """Return what is wrong with a parameter in our words, whatever looked at it."""
    name = str(fault["loc"][-1])
    ask = f"Send {name} as the description at /openapi.json names it."
    if fault["type"] == "missing":
        return Problem(name, "parameter", f"{name} is missing.", f"Add {name}=… behind the ?.")
    asked = fault.get("ctx", {})
    words = {
        "expected": "must be {}",
        "ge": "must be a whole number, {} or more",
        "le": "must be a whole number, {} or less",
        "pattern": "must be a name of a-z, 0-9 and hyphens",
    }
    said = (text.format(asked[word]) for word, text in words.items() if word in asked)
    is_number = str(fault["type"]).startswith("int_")
    what = next(said, "must be a whole number" if is_number else "is not right")
    return Problem(name, "parameter", f"{name} {what}.", ask)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - the handler is registered for it.
    status = HTTPStatus(error.status_code)
    detail, path = status.description or status.phrase, logged(request.url.path)
    if status is HTTPStatus.NOT_FOUND:
        detail = f"There is nothing at {path}."
        problem = Problem("", "unknown", detail, "Look at /openapi.json for what there is.")
        return response(request, status, detail, (problem,), error.headers)
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted(_methods(request)))
        detail = f"{path} does not take {request.method}."
        problem = Problem("", "method", detail, f"Send {allowed}.")
        return response(request, status, detail, (problem,), {"Allow": allowed})
    return response(request, status, detail, (), error.headers)


def _methods(request: Request) -> set[str]:
    """Return what an address allows; the router knows of the first route alone."""
    return {
        method
        for route in iter_route_contexts(request.app.routes)
        if route.path and compile_path(route.path)[0].fullmatch(request.scope["path"])
        for method in route.methods or ()
    }


def _bug(request: Request, error: Exception) -> Response:
    # The one boundary of the API. The error's words stay in our log; the query is not even there.
    _log.error("%s %s failed.", request.method, logged(request.url.path), exc_info=error)
    detail = f"The request failed on our side. {SEND_AGAIN}"
    return response(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail, ())


ANSWERS: Final[Mapping[type[Exception], Callable[[Request, Exception], Response]]] = {
    ProblemRaised: _raised,
    FactoryError: _refused,
    RequestValidationError: _invalid,
    HTTPException: _http,
    Exception: _bug,
}
"""Which error is which problem."""
