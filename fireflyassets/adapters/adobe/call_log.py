"""One structured log line, and one count, for each HTTP call; on ``fireflyassets.adobe``.

Belongs here: sending with both behind it, which facts of a call are safe to show, and what is told
of tokens at the end.
Does not: what the metrics are (``core/metric.py``), how lines are written (``json_log.py``).
Never a query, a body, a token: only host and path, ids, times and limits.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import Address
from fireflyassets.core import metric
from fireflyassets.core.tally import Tally
from fireflyassets.ports import trace
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.tokens import TokenCounts

LOGGER: Final = logging.getLogger("fireflyassets.adobe")

_UNSAFE: Final = re.compile(r"[^\x21-\x7e]")
_LONGEST: Final = 200
_ID: Final = re.compile(r"[^/]*(?::|%3A|(?:\d[^/]*){4})[^/]*|[^/]{25,}")
"""A segment of a path that names one job, asset or model, and not what is called."""
_LIMITS: Final = ("x-ratelimit-", "x-access-rate-limit-")
_RESULT: Final = "result"
_TOO_MANY: Final = 429


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The facts of one call. Attached to the log record as ``adobe_call``."""

    client: str
    method: str
    target: str
    """Host and path, no query."""
    endpoint: str
    """The path without ids, or ``result`` for a download."""
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
    token: str
    """``hit``; ``miss`` where the call had to wait for one; ``-`` where it took none."""
    retry_after: str
    limits: str
    """Any headers that tell of limits, and whose they are, best effort: our own limits decide."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts calls for one credential."""

    tally: Tally = field(default_factory=Tally)
    credential: str = "-"

    def count(self, facts: CallRecord, took: timedelta) -> None:
        """Count one call."""
        labels = {
            "endpoint": facts.endpoint,
            "credential": self.credential,
            "customer": trace.current().customer or "-",
        }
        self.tally.add(metric.CALLS, status=facts.status, **labels)
        if facts.status == str(_TOO_MANY):
            self.tally.add(metric.REFUSED, **labels)
        self.tally.observe(metric.LATENCY, took.total_seconds(), endpoint=facts.endpoint)

    def count_tokens(self, counts: TokenCounts) -> None:
        """Count what one credential's token cache did."""
        self.tally.add(metric.TOKEN_USES, counts.calls, credential=self.credential)
        self.tally.add(metric.TOKEN_MISSES, counts.mints, credential=self.credential)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends over one exchange, a line and a count for each call."""

    exchange: Exchange
    clock: Clock
    client: str = "-"
    """Adobe client id; ``-`` for calls without our credentials."""
    meter: Meter = field(default_factory=Meter)

    async def send(
        self, call: Call, *, until: float, tried: int = 1, cached: bool | None = None
    ) -> Answer | NoAnswer:
        """Send *call* before *until*, in the loop's own time; *tried* counts from 1.

        *cached* says whether its token was there already; None: it has none.
        """
        begun = self.clock.now()
        reply: Answer | NoAnswer | None = None
        try:
            reply = await self.exchange.send(call, until=until)
            return reply
        finally:  # A caller that is cancelled leaves its line, too.
            took = self.clock.now() - begun
            facts = _facts(self.client, call, reply, took=took, tried=tried, cached=cached)
            self.meter.count(facts, took)
            _write(facts)


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


def endpoint_of(address: Address) -> str:
    """Return what is called: the path with ``{id}`` for each id in it."""
    path = address.target.partition("?")[0]
    return "/".join("{id}" if _ID.fullmatch(part) else part for part in path.split("/"))


def _facts(
    client: str,
    call: Call,
    reply: Answer | NoAnswer | None,
    *,
    took: timedelta,
    tried: int,
    cached: bool | None,
) -> CallRecord:
    headers: Mapping[str, str] = reply.headers if isinstance(reply, Answer) else {}
    limits = [f"{k}={v}" for k, v in headers.items() if k.lower().startswith(_LIMITS)]
    return CallRecord(
        client=_shown(client),
        method=call.method,
        target=_shown(call.address.label),
        endpoint=_RESULT if client == "-" else _shown(endpoint_of(call.address)),
        request_id=_shown(call.headers.get("x-request-id", "")),
        answered_id=_shown(headers.get("x-request-id", "")),
        milliseconds=max(0, round(took / timedelta(milliseconds=1))),
        status=_status(reply),
        sent=reply.sent if isinstance(reply, NoAnswer) else True,
        tried=tried,
        token="-" if cached is None else "hit" if cached else "miss",
        retry_after=_shown(headers.get("retry-after", "")),
        limits=_shown(",".join(limits)),
    )


def _write(facts: CallRecord) -> None:
    line = " ".join(f"{name}={value}" for name, value in asdict(facts).items())
    LOGGER.info("call %s", line, extra={"adobe_call": facts})


def _status(reply: Answer | NoAnswer | None) -> str:
    if reply is None:
        return "cancelled"
    return str(reply.status) if isinstance(reply, Answer) else reply.code


def _shown(text: str) -> str:
    return _UNSAFE.sub("_", text)[:_LONGEST] or "-"
