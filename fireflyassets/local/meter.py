"""The stack's memory while it works: a thread that looks now and then and keeps the peak.

Belongs here: sampling. Does not: which processes belong to a stack (``processes.py``).
"""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

EVERY_SECONDS: Final = 2.0


class PeakMeter:
    """Samples *measure* (bytes) until it is left; `peak_bytes` is the highest answer."""

    def __init__(self, measure: Callable[[], int], *, every_seconds: float = EVERY_SECONDS) -> None:
        self._measure = measure
        self._every = every_seconds
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)
        self.peak_bytes = 0

    def __enter__(self) -> Self:
        """Start to sample."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Sample once more and stop."""
        self._left.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self.peak_bytes = max(self.peak_bytes, self._measure())
            if self._left.wait(self._every):
                self.peak_bytes = max(self.peak_bytes, self._measure())
                return
