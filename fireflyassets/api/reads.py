"""Reads that are asked for again and again: how often they may be, and answers kept for a moment.

Belongs here: a bucket of asks for each tenant, and pages as they were last told. Does not: what
they say. Both are of this process alone: more processes allow more asks.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from fireflyassets.ports.clock import Clock

FRESH: Final = timedelta(seconds=2)
"""The index behind a list is about as late."""
_MOST_BYTES: Final = 32 * 1024 * 1024


@dataclass(slots=True)
class _Bucket:
    asks: float
    at: datetime


class Buckets:
    """As many asks as a minute allows, for each tenant; unused ones add up to one minute's."""

    def __init__(self, clock: Clock, *, per_minute: int) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._lock = Lock()
        self._buckets: dict[str, _Bucket] = {}

    def take(self, tenant: str) -> timedelta | None:
        """Take one ask; where there is none, return after how long there is one again."""
        now = self._clock.now()
        with self._lock:
            bucket = self._buckets.setdefault(tenant, _Bucket(self._per_minute, now))
            passed = max(timedelta(0), now - bucket.at) / timedelta(minutes=1)
            bucket.asks = min(self._per_minute, bucket.asks + passed * self._per_minute)
            bucket.at = now
            if bucket.asks < 1:
                return timedelta(minutes=(1 - bucket.asks) / self._per_minute)
            bucket.asks -= 1
            return None


class KeptPages:
    """Bodies of answers by what was asked, for `FRESH`, within a bound of bytes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._pages: OrderedDict[object, tuple[datetime, bytes]] = OrderedDict()
        self._bytes = 0

    def page(self, asked: object, make: Callable[[], bytes]) -> bytes:
        """Return the answer to *asked*, made anew unless a fresh one is kept."""
        now = self._clock.now()
        with self._lock:
            made_at, body = self._pages.get(asked, (None, b""))
        if made_at is not None and timedelta(0) <= now - made_at < FRESH:
            return body
        body = make()
        with self._lock:
            self._drop(asked)
            self._pages[asked] = (now, body)
            self._bytes += len(body)
            while self._bytes > _MOST_BYTES:
                self._drop(next(iter(self._pages)))
        return body

    def _drop(self, asked: object) -> None:
        _, body = self._pages.pop(asked, (None, b""))
        self._bytes -= len(body)
