"""One HTTP exchange: a request out byte for byte, an answer or the reason for none back.

Belongs here: the one place that calls httpx to send. Does not: what an answer means.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import anyio
import httpx

from fireflyassets.adapters.adobe import quiet, retry_after
from fireflyassets.adapters.adobe.hosts import Address
from fireflyassets.adapters.adobe.transport import KEPT, Sending

_CONNECT_SECONDS: Final = 5.0
_SOONER: Final = 0.9
"""The library's own timeout closes a half-open connection; a deadline from outside leaves it to
the garbage collector."""
_NOTHING_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_CODES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (httpx.PoolTimeout, "pool_timeout"),
    (httpx.ConnectTimeout, "connect_error"),
    (httpx.ConnectError, "connect_error"),
    (httpx.TimeoutException, "no_answer"),
    (TimeoutError, "no_answer"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Say whether the service did what it was asked."""
        return 200 <= self.status <= 299  # noqa: PLR2004 - the HTTP range.

    def json(self) -> object:
        """Return the JSON value of the body; None where it is HTML, empty or broken."""
        if "html" in self.headers.get("content-type", "").lower():
            return None
        return read_json(self.body)

    def retry_values(self) -> list[str]:
        """Return every Retry-After header."""
        return self.headers.get_list("retry-after")

    def date(self, otherwise: datetime) -> datetime:
        """Return the server's own time, or *otherwise* where it does not say."""
        return retry_after.http_date(self.headers.get("date")) or otherwise


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """No whole answer came."""

    code: str
    """``connect_error``, ``pool_timeout``, ``no_answer``, ``connection_lost`` or ``oversized``."""
    sent: bool
    """False only where certainly no byte of the request left."""


def read_json(text: bytes) -> object:
    """Return the JSON value of *text*, or None; never raises, however deep or broken it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Call:
    """What goes out: the address is sent as it stands, the headers are all that is added."""

    method: str
    address: Address
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    content: bytes | None = field(default=None, repr=False)
    fresh: bool = False
    """Take a connection of its own."""


class Exchange:
    """Sends calls over one client."""

    def __init__(self, client: httpx.AsyncClient, *, most_bytes: int) -> None:
        self._client = client
        self._most_bytes = most_bytes
        # The pool looks through its whole queue at every call; here a wait costs nothing.
        self._turns = asyncio.Semaphore(KEPT)

    async def send(self, call: Call, *, until: float) -> Answer | NoAnswer:
        """Send *call* and read the whole answer before *until*, in the loop's own time.

        Cancellation from outside passes through; everything else comes back as an answer.
        """
        sending = Sending()
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            return NoAnswer("no_answer", sent=False)
        try:
            with quiet.silenced():
                with anyio.fail_after(left):
                    async with nullcontext() if call.fresh else self._turns:
                        return await self._receive(self._request(call, sending, left))
        except (httpx.HTTPError, OSError) as error:
            sent = sending.begun and not isinstance(error, _NOTHING_SENT)
            return NoAnswer(_code(error), sent=sent)

    async def aclose(self) -> None:
        """Close the client with its connections."""
        with quiet.silenced():
            await self._client.aclose()

    def _request(self, call: Call, sending: Sending, left: float) -> httpx.Request:
        # The target extension keeps the library from normalising path and query.
        return self._client.build_request(
            call.method,
            call.address.origin,
            headers=dict(call.headers),
            content=call.content,
            timeout=httpx.Timeout(left, connect=min(left * _SOONER, _CONNECT_SECONDS)),
            extensions={
                "target": call.address.target.encode("ascii"),
                "sending": sending,
                "fresh": call.fresh,
            },
        )

    async def _receive(self, request: httpx.Request) -> Answer | NoAnswer:
        response = await self._client.send(request, stream=True)
        try:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > self._most_bytes:
                    return NoAnswer("oversized", sent=True)
            return Answer(response.status_code, response.headers, bytes(body))
        finally:
            await response.aclose()


def _code(error: BaseException) -> str:
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return "connection_lost"
