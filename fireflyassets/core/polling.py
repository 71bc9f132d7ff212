"""When to ask whether a remote job is done: learned from the answers of jobs before it.

Belongs here: the estimate of a step's latency and the waits drawn from it. Does not: asking.
Latencies of such services are close to lognormal, so the estimate lives in log seconds. The
first question comes when an answer has become likely; later ones at shares of what is usual.
"""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

_FIRST_GUESS: Final = math.log(4.0)
_FIRST_SPREAD: Final = 0.4
_WEIGHT: Final = 0.1
_FLOOR: Final = timedelta(milliseconds=50)
_CEILING: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Latency:
    """What is known of one step's remote time: mean and spread of its log, in log seconds."""

    mean: float = _FIRST_GUESS
    spread: float = _FIRST_SPREAD
    count: int = 0

    def learn(self, seen: timedelta) -> "Latency":
        """Return the estimate after a job that took *seen*, early ones weighing more."""
        value = math.log(max(seen.total_seconds(), 0.01))
        weight = max(_WEIGHT, 1 / (self.count + 1))
        miss = value - self.mean
        mean = self.mean + weight * miss
        spread = math.sqrt((1 - weight) * (self.spread**2 + weight * miss**2))
        return replace(self, mean=mean, spread=max(spread, 0.02), count=self.count + 1)

    def quantile(self, z: float) -> timedelta:
        """Return the time by which the share that *z* stands for (normal deviate) is done."""
        return timedelta(seconds=math.exp(self.mean + z * self.spread))


def wait_before_poll(latency: Latency, *, elapsed: timedelta, polls: int) -> timedelta:
    """Return the wait before the next question, *polls* having been asked after *elapsed*."""
    if polls == 0:
        wait = latency.quantile(0.7 if latency.count else -1.0) - elapsed
    else:
        step = latency.quantile(0.0).total_seconds() * max(0.15, latency.spread * 0.6)
        wait = timedelta(seconds=step * 1.5 ** (polls - 1))
    return min(max(wait, _FLOOR), _CEILING)
