"""The authenticated seam: every call to Adobe with a credential passes here.

Belongs here: the check of the host, our headers, the new token after a 401, the log line.
Does not: what answers mean, tries, pacing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe.call_log import Meter, Sender
from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import AllowedHosts, parse_address
from fireflyassets.adapters.adobe.ims import Ims
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.clock import Clock

_UNAUTHORIZED: Final = 401


@dataclass(frozen=True, slots=True)
class Untrusted:
    """The URL is not on the list of hosts: nothing was sent."""

    def fault(self, family: Family) -> Fault:
        """Return it as a fault, without the URL."""
        return Fault(family, None, "untrusted_url", message="the host is not on the allow-list")


Reply = Answer | NoAnswer | NoToken | Untrusted


@dataclass(frozen=True, slots=True)
class Ask:
    """One call in our words."""

    method: str
    url: str = field(repr=False)
    """Sent byte for byte."""
    within: timedelta
    """For everything together: the token, the call and its replay."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes | None = field(default=None, repr=False)
    paid: bool = False
    """A paid submit: takes a connection of its own, and is never repeated here. Each send of one
    has a row of its own in the ledger, so whoever writes the rows repeats it."""


class AdobeWire:
    """Calls Adobe as one credential."""

    def __init__(
        self,
        *,
        exchange: Exchange,
        hosts: AllowedHosts,
        tokens: Ims,
        clock: Clock,
        correlation: Callable[[], str],
        meter: Meter | None = None,
    ) -> None:
        """Take the parts; *correlation* gives a new request id for each call sent."""
        self._sender = Sender(exchange, clock, tokens.client_id, meter or Meter())
        self._hosts = hosts
        self._tokens = tokens
        self._correlation = correlation

    @property
    def clock(self) -> Clock:
        """Return the clock that calls are measured by."""
        return self._sender.clock

    async def ask(self, ask: Ask) -> Reply:
        """Send one call. On a 401 the token is replaced, and all but a paid call sent once more."""
        address = parse_address(ask.url)
        if address is None or not self._hosts.trusts(address):
            return Untrusted()
        until = asyncio.get_running_loop().time() + ask.within.total_seconds()
        minted = self._tokens.counts.mints
        token = await self._token(self._tokens.token(), until)
        if not isinstance(token, str):
            return token
        cached = self._tokens.counts.mints == minted
        call = Call(ask.method, address, ask.headers, ask.content, ask.paid)
        reply = await self._send(call, token, until, tried=1, cached=cached)
        if not isinstance(reply, Answer) or reply.status != _UNAUTHORIZED:
            return reply
        token = await self._token(self._tokens.replacement(token), until)
        if ask.paid or not isinstance(token, str):
            return reply
        return await self._send(call, token, until, tried=2, cached=False)

    async def missing_token(self, within: timedelta) -> NoToken | None:
        """Fetch a token if none is in hand; return why none came *within* that time."""
        until = asyncio.get_running_loop().time() + within.total_seconds()
        token = await self._token(self._tokens.token(), until)
        return token if isinstance(token, NoToken) else None

    async def aclose(self) -> None:
        """Stop renewals and close the connections."""
        await self._tokens.aclose()
        await self._sender.exchange.aclose()

    async def _token(self, token: Awaitable[str | NoToken], until: float) -> str | NoToken:
        try:
            async with asyncio.timeout_at(until):
                return await token
        except (TimeoutError, StoreUnavailable):
            # Told as an answer: an error out of a submit would leave its outcome unknown.
            return NoToken(Fault(Family.IMS, None, "no_token_in_time"))

    async def _send(
        self, call: Call, token: str, until: float, *, tried: int, cached: bool
    ) -> Answer | NoAnswer:
        ours = {
            "Authorization": f"Bearer {token}",
            "x-api-key": self._tokens.client_id,
            "x-request-id": self._correlation(),
            "Accept": "application/json",
        }
        call = replace(call, headers={**call.headers, **ours})
        reply = await self._sender.send(call, until=until, tried=tried, cached=cached)
        if isinstance(reply, Answer) and reply.status != _UNAUTHORIZED:
            self._tokens.accepted(token)
        return reply
