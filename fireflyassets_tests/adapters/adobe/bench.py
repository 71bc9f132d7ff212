"""What the tests of the Adobe clients share: a clock that jumps, scripted answers, the wiring.

Here: doubles of ports and builders. Not here: assertions.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx

from fireflyassets.adapters.adobe.factory import AdobeClients, Transports, adobe_clients
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.documents import CompositeRequest
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.tokens import TokenStore
from fireflyassets.settings import Settings

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
STATUS_URL = "https://firefly-epo854211.adobe.io/v3/status/urn:ff:jobs:epo854211:one?x=%2F+a"
CREDENTIAL = Credential(
    name="acme-main",
    organisation="ACME@AdobeOrg",
    secret="env:ACME",
    scopes=("openid", "firefly_api"),
    customers=frozenset({"acme"}),
)
SECRETS = EnvironmentSecrets({"ACME_ID": "acme-client", "ACME_SECRET": "SECMARK-0123456789"})
GENERATE = GenerateRequest(
    prompt="PROMPTMARK a red lighthouse",
    model=Model.IMAGE3,
    width=2048,
    height=2048,
    seed=7,
    locale="de-DE",
)
COMPOSITE = CompositeRequest(
    template_url="https://b.s3.amazonaws.com/tpl.psd?X-Amz-Signature=SIGMARK1",
    pictures={"Hero": "https://b.s3.amazonaws.com/hero.png?X-Amz-Signature=SIGMARK2"},
    texts={"Headline": "PROMPTMARK Sale \U0001f6d2"},
    output_url="https://b.s3.amazonaws.com/_tmp/1.jpg?X-Amz-Signature=SIGMARK3",
    width=1080,
    height=1920,
)

T = TypeVar("T")


class FakeClock(Clock):
    """A clock that jumps when somebody waits."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now
        self.waits: list[timedelta] = []

    def now(self) -> datetime:
        """Return the time as it stands."""
        return self._now

    def pass_time(self, duration: timedelta) -> None:
        """Let time pass."""
        self._now += duration

    async def sleep(self, duration: timedelta) -> None:
        """Let time pass, and everybody else have a turn."""
        self.waits.append(duration)
        self._now += max(duration, timedelta(0))
        await asyncio.sleep(0)


@dataclass
class Seen:
    """One request as it went out."""

    method: str
    host: str
    target: str
    headers: httpx.Headers
    body: bytes

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]


Script = Callable[[Seen], httpx.Response]


@dataclass
class ScriptedAdobe:
    """Answers the token service by itself, and everything else by its script."""

    script: Script
    seen: list[Seen] = field(default_factory=list)
    mints: int = 0
    token_answers: list[httpx.Response] = field(default_factory=list)
    """Answers of the token service before it starts to grant."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        seen = Seen(
            request.method,
            request.url.netloc.decode(),
            request.extensions["target"].decode(),
            request.headers,
            request.content,
        )
        if seen.path == "/ims/token/v3":
            return self._token()
        self.seen.append(seen)
        return self.script(seen)

    def _token(self) -> httpx.Response:
        if self.token_answers:
            return self.token_answers.pop(0)
        self.mints += 1
        return grant(f"TOKMARK-{self.mints}")

    @property
    def transports(self) -> Transports:
        """Return the transports that lead here."""
        return Transports(httpx.MockTransport(self), httpx.MockTransport(self))


def grant(token: str, *, seconds: float = 86_399) -> httpx.Response:
    """Return the token service's answer."""
    body = {"access_token": token, "token_type": "bearer", "expires_in": seconds}
    return httpx.Response(200, json=body)


def answering(*responses: httpx.Response) -> Script:
    """Return a script that gives *responses* in order, the last one for ever."""
    left = list(responses)

    def script(_: Seen) -> httpx.Response:
        return left.pop(0) if len(left) > 1 else left[0]

    return script


def failing(error: type[httpx.TransportError]) -> Script:
    """Return a script that fails as a connection does."""

    def script(_: Seen) -> httpx.Response:
        raise error("the message names https://a.adobe.io/?X-Amz-Signature=SIGMARK")

    return script


def error(status: int, body: object, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """Return an error answer with a JSON body."""
    return httpx.Response(status, json=body, headers=headers)


def page(status: int) -> httpx.Response:
    """Return what a gateway on the way says."""
    text = "<html><title>Bad Gateway</title></html>"
    return httpx.Response(status, text=text, headers={"Content-Type": "text/html"})


def accepted(url: str = STATUS_URL) -> httpx.Response:
    """Return Firefly's usual acceptance."""
    body = {"jobId": "urn:ff:jobs:epo854211:one", "statusUrl": url, "cancelUrl": url}
    return httpx.Response(202, json=body)


def settings(hosts: Iterable[str] = ("*.adobe.io", "*.adobelogin.com"), **base: str) -> Settings:
    """Return settings, independent of the environment."""
    urls = {
        "ims_url": base.get("base", "https://ims-na1.adobelogin.com"),
        "firefly_url": base.get("base", "https://firefly-api.adobe.io"),
        "photoshop_url": base.get("base", "https://photoshop-api.adobe.io"),
        "image_url": base.get("base", "https://image.adobe.io"),
    }
    seconds = timedelta(seconds=float(base.get("submit_seconds", "20")))
    return Settings(**urls, adobe_hosts=tuple(hosts), submit_timeout=seconds)


def run(
    use: Callable[[AdobeClients], Awaitable[T]],
    adobe: ScriptedAdobe | None = None,
    *,
    configured: Settings | None = None,
    clock: Clock | None = None,
    store: TokenStore | None = None,
    debug: bool = False,
) -> T:
    """Wire clients, use them inside a loop of their own, and close them."""
    clock = clock or FakeClock()

    async def main() -> T:
        clients = adobe_clients(
            configured or settings(),
            CREDENTIAL,
            SECRETS,
            store or MemoryTokens(clock),
            clock,
            adobe.transports if adobe else None,
        )
        try:
            return await use(clients)
        finally:
            await clients.aclose()

    return asyncio.run(main(), debug=debug)


def body_of(seen: Seen) -> dict[str, object]:
    """Return the JSON body that went out."""
    body: dict[str, object] = json.loads(seen.body)
    return body
