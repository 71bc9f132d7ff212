"""What a scraper is told by the API's process: its own counts, and how everything stands.

Belongs here: putting both together at each request. Does not: listening
(``adapters/metrics_server.py``), braking, which is the sensor's.
"""

import threading
from dataclasses import dataclass, field

from fireflyassets.adapters import openmetrics
from fireflyassets.core.tally import Tally
from fireflyassets.ports.clock import Clock
from fireflyassets.stages.watch import Memory, Watch


@dataclass(slots=True)
class Exposition:
    """Looks anew at each request. Safe to share by threads."""

    counts: Tally
    """The process's own."""
    watch: Watch
    """Over a tally apart: the sensor sends the gauges, this process must not send them, too."""
    clock: Clock
    _memory: Memory = field(default_factory=Memory)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def text(self) -> str:
        """Return counts and gauges as they are now."""
        with self._turn:
            self._memory = self.watch.look(self._memory, now=self.clock.now())
        return openmetrics.text([*self.counts.totals(), *self.watch.tally.totals()])
