"""Request bodies: read within bounds, and as what they say they are.

Belongs here: sizes, media types, encodings. Does not: the forms themselves (``core/brief.py``).
A body over its bound is refused while it comes in: at its declared length, or at the first chunk
that is too much, and never held in memory as a whole.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, Request

from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core.brief import FILE_LIMIT, json_object
from fireflyassets.core.request import Problem, sized

JOB_LIMIT: Final = 64 * 1024
"""Bytes of one job's request: several times the longest legal one."""
REFERENCE_LIMIT: Final = 15_000_000
"""Bytes of a picture: what the vendor's storage takes."""
PICTURES: Final = ("image/jpeg", "image/png", "image/webp", "image/tiff")
CSV: Final = "text/csv"
JSON_LINES: Final = "application/x-ndjson"
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
UPLOAD: Final = "multipart/form-data"
_DIGITS: Final = 18
"""A longer Content-Length is over every bound, and no number to parse."""


async def job_body(request: Request) -> bytes:
    """Return the body of one job's request."""
    media_type(request, JSON)
    return await _read(request, JOB_LIMIT)


async def brief_body(request: Request) -> bytes:
    """Return the body of a batch."""
    media_type(request, CSV, JSON_LINES)
    return await _read(request, FILE_LIMIT)


async def picture_body(request: Request) -> bytes:
    """Return the body of a picture; its bytes decide what it is, once somebody looks."""
    media_type(request, *PICTURES)
    return await _read(request, REFERENCE_LIMIT)


async def reason_body(request: Request) -> bytes:
    """Return the body of a steering request, empty if there is none."""
    body = await _read(request, JOB_LIMIT)
    if body:
        media_type(request, JSON)
    return body


async def form_body(request: Request) -> bytes:
    """Return the body of a page's form."""
    media_type(request, FORM)
    return await _read(request, JOB_LIMIT)


async def upload_body(request: Request) -> bytes:
    """Return the body of a page's form that holds a brief."""
    media_type(request, UPLOAD, FORM)
    return await _read(request, FILE_LIMIT + JOB_LIMIT)


PictureBody = Annotated[bytes, Depends(picture_body)]
ReasonBody = Annotated[bytes, Depends(reason_body)]
JobBody = Annotated[bytes, Depends(job_body)]
BriefBody = Annotated[bytes, Depends(brief_body)]


def json_fields(body: bytes) -> Mapping[str, object]:
    """Return the fields of a body that is one JSON object.

    Raises:
        ProblemRaised: 400; it is none.
    """
    fields = json_object(body)
    if isinstance(fields, Problem):
        raise ProblemRaised(HTTPStatus.BAD_REQUEST, "The body is no JSON object.", fields)
    return fields


def media_type(request: Request, *allowed: str) -> str:
    """Return the body's media type, one of *allowed*.

    Raises:
        ProblemRaised: 415; it is another one, not UTF-8, or compressed.
    """
    said, *parameters = request.headers.get("Content-Type", "").lower().split(";")
    charsets = {part.split("=")[-1].strip(' "') for part in parameters if "charset" in part}
    if said.strip() not in allowed:
        raise _unsupported("Content-Type", f"Send {' or '.join(allowed)}.")
    if charsets - {"utf-8", "utf8"}:
        raise _unsupported("Content-Type", "Send the body in UTF-8.")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _unsupported("Content-Encoding", "Send the body uncompressed.")
    return said.strip()


def _unsupported(field: str, fix: str) -> ProblemRaised:
    detail = "The body is of a kind that is not read here."
    problem = Problem(field, "media-type", detail, fix)
    return ProblemRaised(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, problem)


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("Content-Length", "0")
    if len(declared) > _DIGITS or (declared.isdecimal() and int(declared) > limit):
        raise _too_large(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _too_large(limit: int) -> ProblemRaised:
    detail = f"The body is over {sized(limit)}."
    problem = Problem("", "size", detail, "Send a smaller body, or several.")
    # Closing is the only way not to be sent the rest.
    return ProblemRaised(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, problem, headers={"Connection": "close"}
    )
