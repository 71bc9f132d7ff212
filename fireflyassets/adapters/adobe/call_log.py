"""One structured log line for each HTTP call, on the logger ``fireflyassets.adobe``.

Belongs here: sending with a line behind it, which facts of a call are safe to show, and the line
about tokens at the end.
Does not: metrics.
Never a query, a body, a token: only host and path, ids, times and limits.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.tokens import TokenCounts

LOGGER: Final = logging.getLogger("fireflyassets.adobe")

_UNSAFE: Final = re.compile(r"[^\x21-\x7e]")
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The facts of one call. Attached to the log record as ``adobe_call``."""

    client: str
    method: str
    target: str
    """Host and path, no query."""
    request_id: str
    """Correlation id that was sent."""
    answered_id: str
    """Correlation id that came back."""
    milliseconds: int
    status: str
    """HTTP status, the code of why there is none, or ``cancelled``."""
    sent: bool
    """False only where certainly nothing was sent."""
    tried: int
    retry_after: str
    limits: str
    """Any ``X-RateLimit-*`` headers, best effort: our own limits decide."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends over one exchange, a line for each call."""

    exchange: Exchange
    clock: Clock
    client: str = "-"
    """Adobe client id; ``-`` for calls without our credentials."""

    async def send(self, call: Call, *, until: float, tried: int = 1) -> Answer | NoAnswer:
        """Send *call* before *until*, in the loop's own time; *tried* counts from 1."""
        begun = self.clock.now()
        reply: Answer | NoAnswer | None = None
        try:
            reply = await self.exchange.send(call, until=until)
            return reply
        finally:  # A caller that is cancelled leaves its line, too.
            took = self.clock.now() - begun
            _write(self.client, call, reply, took=took, tried=tried)


def write_token_counts(client: str, counts: TokenCounts) -> None:
    """Write how a credential's token cache did, as the record's ``adobe_tokens``, too."""
    LOGGER.info(
        "tokens client=%s calls=%d mints=%d hit_ratio=%.4f",
        _shown(client),
        counts.calls,
        counts.mints,
        counts.hit_ratio,
        extra={"adobe_tokens": counts},
    )


def _write(
    client: str, call: Call, reply: Answer | NoAnswer | None, *, took: timedelta, tried: int
) -> None:
    headers: Mapping[str, str] = reply.headers if isinstance(reply, Answer) else {}
    limits = [f"{k}={v}" for k, v in headers.items() if k.lower().startswith("x-ratelimit-")]
    facts = CallRecord(
        client=_shown(client),
        method=call.method,
        target=_shown(call.address.label),
        request_id=_shown(call.headers.get("x-request-id", "")),
        answered_id=_shown(headers.get("x-request-id", "")),
        milliseconds=max(0, round(took / timedelta(milliseconds=1))),
        status=_status(reply),
        sent=reply.sent if isinstance(reply, NoAnswer) else True,
        tried=tried,
        retry_after=_shown(headers.get("retry-after", "")),
        limits=_shown(",".join(limits)),
    )
    line = " ".join(f"{name}={value}" for name, value in asdict(facts).items())
    LOGGER.info("call %s", line, extra={"adobe_call": facts})


def _status(reply: Answer | NoAnswer | None) -> str:
    if reply is None:
        return "cancelled"
    return str(reply.status) if isinstance(reply, Answer) else reply.code


def _shown(text: str) -> str:
    return _UNSAFE.sub("_", text)[:_LONGEST] or "-"
