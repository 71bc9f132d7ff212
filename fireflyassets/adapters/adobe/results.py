"""Downloads results from the vendor's stores, without any credential of ours.

Belongs here: the bare client's one use, and what bytes are by their own first bytes. Does not:
checking the picture (``adapters/pillow.py``). A signed URL is its own permission: a second
authorisation makes stores refuse it, and would leak the token.
"""

import asyncio
import re
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe import faults
from fireflyassets.adapters.adobe.call_log import Meter, Sender
from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import AllowedHosts, parse_address
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.paid import Fetched, FetchFailed

_NO_LONGER: Final = frozenset({400, 401, 403, 404, 410})
"""How stores answer a signed URL that has expired."""
_S3_CODE: Final = re.compile(rb"<Code>([A-Za-z]{1,64})</Code>")
_OK: Final = 200


class ResultStore:
    """Fetches what a signed URL points to."""

    def __init__(
        self,
        *,
        exchange: Exchange,
        hosts: AllowedHosts,
        clock: Clock,
        within: timedelta,
        meter: Meter | None = None,
    ) -> None:
        """Take a client of its own; a download may take *within* altogether."""
        self._sender = Sender(exchange, clock, meter=meter or Meter())
        self._hosts = hosts
        self._within = within

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        """Return the bytes behind *url*, which is sent byte for byte."""
        address = parse_address(url)
        # Plain HTTP is for the simulator on this machine, which must be on the list.
        if address is None or (address.scheme != "https" and not self._hosts.trusts(address)):
            return FetchFailed(Fault(Family.STORAGE, None, "untrusted_url"))
        until = asyncio.get_running_loop().time() + self._within.total_seconds()
        return _read(await self._sender.send(Call("GET", address), until=until))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sender.exchange.aclose()


def media_type(content: bytes) -> str | None:
    """Return what *content* is by its first bytes; names and headers are only guesses."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content.startswith((b"II*\x00", b"MM\x00*")):
        return "image/tiff"
    return None


def _read(reply: Answer | NoAnswer) -> Fetched | FetchFailed:
    if isinstance(reply, NoAnswer):
        return FetchFailed(faults.from_silence(Family.STORAGE, reply))
    if reply.status != _OK:
        code = "expired_url" if reply.status in _NO_LONGER else "storage_error"
        said = _S3_CODE.search(reply.body[:4096])
        message = said.group(1).decode() if said else ""
        return FetchFailed(Fault(Family.STORAGE, reply.status, code, message=message))
    kind = media_type(reply.body)
    if kind is None:
        message = f"{len(reply.body)} bytes that are no picture"
        return FetchFailed(Fault(Family.STORAGE, reply.status, "not_a_picture", message=message))
    return Fetched(reply.body, kind)
