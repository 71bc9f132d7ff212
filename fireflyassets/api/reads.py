"""What is asked for again and again: how often it may be, and answers kept for a moment.

Belongs here: buckets of asks for each tenant, and pages as they were last told. Does not: what
they say. Both are of this process alone: more processes allow more asks.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Lock
from typing import Final, Generic, TypeVar

from fireflyassets.ports.clock import Clock

FRESH: Final = timedelta(seconds=2)
"""The index behind a list is about as late."""
_MOST_BYTES: Final = 32 * 1024 * 1024
_OF_TEN: Final = 10
_MOST_KEPT: Final = timedelta(seconds=30)
_MOST_BUCKETS: Final = 10_000
_MOST_PAGES: Final = 1_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class Kind(StrEnum):
    """What is asked for, as far as asks are counted apart."""

    LISTS = "lists and sums"
    READS = "single jobs and pictures"
    WRITES = "what is sent and steered"


@dataclass(slots=True)
class _Bucket:
    asks: float
    at: datetime


class Buckets:
    """As many asks as a minute allows, for each tenant and kind; unused ones add up to a minute's.

    One that was not used for a minute is full, and forgetting it changes nothing. Beyond the bound
    the longest unused goes.
    """

    def __init__(self, clock: Clock, per_minute: Mapping[Kind, int]) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._lock = Lock()
        self._buckets: OrderedDict[tuple[str, Kind], _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, tenant: str, kind: Kind) -> timedelta | None:
        """Take one ask; where there is none, return after how long there is one again."""
        now, most = self._clock.now(), self._per_minute[kind]
        with self._lock:
            bucket = self._buckets.pop((tenant, kind), None) or _Bucket(most, now)
            self._buckets[tenant, kind] = bucket
            self._forget(now)
            passed = max(timedelta(0), now - bucket.at) / timedelta(minutes=1)
            bucket.asks = min(most, bucket.asks + passed * most)
            bucket.at = now
            if bucket.asks < 1:
                return timedelta(minutes=(1 - bucket.asks) / most)
            bucket.asks -= 1
            return None

    def _forget(self, now: datetime) -> None:
        """Forget what is full again, the longest unused first."""
        while len(self._buckets) > 1:
            key = next(iter(self._buckets))
            is_full = now - self._buckets[key].at >= timedelta(minutes=1)
            if not is_full and len(self._buckets) <= _MOST_BUCKETS:
                return
            del self._buckets[key]


@dataclass(frozen=True, slots=True)
class _Found(Generic[Value]):
    value: Value
    until: datetime


class _Read(Generic[Value]):
    """One thing that is read, by one reader at a time."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: _Found[Value] | None = None


class KeptReads(Generic[Key, Value]):
    """What a long read has found, by what was asked, for ten times as long as it took.

    At least for `FRESH`, and `_MOST_KEPT` at most. However many ask, one reads, and others are told
    what was found before; only where nothing was do they wait.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._reads: OrderedDict[Key, _Read[Value]] = OrderedDict()

    def get(self, asked: Key, find: Callable[[], Value]) -> Value:
        """Return what *find* has found for *asked*, anew unless that is fresh or on its way."""
        with self._lock:
            read = self._reads.setdefault(asked, _Read())
            self._reads.move_to_end(asked)
            while len(self._reads) > _MOST_PAGES:
                self._reads.popitem(last=False)
        found = read.found
        if found and (self._clock.now() < found.until or read.lock.locked()):
            return found.value
        with read.lock:
            began = self._clock.now()
            if read.found and began < read.found.until:
                return read.found.value
            value = find()
            now = self._clock.now()
            read.found = _Found(value, now + min(_MOST_KEPT, max(FRESH, _OF_TEN * (now - began))))
            return value

    def forget(self, asked: Key) -> None:
        """Let the next one read anew: whoever changes things wants to see that."""
        with self._lock:
            self._reads.pop(asked, None)


class KeptPages:
    """Bodies of answers by what was asked, for `FRESH`, within bounds of bytes and number."""

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
            while self._bytes > _MOST_BYTES or len(self._pages) > _MOST_PAGES:
                self._drop(next(iter(self._pages)))
        return body

    def _drop(self, asked: object) -> None:
        _, body = self._pages.pop(asked, (None, b""))
        self._bytes -= len(body)
