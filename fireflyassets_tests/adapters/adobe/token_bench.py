"""A scripted token service, and tokens wired to it.

Here: doubles and builders. Not here: assertions.
"""

import asyncio

import httpx

from fireflyassets.adapters.adobe.exchange import Exchange
from fireflyassets.adapters.adobe.hosts import AllowedHosts
from fireflyassets.adapters.adobe.ims import Ims
from fireflyassets.adapters.adobe.mint import TokenDesk
from fireflyassets.adapters.adobe.transport import open_client
from fireflyassets.ports.secrets import SecretStore
from fireflyassets.ports.tokens import TokenStore
from fireflyassets_tests.adapters.adobe.bench import (
    CREDENTIAL,
    SECRETS,
    FakeClock,
    grant,
)

BASE = "https://ims-na1.adobelogin.com"
ENTRY = "acme-client#firefly_api,openid"


class TokenService:
    """A token service that grants TOK-1, TOK-2 and so on, or first gives scripted answers."""

    def __init__(self, *first: httpx.Response | Exception, seconds: float = 86_399) -> None:
        self.first: list[httpx.Response | Exception] = list(first)
        self.seconds = seconds
        self.requests: list[httpx.Request] = []
        self.granted = 0
        self.asked = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.asked.set()
        await self.open.wait()
        if self.first:
            answer = self.first.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        self.granted += 1
        return grant(f"TOK-{self.granted}", seconds=self.seconds)


def ims(
    service: TokenService,
    store: TokenStore,
    clock: FakeClock,
    *,
    chance: float = 0.5,
    secrets: SecretStore = SECRETS,
) -> Ims:
    exchange = Exchange(open_client(httpx.MockTransport(service)), most_bytes=10_000)
    desk = TokenDesk(
        base_url=BASE,
        exchange=exchange,
        hosts=AllowedHosts(["*.adobelogin.com"]),
        clock=clock,
        chance=lambda: chance,
    )
    return Ims(
        client_id="acme-client",
        scopes=CREDENTIAL.scopes,
        secret=(secrets, CREDENTIAL.secret),
        store=store,
        desk=desk,
        clock=clock,
        chance=lambda: chance,
    )


async def settle(tokens: Ims) -> None:
    """Let a renewal in the background come to its end."""
    while tokens._flight is not None:
        await asyncio.wait({tokens._flight})
        await asyncio.sleep(0)
