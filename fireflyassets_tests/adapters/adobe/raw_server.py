"""A loopback server that shows the raw bytes it got and answers, or fails, as it is told.

Here: sockets. Not here: anything that knows Adobe.
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HOST = "127.0.0.1"
JOIN_SECONDS = 10.0

Behaviour = Callable[["Connection", bytes], None]


@dataclass
class Connection:
    """One accepted connection, as a behaviour sees it."""

    socket: socket.socket
    stopped: threading.Event

    def answer(self, status: str, body: bytes = b"", *headers: str) -> None:
        """Send a whole answer."""
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        self.socket.sendall("\r\n".join(head).encode("latin-1") + body)

    def reset(self) -> None:
        """Drop the connection with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def hang(self) -> None:
        """Say nothing until the server stops."""
        self.stopped.wait(JOIN_SECONDS)


@dataclass
class RawServer:
    """What a server has seen."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released once for each request."""

    async def arrivals(self, count: int) -> None:
        """Wait until *count* more requests have come."""
        for _ in range(count):
            assert await asyncio.to_thread(self.arrived.acquire, timeout=JOIN_SECONDS)

    @property
    def url(self) -> str:
        """Return the server's base URL."""
        return f"http://{HOST}:{self.port}"

    @property
    def host(self) -> str:
        """Return host and port, as the list of allowed hosts has them."""
        return f"{HOST}:{self.port}"

    def targets(self) -> list[str]:
        """Return the request targets in the order they came."""
        return [request.split(b" ", 2)[1].decode("latin-1") for request in self.requests]


@contextmanager
def raw_server(behave: Behaviour, *, on_accept: bool = False) -> Iterator[RawServer]:
    """Serve on a free port; *behave* gets each request, or with *on_accept* each connection."""
    listener = socket.create_server((HOST, 0), backlog=64)
    server = RawServer(listener.getsockname()[1])
    stopped = threading.Event()
    threads: list[threading.Thread] = []

    def serve(peer: socket.socket) -> None:
        with peer:
            connection = Connection(peer, stopped)
            if on_accept:
                behave(connection, b"")
            while not on_accept and (request := _read(peer)):
                server.requests.append(request)
                server.arrived.release()
                behave(connection, request)

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            peer.settimeout(JOIN_SECONDS)
            threads.append(threading.Thread(target=serve, args=(peer,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(JOIN_SECONDS)


def closed_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _read(peer: socket.socket) -> bytes:
    """Return one whole request; nothing when the client has gone."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        part = _receive(peer)
        if not part:
            return b""
        seen += part
    head, _, body = seen.partition(b"\r\n\r\n")
    while len(body) < _length(head):
        part = _receive(peer)
        if not part:
            return b""
        body += part
    return head + b"\r\n\r\n" + body


def _receive(peer: socket.socket) -> bytes:
    try:
        return peer.recv(65536)
    except OSError:
        return b""


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
