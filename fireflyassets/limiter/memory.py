"""A limiter for one process: tests, the local default and a single worker.

Here: the store that applies the protocol's writes to a dictionary. Several limiters over one store
behave like several processes, each with its own clock and its own, possibly old, picture. Not here:
what a write does (`protocol`).
"""

from collections.abc import Callable
from datetime import datetime
from threading import Lock

from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.clock import Watch
from fireflyassets.limiter.conditional import Applied, ConditionalLimiter, Lost


class MemoryStore:
    """Items and their states; one write at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._states: dict[str, State] = {}

    def read(self, item: str) -> State | None:
        """Return the stored state of *item*."""
        with self._lock:
            return self._states.get(item)

    def write(self, item: str, write: protocol.Write) -> Applied | Lost:
        """Apply *write* if its condition holds."""
        with self._lock:
            stored = self._states.get(item)
            after = protocol.apply(stored, write)
            if after is None:
                return Lost(stored)
            self._states[item] = after
            return Applied(after)


class MemoryLimiter(ConditionalLimiter):
    """A limiter over a `MemoryStore`, by default one of its own."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        watch: Watch | None = None,
        store: MemoryStore | None = None,
    ) -> None:
        super().__init__(now=now, watch=watch)
        self._store = store or MemoryStore()

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        return self._store.write(item, write)

    def _read(self, item: str) -> State | None:
        return self._store.read(item)
