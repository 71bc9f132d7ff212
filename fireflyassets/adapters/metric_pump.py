"""Takes a process's numbers to where they are kept: now and then, and once more at its end.

Belongs here: when. Does not: what is counted, where it goes. It has a thread of its own, and what
it can't bring away is lost: nobody waits for it but, for a moment, a process that ends.
"""

import atexit
import logging
import threading
from datetime import timedelta
from typing import Final

from fireflyassets.core import metric
from fireflyassets.core.tally import Tally
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.metrics import MetricSink

_log: Final = logging.getLogger("fireflyassets.metrics")


class Pump:
    """Empties one tally into one sink. Safe to share by threads."""

    def __init__(self, tally: Tally, sink: MetricSink, clock: Clock, *, every: timedelta) -> None:
        self._tally = tally
        self._sink = sink
        self._clock = clock
        self._every = every
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, and see to it that the end of the process brings the rest away."""
        with self._turn:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
            self._thread.start()
        atexit.register(self.flush)

    def flush(self) -> None:
        """Bring away what is there now."""
        with self._turn:
            series = self._tally.taken()
            if not series:
                return
            try:
                lost = self._sink.send(series, at=self._clock.now())
            except Exception:  # noqa: BLE001 - the boundary: a bug in here must not end any work.
                _log.exception("metrics could not be sent")
                lost = len(series)
            if lost:
                self._tally.add(metric.DROPPED, lost)

    def stop(self) -> None:
        """End the thread, with a last flush."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()
        atexit.unregister(self.flush)

    def _run(self) -> None:
        while not self._over.wait(self._every.total_seconds()):
            self.flush()
