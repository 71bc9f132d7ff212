"""Running the twin under uvicorn.

Belongs here: the server's configuration, for the command line and for tests that need sockets.
Does not belong here: reading the command line (`__main__.py`).
"""

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread

import uvicorn
from starlette.types import ASGIApp

from fireflyassets.twin.dropping import DroppableProtocol

_STARTS_WITHIN = 30.0  # Seconds.


class AnnouncingServer(uvicorn.Server):
    """Tells its base URL once it accepts connections."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell the address that was bound."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._announce(f"http://{host}:{port}")


def server_for(
    app: ASGIApp, *, host: str, port: int, announce: Callable[[str], None]
) -> AnnouncingServer:
    """Return a server that lets the twin hang up, and logs no URLs."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=DroppableProtocol,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=5,
        backlog=2048,
    )
    return AnnouncingServer(config, announce)


@contextmanager
def serving(app: ASGIApp, *, host: str = "127.0.0.1") -> Generator[str]:
    """Serve *app* from a thread on a free port; yield its base URL, stop at the end."""
    urls: list[str] = []
    started = Event()

    def announce(url: str) -> None:
        urls.append(url)
        started.set()

    server = server_for(app, host=host, port=0, announce=announce)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        if not started.wait(_STARTS_WITHIN):
            raise RuntimeError("The twin did not start.")
        yield urls[0]
    finally:
        server.should_exit = True
        thread.join(_STARTS_WITHIN)
