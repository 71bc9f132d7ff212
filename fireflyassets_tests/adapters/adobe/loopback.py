"""Adobe's part played by a raw server: it grants tokens and leaves the rest to a behaviour.

Here: the behaviours that several test modules use. Not here: sockets (``raw_server.py``).
"""

import json

from fireflyassets.settings import Settings
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.raw_server import Behaviour, Connection, RawServer

TOKEN = json.dumps({"access_token": "TOKMARK-1", "token_type": "bearer", "expires_in": 86_399})


def granting(then: Behaviour) -> Behaviour:
    """Return a behaviour that grants tokens and does *then* with every other request."""

    def behave(connection: Connection, request: bytes) -> None:
        if request.startswith(b"POST /ims/token/v3 "):
            connection.answer("200 OK", TOKEN.encode(), "Content-Type: application/json")
        else:
            then(connection, request)

    return behave


def saying(status: str, body: object, *headers: str) -> Behaviour:
    """Return a behaviour that answers JSON."""

    def behave(connection: Connection, _: bytes) -> None:
        text = json.dumps(body).encode()
        connection.answer(status, text, "Content-Type: application/json", *headers)

    return behave


def by_path(parts: dict[str, Behaviour]) -> Behaviour:
    """Return a behaviour that picks another by what the target starts with."""

    def behave(connection: Connection, request: bytes) -> None:
        target = request.split(b" ", 2)[1].decode("latin-1")
        next(part for start, part in parts.items() if target.startswith(start))(connection, request)

    return behave


def settings_for(*servers: RawServer, seconds: float = 20) -> Settings:
    """Return settings whose base is the first server, with all of them on the list."""
    return bench.settings(
        [server.host for server in servers], base=servers[0].url, submit_seconds=str(seconds)
    )


def paid_requests(server: RawServer) -> list[bytes]:
    """Return what came besides token requests."""
    return [one for one in server.requests if not one.startswith(b"POST /ims/token/v3 ")]
