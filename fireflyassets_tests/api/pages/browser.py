"""A browser without a screen, and an identity provider. Here: what the tests of the pages share.

Not here: a real browser (``chromium.py``).
"""

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from re import search
from urllib.parse import parse_qsl, urlsplit

import httpx
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from fireflyassets.adapters.memory.metrics import MemoryMetrics
from fireflyassets.api.pages.app import ROUTERS
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core.api_key import Scope
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets_tests.api.desk_clerk import CLIENT, PUBLIC, Clerk, clerk, token
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER

EVERYTHING = " ".join(Scope)
ROUTES = [
    (method, route.path)
    for router in ROUTERS
    for route in iter_route_contexts(router.routes)
    for method in sorted(route.methods or ())
]
OPEN_TO_ALL = {"/style/{mark}.css", "/sign-in", "/sign-in/done", "/signed-out"}
"""They show nothing of anybody."""


def address(path: str, job_id: str) -> str:
    """Return the address of a route for the campaign and the job of a test."""
    names = {"campaign": CAMPAIGN, "aspect": ASPECTS[1], "name": ASPECTS[1], "mark": "none"}
    return f"{PREFIX}{path.format(**names, job_id=job_id)}"


@dataclass
class Provider:
    """An identity provider that lets in whom the test says, and does what providers may do."""

    tenant: str = CUSTOMER
    scope: str = EVERYTHING
    id_claims: dict[str, object] = field(default_factory=dict)
    """Over those that are right."""
    access_claims: dict[str, object] = field(default_factory=dict)
    error: str | None = None
    asked: dict[str, str] = field(default_factory=dict)
    """The last authorisation request."""
    redeemed: list[dict[str, str]] = field(default_factory=list)

    def consent(self, location: str) -> str:
        """Return where the browser is sent back to once the person has signed in."""
        self.asked = dict(parse_qsl(urlsplit(location).query))
        return f"{self.asked['redirect_uri']}?code=a-code&state={self.asked['state']}"

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a token request as RFC 6749 and RFC 7636 say."""
        said = dict(parse_qsl(request.content.decode()))
        self.redeemed.append(said)
        digest = hashlib.sha256(said["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if self.error or said["code"] != "a-code" or challenge != self.asked["code_challenge"]:
            return httpx.Response(400, json={"error": self.error or "invalid_grant"})
        claims = {"aud": CLIENT, "nonce": self.asked["nonce"], "name": "Ada Smith"}
        return httpx.Response(
            200,
            json={
                "access_token": token(self.tenant, scope=self.scope, **self.access_claims),
                "id_token": token(self.tenant, **(claims | self.id_claims)),
            },
        )


@dataclass
class Browser:
    """One person's browser: it keeps cookies and says what browsers say of a request."""

    app: FastAPI
    base: str = PUBLIC
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)

    def ask(
        self,
        method: str,
        where: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send one request; redirects are not followed."""
        ours = {"Origin": self.base, "Sec-Fetch-Site": "same-origin"} if method != "GET" else {}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url=self.base, cookies=self.cookies
            ) as client:
                said = ours if headers is None else headers
                answer = await client.request(method, where, headers=said, data=data)
                self.cookies = client.cookies
                return answer

        return asyncio.run(send())

    def open(self, where: str) -> httpx.Response:
        """Open a page of ours and follow redirects within our own origin."""
        answer = self.ask("GET", where)
        while answer.is_redirect and answer.headers["Location"].startswith(("/", self.base)):
            answer = self.ask("GET", answer.headers["Location"])
        return answer

    def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fill in and send the form of *page* that goes to *action*."""
        shown = self.open(page).text
        found = search(
            rf'action="{action}".*?name="proof" value="([^"]*)"', shown.replace("\n", "")
        )
        assert found is not None, f"{page} has no form to {action}."
        return self.ask("POST", action, data={"proof": unescape(found[1]), **fields})


@dataclass
class Visit:
    """A clerk of the API, a provider, and a browser that can sign in at both."""

    desk: Clerk
    provider: Provider
    browser: Browser

    def sign_in(self, to: str = "/campaigns") -> httpx.Response:
        """Sign in and return the page that one comes to."""
        left = self.browser.ask("GET", f"{PREFIX}/sign-in?to={to}")
        return self.browser.open(self.provider.consent(left.headers["Location"]))

    def of(self, tenant: str, scope: str = EVERYTHING) -> Browser:
        """Return another browser, in which somebody else has signed in."""
        provider, browser = self.provider, Browser(self.desk.app)
        provider.tenant, provider.scope = tenant, scope
        Visit(self.desk, provider, browser).sign_in()
        return browser


def visit(
    tenant: str = CUSTOMER,
    scope: str = EVERYTHING,
    *,
    catalogue: Catalogue | None = None,
    signed_in: bool = True,
    house_tenant: str = "",
    metrics: MemoryMetrics | None = None,
) -> Visit:
    """Return a visit of somebody of *tenant*, signed in unless said otherwise."""
    provider = Provider(tenant, scope)
    desk = clerk(catalogue, provide=provider, house_tenant=house_tenant, metrics=metrics)
    made = Visit(desk, provider, Browser(desk.app))
    if signed_in:
        made.sign_in()
    return made
