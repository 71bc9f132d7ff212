"""HTTP to addresses that customers name: the one door by which we send to strangers.

Belongs here: resolving once, judging, and dialling the very address that was judged; bounds of
time and bytes; no redirects. Does not: what is sent, and whether it is sent again.

A name is resolved by us, every address it has must be public, and the connection is made to one of
those: a name that resolves anew a moment later changes nothing. TLS is verified for the name.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Final, cast

import httpcore

from fireflyassets.core.address import IpAddress, Target, is_public, literal, not_public, target
from fireflyassets.core.request import Problem

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""A name -> its addresses.

Raises:
    OSError: It has none.
"""

DEADLINE: Final = timedelta(seconds=10)
"""For all of one request: name, connection, TLS, sending, and the head of the answer."""
HEAD_BYTES: Final = 2_048
"""Of an answer's body that is read; the connection is closed where there is more."""
HEAD_PATIENCE: Final = timedelta(seconds=1)
"""For those bytes, once the status is known."""
_CONNECTIONS: Final = 300
_KEPT: Final = 100
_SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


class Unreachable(Exception):
    """No answer came; the sentence says why, without the address."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a stranger's server said."""

    status: int
    retry_after: str
    """The header as it came; empty where there was none."""
    head: bytes
    """The first bytes of the body, compressed or not, as they came."""


async def resolved(host: str) -> list[str]:
    """Return the addresses of a name, as the machine's resolver has them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


class Guard:
    """Judges addresses when they are named, and again whenever they are dialled."""

    def __init__(self, *, trusted: Collection[str] = (), resolve: Resolve = resolved) -> None:
        """Take the hosts that may be private; none but in tests on one machine."""
        self._trusted = frozenset(trusted)
        self._resolve = resolve

    def target(self, url: str) -> Target | Problem:
        """Return where *url* leads by its form, or why nothing is sent there."""
        return target(url, trusted=self._trusted)

    async def problem(self, url: str) -> Problem | None:
        """Return why nothing is sent to *url*, by its form and by where it leads now."""
        told = self.target(url)
        if isinstance(told, Problem):
            return told
        try:
            async with asyncio.timeout(DEADLINE.total_seconds()):
                await self.addresses(told.host)
        except Unreachable:
            return not_public()
        except (OSError, UnicodeError):
            return Problem("url", "address", "The host has no address.", "Check its name.")
        return None

    async def addresses(self, host: str) -> list[IpAddress]:
        """Return the addresses of a host, all of which may be dialled.

        Raises:
            Unreachable: One of them is not public.
            OSError: There is none.
        """
        known = literal(host)
        found = [known] if known else [_plain(one) for one in await self._resolve(host)]
        if not found:
            raise OSError("no address")
        if host not in self._trusted and not all(map(is_public, found)):
            raise Unreachable("The host is not on the public internet.")
        return found


class _GuardedDialling(httpcore.AsyncNetworkBackend):
    """Dials what the guard lets pass."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._dialling = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature.
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve once, judge, and connect to an address that was judged: no second look."""
        *others, last = await self._guard.addresses(host)
        for one in others:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._dialling.connect_tcp(
                    str(one), port, timeout, None, socket_options
                )
        return await self._dialling.connect_tcp(str(last), port, timeout, None, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait, as the library asks."""
        await self._dialling.sleep(seconds)


class GuardedHttp:
    """A client without redirects, cookies, proxies or decompression. One event loop's own."""

    def __init__(
        self,
        guard: Guard,
        *,
        deadline: timedelta = DEADLINE,
        authorities: ssl.SSLContext | None = None,
    ) -> None:
        """Take the guard; *authorities* other than the machine's are for tests."""
        self._guard = guard
        self._deadline = deadline
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=authorities or ssl.create_default_context(),
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_KEPT,
            keepalive_expiry=30,
            network_backend=_GuardedDialling(guard),
        )

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send *body* as it is, and return the answer, whatever its status.

        Raises:
            Unreachable: There was none in time, or the address may not be dialled.
        """
        told = self._guard.target(url)
        if isinstance(told, Problem):
            raise Unreachable(told.message)
        try:
            return await self._exchange(told, body, headers)
        except TimeoutError as error:
            seconds = self._deadline.total_seconds()
            raise Unreachable(f"No answer within {seconds:g} seconds.") from error
        except ssl.SSLError as error:
            raise Unreachable(_of_tls(error)) from error
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            cause = error.__cause__ or error.__context__
            tls = isinstance(cause, ssl.SSLError)
            raise Unreachable(_of_tls(cause) if tls else "The connection failed.") from error
        except httpcore.ProtocolError as error:
            raise Unreachable("The answer is no HTTP.") from error
        except (OSError, UnicodeError) as error:
            raise Unreachable("The host has no address, or none that answers.") from error

    async def _exchange(self, to: Target, body: bytes, headers: Mapping[str, str]) -> Answer:
        said = {
            "Host": to.netloc,
            "Content-Length": str(len(body)),
            # Nothing is ever unpacked: a small answer can't become a large one.
            "Accept-Encoding": "identity",
            **headers,
        }
        url = httpcore.URL(scheme=to.scheme, host=to.host, port=to.port, target=to.path)
        pieces = list(said.items())
        async with (
            asyncio.timeout(self._deadline.total_seconds()) as bound,
            self._pool.stream("POST", url, headers=pieces, content=body) as told,
        ):
            # The status has come, and counts: what is left is for the log.
            bound.reschedule(None)
            wait = next((v for k, v in told.headers if k.lower() == b"retry-after"), b"")
            return Answer(told.status, wait.decode("ascii", "replace"), await _head(told))

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


async def _head(answer: httpcore.Response) -> bytes:
    """Return the first bytes of a body; what comes later, slowly or without end, is left."""
    head = bytearray()
    try:
        async with asyncio.timeout(HEAD_PATIENCE.total_seconds()):
            async for chunk in answer.aiter_stream():
                head += chunk
                if len(head) >= HEAD_BYTES:
                    break
    except (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError):
        pass
    return bytes(head[:HEAD_BYTES])


def _plain(said: str) -> IpAddress:
    return ip_address(said.partition("%")[0])


def _of_tls(error: BaseException | None) -> str:
    why = getattr(error, "verify_message", "") or "TLS failed"
    return f"The certificate was not accepted: {why}."
