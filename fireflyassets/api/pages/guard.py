"""The guard: who looks at a page, and whether a form came from it.

Belongs here: what a route of the pages asks for before it does anything. Does not: sessions
themselves (``sessions.py``), bearer tokens (``desk.py``): neither counts in the other's place.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.parser import BytesParser
from email.policy import HTTP
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Security
from fastapi.security import SecurityScopes

from fireflyassets.api.bodies import UPLOAD, form_body, upload_body
from fireflyassets.api.desk import count, desk
from fireflyassets.api.pages.envelope import RENEWED
from fireflyassets.api.pages.sessions import Session
from fireflyassets.api.pages.shell import PREFIX, shell_of
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.tokens import Caller
from fireflyassets.core.api_key import Scope
from fireflyassets.core.request import Problem

_MOST_FIELDS: Final = 20
_MOST_CHOSEN: Final = 2_100
"""Fields of a form in which jobs are chosen: each twice on a page of a thousand."""
_MOST_KEPT: Final = 2000
"""Characters of a form that is handed back after signing in again: more fits no address."""


class SignInNeeded(Exception):
    """Nobody is signed in, or no longer; *to* is where to go on, with what was typed."""

    def __init__(self, to: str) -> None:
        super().__init__("Sign in first.")
        self.to = to


@dataclass(frozen=True, slots=True)
class Submission:
    """A form that came from a page of this session."""

    session: Session
    fields: Mapping[str, str]
    chosen: tuple[str, ...] = ()
    """Values of the field ``job``, the one that may stand more than once."""

    @property
    def caller(self) -> Caller:
        """Who sent it."""
        return self.session.caller


def signed_in(request: Request) -> Session | None:
    """Return who is signed in, for whom this request counts as a sign of life."""
    cookies = shell_of(request).cookies
    session = cookies.session(request.cookies)
    renewed = cookies.renewed(session) if session else None
    if renewed:
        setattr(request.state, RENEWED, renewed)
    return session


async def visitor(request: Request, needed: SecurityScopes) -> Session:
    """Return who looks at a page, or send them to sign in, and back to it."""
    session = signed_in(request)
    if session is None:
        raise SignInNeeded(_to(request.url.path, dict(request.query_params)))
    _require(session, needed)
    _count(request, session)
    return session


async def submission(request: Request, needed: SecurityScopes) -> Submission:
    """Return a form that its sender meant to send.

    Raises:
        ProblemRaised: 403; another site sent it, it is of an earlier session, or a scope lacks.
        SignInNeeded: The session is over; the page gets back what was typed.
    """
    _require_our_own(request)
    fields = form_fields(await form_body(request))
    session = signed_in(request)
    if session is None:
        fields.pop("proof", None)
        # What acts on a page lies one word behind its address.
        raise SignInNeeded(_to(request.url.path.rpartition("/")[0], fields))
    meant = _meant(session, fields)
    _require(session, needed)
    _count(request, session)
    return meant


async def selection(request: Request, needed: SecurityScopes) -> Submission:
    """Return a form in which jobs are chosen, as `submission` does."""
    _require_our_own(request)
    pairs = _pairs(await form_body(request), most=_MOST_CHOSEN)
    session = signed_in(request)
    if session is None:
        # What was chosen is of that moment: it is chosen anew.
        raise SignInNeeded(_to(request.url.path.rpartition("/")[0], {}))
    _require(session, needed)
    _count(request, session)
    meant = _meant(session, dict(pairs))
    return replace(meant, chosen=tuple(value for name, value in pairs if name == "job"))


async def upload(request: Request, needed: SecurityScopes) -> Submission:
    """Return a form with a brief that its sender meant to send; nobody else's is even read.

    Raises:
        ProblemRaised: As `submission`.
        SignInNeeded: The session is over; the file has to be chosen again.
    """
    _require_our_own(request)
    session = signed_in(request)
    if session is None:
        raise SignInNeeded(_to(request.url.path, {}))
    _require(session, needed)
    _count(request, session)
    body = await upload_body(request)
    return _meant(session, _parts(request.headers.get("Content-Type", ""), body))


def _meant(session: Session, fields: dict[str, str]) -> Submission:
    proof = fields.pop("proof", "")
    if not hmac.compare_digest(proof.encode(), session.proof.encode()):
        raise _refused(
            "proof",
            "This form is of an earlier sign-in.",
            "Go back, reload the page, and send it again.",
        )
    return Submission(session, fields)


def _parts(kind: str, body: bytes) -> dict[str, str]:
    """Return the fields of an upload; bytes that are no UTF-8 come back by `surrogateescape`."""
    if not kind.lower().startswith(UPLOAD):
        return form_fields(body)
    head = f"Content-Type: {kind}\r\n\r\n".encode("latin-1", "replace")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    found: dict[str, str] = {}
    for part in list(message.iter_parts())[:_MOST_FIELDS] if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            found[name] = content.decode("utf-8", "surrogateescape")
    return found


Reading = Annotated[Session, Security(visitor, scopes=[Scope.READ.value])]
Supervising = Annotated[Session, Security(visitor, scopes=[Scope.OPS.value])]
Uploading = Annotated[Submission, Security(upload, scopes=[Scope.WRITE.value])]
Writing = Annotated[Submission, Security(submission, scopes=[Scope.WRITE.value])]
Reviewing = Annotated[Session, Security(visitor, scopes=[Scope.READ.value, Scope.REVIEW.value])]
Judging = Annotated[Submission, Security(selection, scopes=[Scope.READ.value, Scope.REVIEW.value])]
Operating = Annotated[Submission, Security(submission, scopes=[Scope.OPS.value])]


def form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a form's body.

    Raises:
        ProblemRaised: 403; it is no form of ours.
    """
    return dict(_pairs(body, most=_MOST_FIELDS))


def _pairs(body: bytes, *, most: int) -> list[tuple[str, str]]:
    text = body.decode("utf-8", "replace")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=most)
    except ValueError as error:
        raise _refused("form", "The form has too many fields.", "Go back and try again.") from error


def _require_our_own(request: Request) -> None:
    """Refuse what another site's page sends: by the browser's word, which no page can forge."""
    origin = shell_of(request).origin
    said = request.headers.get("Origin")
    fetched = request.headers.get("Sec-Fetch-Site")
    strange = said is not None and said != origin
    if strange or (said is None and fetched is None) or fetched not in {None, "same-origin"}:
        raise _refused(
            "origin",
            "This form was sent by another site, so nothing was done.",
            f"Open {origin} yourself, and do it there.",
        )


def _count(request: Request, session: Session) -> None:
    """Count one ask; apart from the API's, so that a system's asks keep no person out."""
    count(request, desk(request), f"{session.caller.tenant}/pages")


def _require(session: Session, needed: SecurityScopes) -> None:
    missing = [scope for scope in needed.scopes if scope not in session.caller.scopes]
    if missing:
        sentence = f"You are signed in, and may not do this: it needs the right {missing[0]}."
        raise _refused("scope", sentence, "Ask whoever manages your team's accounts.")


def _refused(rule: str, message: str, fix: str) -> ProblemRaised:
    return ProblemRaised(HTTPStatus.FORBIDDEN, message, Problem("", rule, message, fix))


def _to(path: str, fields: Mapping[str, str]) -> str:
    """Return an address within the pages."""
    inside = path[path.find(PREFIX) + len(PREFIX) :] or "/"
    query = urlencode(fields)
    return f"{inside}?{query}" if query and len(query) <= _MOST_KEPT else inside
