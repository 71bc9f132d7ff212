"""Asking the token service for one access token.

Belongs here: the request, its few retries, and the reading of the answer. Does not: caching and
sharing (``ims.py``). The secret goes in the body, never in the URL, which servers log.
"""

import asyncio
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast
from urllib.parse import quote_plus, urlencode

from fireflyassets.adapters.adobe import faults, retry_after
from fireflyassets.adapters.adobe.call_log import Meter, Sender
from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import AllowedHosts, parse_address
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.secrets import ClientSecret
from fireflyassets.ports.tokens import StoredToken

_TRIES: Final = 3
_CALL: Final = timedelta(seconds=6)
_LONGEST_WAIT: Final = timedelta(seconds=4)
_LONGEST_LIFE: Final = timedelta(days=7)
_OK: Final = 200
_PASSING: Final = frozenset({408, 429, *range(500, 600)})
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,16384}")

MOST: Final = _TRIES * _CALL + (_TRIES - 1) * _LONGEST_WAIT
"""Longest that asking can take, retries included."""


@dataclass(frozen=True, slots=True)
class NoToken:
    """There is no token to be had now, and why."""

    fault: Fault
    retry_after: timedelta | None = None


class TokenDesk:
    """Mints tokens at the token service."""

    def __init__(
        self,
        *,
        base_url: str,
        exchange: Exchange,
        hosts: AllowedHosts,
        clock: Clock,
        chance: Callable[[], float],
        meter: Meter | None = None,
    ) -> None:
        """Take the service's address; *chance* draws from [0, 1).

        Raises:
            UnusableConfiguration: The address may not see the secret.
        """
        address = parse_address(f"{base_url.rstrip('/')}/ims/token/v3")
        if address is None or not hosts.trusts(address):
            raise UnusableConfiguration("ims_url is not on the list of adobe_hosts.")
        self._address = address
        self._exchange = exchange
        self._clock = clock
        self._chance = chance
        self._meter = meter or Meter()

    async def mint(self, secret: ClientSecret, scopes: tuple[str, ...]) -> StoredToken | NoToken:
        """Ask for a token, at most three times: a 429, a 5xx and silence are asked again."""
        tried = 1
        while True:
            reply = await self._ask(secret, scopes, tried)
            wait = self._wait(reply, tried)
            if wait is None:
                return self._read(reply, secret)
            await self._clock.sleep(wait)
            tried += 1

    async def _ask(
        self, secret: ClientSecret, scopes: tuple[str, ...], tried: int
    ) -> Answer | NoAnswer:
        form = {
            "grant_type": "client_credentials",
            "client_id": secret.client_id,
            "client_secret": secret.client_secret,
            "scope": ",".join(scopes),
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        call = Call("POST", self._address, headers, urlencode(form).encode())
        until = asyncio.get_running_loop().time() + _CALL.total_seconds()
        sender = Sender(self._exchange, self._clock, secret.client_id, self._meter)
        return await sender.send(call, until=until, tried=tried)

    def _wait(self, reply: Answer | NoAnswer, tried: int) -> timedelta | None:
        """Return the wait before asking again; None where that is no use."""
        passing = isinstance(reply, NoAnswer) or reply.status in _PASSING
        if not passing or tried >= _TRIES:
            return None
        asked = self._asked(reply)
        if asked is not None:
            return asked if asked <= _LONGEST_WAIT else None
        return (0.5 + self._chance() / 2) * min(
            timedelta(seconds=2.0 ** (tried - 1)), _LONGEST_WAIT
        )

    def _asked(self, reply: Answer | NoAnswer) -> timedelta | None:
        if isinstance(reply, NoAnswer):
            return None
        return retry_after.wait(reply.retry_values(), now=reply.date(self._clock.now()))

    def _read(self, reply: Answer | NoAnswer, secret: ClientSecret) -> StoredToken | NoToken:
        if isinstance(reply, NoAnswer):
            return NoToken(faults.from_silence(Family.IMS, reply))
        payload = reply.json()
        body = cast("dict[str, object]", payload) if isinstance(payload, dict) else {}
        token, life = body.get("access_token"), _life(body.get("expires_in"))
        if reply.status != _OK:
            own = (secret.client_secret, secret.older_secret or "", secret.client_id)
            hide = (*own, *map(quote_plus, own))  # A body may echo the form as it was sent.
            fault = faults.from_answer(Family.IMS, reply, hide=hide)
            return NoToken(fault, self._asked(reply))
        if not isinstance(token, str) or not _TOKEN.fullmatch(token) or life is None:
            return NoToken(Fault(Family.IMS, reply.status, "bad_token_answer"))
        return StoredToken(token, self._clock.now() + life)


def _life(value: object) -> timedelta | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # The bound comes first: an integer of hundreds of digits fits no float.
    seconds = min(value, _LONGEST_LIFE.total_seconds())
    return timedelta(seconds=seconds) if math.isfinite(seconds) and seconds > 0 else None
