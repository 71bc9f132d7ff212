"""Routes that need no token, since they show nothing of anybody.

Belongs here: that the process lives, schemas, what rules mean. Does not: rows of any tenant.
"""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, Response

from fireflyassets.api import rules
from fireflyassets.api.answers import IfNoneMatch, body_of, tell
from fireflyassets.api.problems import not_found
from fireflyassets.core.schemas import SCHEMAS, document

router: Final = APIRouter(include_in_schema=False)

_PLAIN: Final = {"Content-Security-Policy": "default-src 'none'"}


@router.get("/health")
def show_health() -> Response:
    """Say that the process answers; it looks at nothing behind it."""
    return JSONResponse({"status": "ok"}, HTTPStatus.OK, headers={"Cache-Control": "no-store"})


@router.get("/schemas/{name}")
def show_schema(name: str, if_none_match: IfNoneMatch = None) -> Response:
    """Show the JSON Schema of a campaign's file, a job, or a message of the job queue."""
    if name not in SCHEMAS:
        raise not_found("There is no such schema.", "name")
    return tell(body_of(document(name)), if_none_match)


@router.get(rules.PATH)
def show_rules() -> Response:
    """Show what each rule asks."""
    return HTMLResponse(rules.page(), headers=_PLAIN)
