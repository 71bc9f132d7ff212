"""Servers of strangers on real sockets: each behaves badly in one way.

Here: raw answers over TCP, with TLS where asked. Not here: what becomes of a delivery.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Behaviour = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Stranger:
    """A server that listens; *requests* are what came, whole."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def listening(
    behave: Behaviour, *, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Stranger]:
    """Answer as *behave* does until the context ends."""
    stranger = Stranger()
    open_now: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stranger.connections += 1
        open_now.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.splitlines()
                    if line.lower().startswith(b"content-length")
                )
                body = await reader.readexactly(length)
                stranger.requests.append(head + body)
                await behave(head + body, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            open_now.discard(writer)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    stranger.port = server.sockets[0].getsockname()[1]
    try:
        yield stranger
    finally:
        server.close()
        for writer in list(open_now):
            writer.transport.abort()
        await asyncio.sleep(0)


def saying(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """Return what answers with a status, at once."""
    said = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} X\r\n{said}Content-Length: {len(body)}\r\n\r\n"

    async def behave(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + body)

    return behave


async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer 200 without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        await writer.drain()


async def _drip(writer: asyncio.StreamWriter, beginning: bytes) -> None:
    writer.write(beginning)
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def dripping(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Send the head of an answer a letter at a time, and never end it."""
    await _drip(writer, b"HTTP/1.1 200 OK\r\nX-Slow: ")


async def dripping_body(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer 200, and send the body a letter at a time."""
    await _drip(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")


async def hanging(_: bytes, __: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await asyncio.Event().wait()


async def babbling(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer with something that is no HTTP."""
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
