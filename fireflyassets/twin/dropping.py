"""Ending a connection without an answer.

Belongs here: the response that hangs up, and the server protocol that lets it. Does not belong
here: when to hang up (`faults.py`).
"""

import asyncio
import socket
import struct
from typing import Literal, cast

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

EXTENSION = "twin.transport"


class HangingUp(Response):
    """Sends nothing and closes the connection, by FIN (`close`) or RST (`reset`)."""

    def __init__(self, how: Literal["close", "reset"]) -> None:
        super().__init__(status_code=444)  # Never sent; only for whoever reads the object.
        self._how = how

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hang up, then wait until the server has noticed."""
        transport = scope.get("extensions", {}).get(EXTENSION)
        if transport is None:
            raise ConnectionResetError("The twin hung up.")  # An in-process transport.
        if self._how == "reset":
            _reset_on_close(cast("asyncio.Transport", transport))
        cast("asyncio.Transport", transport).close()
        while (await receive())["type"] != "http.disconnect":
            pass


def _reset_on_close(transport: asyncio.Transport) -> None:
    """Make the coming close an RST: without linger the kernel throws the connection away."""
    plain = transport.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class DroppableProtocol(AutoHTTPProtocol):
    """Uvicorn's protocol, with its transport shown to the application."""

    app: ASGIApp

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wrap the application so that each scope carries the transport."""
        super().connection_made(transport)
        inner = self.app

        async def with_transport(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[EXTENSION] = transport
            await inner(scope, receive, send)

        self.app = with_transport
