"""Answers that may be asked for again: ETags, cursors, and the version of the contract.

Belongs here: HTTP's side of reading and paging. Does not: what an answer says (``shapes.py``).
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Header, Request
from fastapi.responses import Response

from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.ports.entries import Place

VERSION: Final = "2026-12-01"
"""Of the contract: names and meanings. It moves when a client could notice."""
_FRESHNESS: Final = "private, no-cache"
"""Kept by the caller alone, and asked about each time: the answer is then a short 304."""


def known_version(
    api_version: Annotated[str | None, Header(json_schema_extra={"enum": [VERSION]})] = None,
) -> None:
    """Refuse a caller that was written for another contract than this one."""
    if api_version not in {None, VERSION}:
        sentence = "This version of the API is not served."
        raise ProblemRaised(
            HTTPStatus.BAD_REQUEST,
            sentence,
            Problem("api-version", "version", sentence, f"Send api-version: {VERSION}, or none."),
        )


def known_parameters(request: Request) -> None:
    """Refuse a parameter that the description does not name: a misspelt ``dry_run`` is paid."""
    if not request.query_params:
        return
    described = request.app.openapi()["paths"].get(request.scope["route"].path_format, {})
    if request.method.lower() not in described:
        return
    asked = described[request.method.lower()].get("parameters", [])
    names = [one["name"] for one in asked if one["in"] == "query"]
    fix = (
        f"Send {' or '.join(names)}, or leave it out."
        if names
        else "Leave it out; what is said goes into the body."
    )
    strange = tuple(
        Problem(name, "parameter", f"{name} is no parameter of this address.", fix)
        for name in dict.fromkeys(request.query_params)
        if name not in names
    )
    if strange:
        raise ProblemRaised(HTTPStatus.BAD_REQUEST, "A parameter is not right.", *strange)


IfNoneMatch = Annotated[
    str | None, Header(description="The ETag of an earlier answer; the same again is 304.")
]


def body_of(content: Mapping[str, object]) -> bytes:
    """Return *content* as JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def tell(body: bytes, if_none_match: str | None) -> Response:
    """Return *body*, or 304 where the caller has it."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": _FRESHNESS}
    known = {one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def cursor(row: JobRow) -> str:
    """Return an opaque word for the place just behind *row* in its campaign's list."""
    said = f"{row.created_at.astimezone(UTC).isoformat()}#{row.job_id}"
    told = f"{_check(row.customer_id, row.campaign_id, said)}#{said}"
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def place(text: str, *, tenant: str, campaign: str) -> Place:
    """Return the place that a `cursor` of that list stands for.

    Raises:
        ProblemRaised: 400; it is none of ours, or has been changed.
    """
    try:
        told = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError) as error:
        raise _no_cursor() from error
    check, _, said = told.partition("#")
    if check != _check(tenant, campaign, said):
        raise _no_cursor()
    instant, _, job_id = said.partition("#")
    return Place(datetime.fromisoformat(instant), job_id)


def _no_cursor() -> ProblemRaised:
    sentence = "cursor is none that this list gave."
    problem = Problem("cursor", "cursor", sentence, "Send next of the page before, or none.")
    return ProblemRaised(HTTPStatus.BAD_REQUEST, "A parameter is not right.", problem)


def _check(tenant: str, campaign: str, said: str) -> str:
    """Return what tells a slip; no secret, since a cursor opens nothing that the token does not."""
    return hashlib.sha256(f"{tenant}/{campaign}/{said}".encode()).hexdigest()[:12]
