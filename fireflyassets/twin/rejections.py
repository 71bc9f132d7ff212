"""How the twin says no over HTTP: one exception, and the documented bodies of each service.

Belongs here: the status, headers and body of every rejected call. Does not belong here: the
decision to reject, and why a document cannot be rendered (`refusals.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from math import ceil
from typing import Literal

from starlette.responses import HTMLResponse, JSONResponse, Response

from fireflyassets.twin.endpoints import Family

HTML_TOO_LARGE = (
    "<html><head><title>413 Request Entity Too Large</title></head>"
    "<body><center><h1>413 Request Entity Too Large</h1></center></body></html>"
)


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """One thing wrong with a request: where, what, and the validator's word for it."""

    loc: tuple[str | int, ...]
    msg: str
    type: str = "value_error"

    def as_json(self) -> dict[str, object]:
        """Return the entry of `validation_errors`."""
        return {"loc": list(self.loc), "msg": self.msg, "type": self.type}


class RejectionError(Exception):
    """The call is answered with an error; nothing was accepted."""

    def __init__(
        self,
        status: int,
        body: Mapping[str, object] | str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"Rejected with {status}.")
        self.status = status
        self.body = body
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the HTTP answer; a text body goes out as HTML, as gateways do."""
        if isinstance(self.body, str):
            return HTMLResponse(self.body, self.status, headers=self.headers)
        return JSONResponse(dict(self.body), self.status, headers=self.headers)


def coded(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> RejectionError:
    """Return a rejection in the shape Firefly, Photoshop and the gateway share."""
    return RejectionError(status, {"error_code": code, "message": message}, headers)


def ims(status: int, error: str, description: str) -> RejectionError:
    """Return a rejection in the shape of the token service."""
    return RejectionError(status, {"error": error, "error_description": description})


def too_large() -> RejectionError:
    """Return the 413 that, alone among Adobe's answers, is HTML."""
    return RejectionError(413, HTML_TOO_LARGE)


def invalid_firefly(flaws: Sequence[Flaw], *, status: int = 422) -> RejectionError:
    """Return Firefly's answer to a body that breaks the schema or a rule."""
    code = "bad_request" if status == HTTPStatus.BAD_REQUEST else "validation_error"
    return RejectionError(
        status,
        {
            "error_code": code,
            "message": "Request validation failed.",
            "validation_errors": [flaw.as_json() for flaw in flaws],
        },
    )


def invalid_photoshop(flaws: Sequence[Flaw], *, status: int = 422) -> RejectionError:
    """Return Photoshop's answer to a body that breaks the schema or a rule."""
    errors = [
        {
            "error_code": "validation_error",
            "message": f"{'.'.join(str(part) for part in flaw.loc)}: {flaw.msg}",
        }
        for flaw in flaws
    ]
    return RejectionError(
        status,
        {"error_code": "validation_error", "message": "Invalid request.", "errors": errors},
    )


def retry_after_value(wait: timedelta, *, now: datetime, form: Literal["seconds", "date"]) -> str:
    """Return the Retry-After header for a wait: whole seconds, or the HTTP date it ends at."""
    seconds = max(1, ceil(wait.total_seconds()))
    if form == "seconds":
        return str(seconds)
    return format_datetime(now + timedelta(seconds=seconds), usegmt=True)


def rate_limited(family: Family, retry_after: str | None) -> RejectionError:
    """Return the 429 of *family*; the level header says that the organisation is over."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    if family is Family.PHOTOSHOP:
        return coded(429, "unauthorized_rate_limited", "Rate limit exceeded.", headers)
    headers["x-access-rate-limit-level"] = "org"
    return coded(429, "rate_limited", "Rate limit reached.", headers)
