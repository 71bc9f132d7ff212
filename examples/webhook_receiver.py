"""A receiver of our webhooks, with the standard library alone.

    WEBHOOK_SECRETS="whsec_…" python examples/webhook_receiver.py --port 9000

Several secrets, separated by spaces, all count: so a rotation needs no pause. It answers within
milliseconds and does its work afterwards, and it drops what it has had: each event comes at least
once. A real one keeps the ids where its work is kept, and runs behind TLS.

Ours: checking, answering, dropping repeats. Not here: what is done with an event.
"""

import argparse
import json
import os
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from fireflyassets.webhooks.verify import VerificationFailed, verify

BODY_LIMIT = 20_000
SECONDS = 10


class Receiver(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    secrets: tuple[str, ...] = ()
    seen: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        """Take one webhook: 204 for ours, seen before or not, and 400 for any other."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_LIMIT:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        try:
            webhook_id = verify(body, dict(self.headers), secrets=self.secrets)
        except VerificationFailed as error:
            print(f"refused: {error}", flush=True)
            self._answer(HTTPStatus.BAD_REQUEST)
            return
        self._answer(HTTPStatus.NO_CONTENT)
        if webhook_id in self.seen:
            print(f"{webhook_id} again", flush=True)
            return
        self.seen.add(webhook_id)
        event = json.loads(body)
        print(f"{webhook_id} {event['type']} {event.get('jobId', '')}".rstrip(), flush=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name.
        """Say nothing: what came is told above."""

    def _answer(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def main() -> None:
    """Listen until somebody stops it."""
    parser = argparse.ArgumentParser(description="Receive our webhooks and print them.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    chosen = parser.parse_args()
    Receiver.secrets = tuple(os.environ.get("WEBHOOK_SECRETS", "").split())  # noqa: TID251 - its settings.
    server = ThreadingHTTPServer((chosen.host, chosen.port), Receiver)
    print(f"Listening on http://{chosen.host}:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
