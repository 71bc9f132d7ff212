"""The connections under one client, and the proof whether bytes of a request may have left.

Belongs here: the two pools and the mark. Does not: URLs, headers, answers.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx

_CONNECTIONS: Final = 200
KEPT: Final = 32
"""Enough for a hundred polls a second. The library looks at every pair of kept connections twice a
call: with 200 of them, which any short stall opens, looking takes all the time there is, so that
the stall never ends."""
_HEADERS_BEGIN: Final = "send_request_headers.started"


@dataclass(slots=True)
class Sending:
    """Whether bytes of one request may have left this machine.

    It starts at the worst case; only a transport that watches its connection clears it, and the
    first byte of the request sets it again.
    """

    begun: bool = True

    async def watch(self, event: str, _: Mapping[str, object]) -> None:
        """Take note of an event of the connection, named by httpcore's trace extension."""
        if event.endswith(_HEADERS_BEGIN):
            self.begun = True


class WatchedTransport(httpx.AsyncBaseTransport):
    """Sends over kept connections, or over a fresh one where the request asks for it.

    A paid submit takes a fresh connection: a server that closes an idle connection at the same
    moment would leave us not knowing whether the call was read.
    """

    def __init__(self, *, kept: httpx.AsyncBaseTransport, fresh: httpx.AsyncBaseTransport) -> None:
        self._kept = kept
        self._fresh = fresh

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send *request*, whose ``sending`` extension learns whether it has begun."""
        sending = request.extensions.get("sending")
        if isinstance(sending, Sending):
            sending.begun = False
            request.extensions["trace"] = sending.watch
        pool = self._fresh if request.extensions.get("fresh") else self._kept
        return await pool.handle_async_request(request)

    async def aclose(self) -> None:
        """Close both pools."""
        await self._kept.aclose()
        await self._fresh.aclose()


def open_transport(context: ssl.SSLContext, *, connections: int = _CONNECTIONS) -> WatchedTransport:
    """Return a transport with its two pools, of at most *connections* each, fewer that are kept."""
    return WatchedTransport(
        kept=httpx.AsyncHTTPTransport(
            verify=context,
            trust_env=False,
            limits=httpx.Limits(max_connections=min(connections, KEPT)),
        ),
        fresh=httpx.AsyncHTTPTransport(
            verify=context,
            trust_env=False,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=0),
        ),
    )


def open_client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    """Return a client that adds nothing of its own: no cookies, redirects, proxies or netrc."""
    return httpx.AsyncClient(
        transport=transport,
        trust_env=False,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"Accept-Encoding": "identity", "User-Agent": "fireflyassets"},
    )
