"""Signing in on one machine without an account: choose a customer and a role by a click.

Belongs here: the embedded issuer's page and its tokens for codes, as any provider of OpenID Connect
has them, on loopback for the one client that it knows. Does not: what tokens say (``issuer.py``).

Whoever can reach this machine's loopback can sign in; other machines can't, and a page of somebody
else's neither: the host is checked, and a code goes to our own pages alone.
"""

import base64
import hashlib
import hmac
import secrets
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.api.bodies import form_body
from fireflyassets.api.pages.envelope import Envelope
from fireflyassets.api.pages.guard import form_fields
from fireflyassets.api.pages.look import Look
from fireflyassets.core.api_key import Scope
from fireflyassets.core.errors import ServiceDown
from fireflyassets.local.issuer import CLIENT, Issuer
from fireflyassets.ports.clock import Clock

AUTHORIZE: Final = "/authorize"
TOKEN: Final = "/token"  # noqa: S105 - a path.
CODE_LIFE: Final = timedelta(minutes=1)
_START_SECONDS: Final = 10.0
ROLES: Final[Mapping[str, tuple[Scope, ...]]] = {
    "Viewer": (Scope.READ,),
    "Marketing": (Scope.READ, Scope.WRITE),
    "Reviewer": (Scope.READ, Scope.REVIEW),
    "Operator": tuple(Scope),
}


@dataclass(frozen=True, slots=True)
class _Code:
    customer: str
    role: str
    nonce: str
    challenge: str
    until: datetime


class Doorway:
    """The codes that are out; each is good once, and soon no more."""

    def __init__(self, issuer: Issuer, clock: Clock, *, back_to: str) -> None:
        self.back_to = back_to
        self._issuer = issuer
        self._clock = clock
        self._codes: dict[str, _Code] = {}

    def code(self, customer: str, role: str, *, nonce: str, challenge: str) -> str:
        """Return a code for a customer and a role."""
        now = self._clock.now()
        self._codes = {name: one for name, one in self._codes.items() if one.until > now}
        name = secrets.token_urlsafe(24)
        self._codes[name] = _Code(customer, role, nonce, challenge, now + CODE_LIFE)
        return name

    def tokens(self, code: str, verifier: str) -> Mapping[str, object] | None:
        """Return the tokens of a code; None where it is none, or another's."""
        found = self._codes.pop(code, None)
        now = self._clock.now()
        if found is None or found.until <= now:
            return None
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        if not hmac.compare_digest(digest.rstrip(b"="), found.challenge.encode()):
            return None
        scopes = ROLES[found.role]
        return {
            "token_type": "Bearer",
            "access_token": self._issuer.token(found.customer, now=now, scopes=scopes),
            "id_token": self._issuer.id_token(
                found.customer, name=found.role, nonce=found.nonce, now=now
            ),
        }


def create_app(doorway: Doorway, customers: Iterable[str], *, origin: str) -> Envelope:
    """Return the issuer's page and its answer to codes."""
    app = FastAPI(openapi_url=None)
    look, names = Look(""), sorted(customers)

    @app.get(AUTHORIZE)
    def choose(request: Request) -> Response:
        """Show who one may be; a click goes back with a code."""
        asked = request.query_params
        fault = _fault(asked, doorway)
        if fault is not None:
            return look.page(
                "sign-in.html", {"session": None, "fault": fault}, status=HTTPStatus.BAD_REQUEST
            )
        customer, role = asked.get("customer", ""), asked.get("role", "")
        if customer in names and role in ROLES:
            code = doorway.code(
                customer, role, nonce=asked.get("nonce", ""), challenge=asked["code_challenge"]
            )
            query = urlencode({"code": code, "state": asked.get("state", "")})
            return RedirectResponse(f"{doorway.back_to}?{query}", HTTPStatus.SEE_OTHER)
        said = {name: asked[name] for name in _ASKED if name in asked}
        links = {
            each: {role: urlencode({**said, "customer": each, "role": role}) for role in ROLES}
            for each in names
        }
        return look.page("sign-in.html", {"session": None, "fault": None, "links": links})

    @app.post(TOKEN)
    async def redeem(request: Request) -> Response:
        """Give tokens for a code (RFC 6749, 4.1.3)."""
        said = form_fields(await form_body(request))
        told = None
        if said.get("client_id") == CLIENT and said.get("redirect_uri") == doorway.back_to:
            told = doorway.tokens(said.get("code", ""), said.get("code_verifier", ""))
        if told is None:
            return JSONResponse({"error": "invalid_grant"}, HTTPStatus.BAD_REQUEST)
        return JSONResponse(told)

    @app.get("/style/{mark}.css")
    def show_style(mark: str) -> Response:
        """Show the style sheet."""
        return look.style(mark)

    return Envelope(app, origin=origin)


_ASKED: Final = (
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
)


def _fault(asked: Mapping[str, str], doorway: Doorway) -> str | None:
    """Return what is wrong with a request to sign in; nothing is then sent anywhere."""
    wanted = {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": doorway.back_to,
        "code_challenge_method": "S256",
    }
    wrong = [name for name, value in wanted.items() if asked.get(name) != value]
    if not asked.get("code_challenge"):
        wrong.append("code_challenge")
    return f"This sign-in is not one of our pages': {', '.join(wrong)}." if wrong else None


@contextmanager
def served(app: ASGIApp, *, host: str, port: int) -> Generator[None]:
    """Answer on a thread of this process: the key that signs never leaves it.

    Raises:
        ServiceDown: It does not begin to listen.
    """
    server = uvicorn.Server(uvicorn.Config(app, host, port, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, name="sign-in", daemon=True)
    thread.start()
    clock = SystemClock()
    try:
        deadline = clock.now() + timedelta(seconds=_START_SECONDS)
        while not server.started:
            if not thread.is_alive() or clock.now() > deadline:
                raise ServiceDown(f"The page to sign in does not listen on port {port}.")
            thread.join(0.05)
        yield
    finally:
        server.should_exit = True
        thread.join()
