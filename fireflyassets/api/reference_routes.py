"""The route that takes pictures in. Here: checked, made plain, kept once for equal bytes.

Not here: what a recipe does with one. Addresses of other hosts are never fetched.
"""

import hashlib
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.bodies import PICTURES, REFERENCE_LIMIT, PictureBody
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Desk, Writer
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core import ids
from fireflyassets.core.request import Problem
from fireflyassets.ports.pictures import Normal, Unreadable

router: Final = APIRouter()


class Reference(TypedDict):
    """A picture as it is kept for the tenant's jobs."""

    reference: Annotated[str, Field(description="What jobs call it.")]
    mediaType: str
    width: int
    height: int
    bytes: int
    changes: Annotated[list[str], Field(description="What was done to make it plain.")]


@router.post(
    "/v1/references",
    status_code=HTTPStatus.CREATED,
    response_model=Reference,
    responses=refusals(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    ),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}} for kind in PICTURES
            },
        }
    },
)
def keep_reference(at: AtDesk, who: Writer, body: PictureBody) -> Response:
    """Keep a picture for the jobs of this tenant. The same picture again is the same reference."""
    made = _normal(at, body)
    if isinstance(made, Normal) and len(made.content) > REFERENCE_LIMIT:
        made = Unreadable(f"as a plain picture it has {len(made.content)} bytes; scale it down")
    if isinstance(made, Unreadable):
        detail = f"The picture can't be used: {made.reason}."
        fix = "Send one whole JPEG, PNG, WebP or TIFF, 8 bits, RGB, within the bounds."
        problem = Problem("", "picture", detail, fix)
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, detail, problem)
    digest = hashlib.sha256(made.content).hexdigest()
    size = f"{made.width}x{made.height}-{len(made.content)}"
    name = f"{digest}-{size}.{ids.suffix(made.media_type)}"
    at.ports.objects.put(
        ids.reference_key(who.tenant, name), made.content, media_type=made.media_type
    )
    told: Reference = {
        "reference": name,
        "mediaType": made.media_type,
        "width": made.width,
        "height": made.height,
        "bytes": len(made.content),
        "changes": list(made.changes),
    }
    return JSONResponse(told, HTTPStatus.CREATED)


def _normal(at: Desk, body: bytes) -> Normal | Unreadable:
    """Return a picture made plain, one at a time.

    Raises:
        ProblemRaised: 503; too many wait already, and more would fill the server's threads.
    """
    if not at.uploads.acquire(blocking=False):
        detail = "Too many pictures are being looked at just now."
        problem = Problem("", "busy", detail, "Send it again in some seconds.")
        raise ProblemRaised(
            HTTPStatus.SERVICE_UNAVAILABLE, detail, problem, headers={"Retry-After": "5"}
        )
    try:
        with at.decoding:
            return at.ports.pictures.normal(body)
    finally:
        at.uploads.release()
