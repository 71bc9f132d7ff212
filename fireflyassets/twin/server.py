"""Running the twin under uvicorn.

Belongs here: the server's configuration, for the command line and for tests that need sockets.
Does not belong here: reading the command line (`__main__.py`).
"""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread

import uvicorn
from starlette.types import ASGIApp

from fireflyassets.twin.dropping import DroppableProtocol

_STARTS_WITHIN = 30.0  # Seconds.


def server_for(app: ASGIApp, *, host: str, port: int) -> uvicorn.Server:
    """Return a server that lets the twin hang up, and logs no URLs."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=DroppableProtocol,
            access_log=False,
            log_level="warning",
            timeout_graceful_shutdown=5,
            backlog=2048,
        )
    )


class _Announcing(uvicorn.Server):
    """Says when it accepts connections."""

    def __init__(self, config: uvicorn.Config, started: Event) -> None:
        super().__init__(config)
        self._announced = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        self._announced.set()


@contextmanager
def serving(app: ASGIApp, *, host: str = "127.0.0.1") -> Generator[str]:
    """Serve *app* from a thread on a free port; yield its base URL, stop at the end."""
    listener = socket.socket()
    listener.bind((host, 0))
    started = Event()
    server = _Announcing(server_for(app, host=host, port=0).config, started)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        if not started.wait(_STARTS_WITHIN):
            raise RuntimeError("The twin did not start.")
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_STARTS_WITHIN)
        listener.close()
