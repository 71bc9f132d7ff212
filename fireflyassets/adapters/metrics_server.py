"""Serves a process's numbers to whoever scrapes, on a port of their own.

Belongs here: one address that answers GET. Does not: what is told (``openmetrics.py``). They name
customers, so they are never on the port that customers reach, and by default on loopback alone.
"""

import logging
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from fireflyassets.adapters.openmetrics import MEDIA_TYPE

_log: Final = logging.getLogger("fireflyassets.metrics")
PATH: Final = "/metrics"


class MetricsServer:
    """Answers in threads of its own until it is closed or the process ends."""

    def __init__(self, told: Callable[[], str], *, host: str, port: int) -> None:
        """Listen at once; *told* makes the answer to each request.

        Raises:
            OSError: The port is taken.
        """

        class Answers(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_GET(self) -> None:
                """Tell the numbers."""
                _answer(self, told)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above.
                """Say nothing: a scraper comes each few seconds."""

        self._server = ThreadingHTTPServer((host, port), Answers)
        self._server.daemon_threads = True
        thread = threading.Thread(
            target=self._server.serve_forever, name="metrics-server", daemon=True
        )
        thread.start()

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return self._server.server_port

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


def _answer(request: BaseHTTPRequestHandler, told: Callable[[], str]) -> None:
    if request.path.partition("?")[0] != PATH:
        request.send_error(HTTPStatus.NOT_FOUND)
        return
    try:
        body = told().encode()
    except Exception:  # noqa: BLE001 - the boundary: whatever it is, the scraper is told.
        _log.exception("the numbers can't be told")
        request.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
        return
    request.send_response(HTTPStatus.OK)
    request.send_header("Content-Type", MEDIA_TYPE)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
