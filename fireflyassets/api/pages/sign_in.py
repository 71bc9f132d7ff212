"""Signing in and out: OpenID Connect's authorisation code flow with PKCE.

Belongs here: the flow between browser, provider and us. Does not: the provider's addresses
(``adapters/provider.py``), what tokens must say (``api/tokens.py``).

The access token is read as the API reads any, so that pages and API know the same people and
rights. It is not kept: the session holds what it said.
"""

import base64
import hashlib
import hmac
import re
import secrets
from http import HTTPStatus
from typing import Final, TypeVar

from fastapi import APIRouter, Request, Security
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk
from fireflyassets.api.pages.guard import submission
from fireflyassets.api.pages.shell import AtShell, Shell, page
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.seals import Purpose
from fireflyassets.api.tokens import Caller, Refused
from fireflyassets.core.request import Problem
from fireflyassets.ports.sign_in import Asked, Denied

router: Final = APIRouter()
Told = TypeVar("Told", str, Caller)

BACK: Final = "/sign-in/done"
"""Behind the pages' own address: what the provider must know us by."""
_INSIDE: Final = re.compile(r"/[\w/.~%?&=+:,-]*", re.ASCII)
"""A path and query; put behind the pages' own root it leads nowhere else."""
_WORD: Final = re.compile(r"[a-z_]{1,40}")
_HOME: Final = "/campaigns"
_AGAIN: Final = "Sign in again."


@router.get("/sign-in")
def sign_in(at: AtShell, to: str = _HOME) -> Response:
    """Send the browser to the provider, and remember where it wanted to go."""
    verifier = secrets.token_urlsafe(48)
    asked = Asked(
        state=secrets.token_urlsafe(24),
        nonce=secrets.token_urlsafe(24),
        challenge=_challenge(verifier),
        back_to=_back_to(at),
    )
    said = {
        "state": asked.state,
        "nonce": asked.nonce,
        "verifier": verifier,
        "to": to if _INSIDE.fullmatch(to) else _HOME,
    }
    return _leave(at.sign_in.address(asked), at.cookies.keep(said))


@router.get(BACK)
def signed_in(
    request: Request, at: AtShell, desk: AtDesk, state: str = "", code: str = "", error: str = ""
) -> Response:
    """Take the browser back from the provider, begin its session and let it go on.

    Raises:
        ProblemRaised: 400; this browser began no such sign-in. 403; the provider, or what it says
            of the person, lets nobody in.
    """
    kept = at.cookies.kept(request.cookies)
    if kept is None or not hmac.compare_digest(kept["state"].encode(), state.encode()):
        sentence = "This sign-in took too long, or was begun elsewhere or twice."
        raise ProblemRaised(
            HTTPStatus.BAD_REQUEST, sentence, Problem("", "state", sentence, _AGAIN)
        )
    if error or not code:
        raise _not_let_in(f"The provider says: {_word(error)}.", _AGAIN)
    told = at.sign_in.redeem(code, verifier=kept["verifier"], back_to=_back_to(at))
    if isinstance(told, Denied):
        raise _not_let_in(f"The provider says: {_word(told.error)}.", _AGAIN)
    name = _believed(desk.bearers.name(told.id_token, nonce=kept["nonce"]))
    caller = _believed(desk.bearers.read(told.access_token))
    answer = _leave(f"{at.root}{kept['to']}", at.cookies.begin(caller, name))
    answer.headers.append("Set-Cookie", at.cookies.end(Purpose.SIGN_IN))
    return answer


@router.post("/sign-out", dependencies=[Security(submission)])
def sign_out(at: AtShell) -> Response:
    """End the session in this browser."""
    return _leave(f"{at.root}/signed-out", at.cookies.end(Purpose.SESSION))


@router.get("/signed-out")
def signed_out(request: Request) -> Response:
    """Say that nobody is signed in here now."""
    return page(request, "signed-out.html", {})


def _back_to(at: Shell) -> str:
    return f"{at.origin}{at.root}{BACK}"


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _leave(to: str, cookie: str) -> Response:
    return RedirectResponse(to, HTTPStatus.SEE_OTHER, headers={"Set-Cookie": cookie})


def _word(error: str) -> str:
    """Return the provider's word for an error, if it is one: it comes by way of the address."""
    return error if _WORD.fullmatch(error) else "no code came back"


def _believed(told: Told | Refused) -> Told:
    if isinstance(told, Refused):
        raise _not_let_in(told.message, told.fix)
    return told


def _not_let_in(why: str, fix: str) -> ProblemRaised:
    sentence = "You were not signed in."
    return ProblemRaised(HTTPStatus.FORBIDDEN, sentence, Problem("", "sign-in", why, fix))
