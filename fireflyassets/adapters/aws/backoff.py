"""How long to wait before a write that lost to another one is sent again.

Belongs here: the waits between our own retries. Does not: retries of whole requests, which the
client does by itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from secrets import SystemRandom
from threading import Event


def _wait(duration: timedelta) -> None:
    Event().wait(duration.total_seconds())


@dataclass(frozen=True, slots=True)
class Backoff:
    """Full jitter under a doubling cap; tests hand in a wait that does not."""

    tries: int = 9
    first: timedelta = timedelta(milliseconds=25)
    longest: timedelta = timedelta(seconds=1)
    wait: Callable[[timedelta], None] = _wait
    jitter: Callable[[], float] = SystemRandom().random

    def pauses(self) -> Iterator[int]:
        """Yield the number of each try, waiting between two; ends when the tries are spent."""
        for n in range(self.tries):
            if n:
                self.wait(self.jitter() * min(self.longest, self.first * 2.0 ** (n - 1)))
            yield n
