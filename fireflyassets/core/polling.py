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
_WEIGHT: Final = 0.01
_NARROW: Final = (0.32, 0.71, 1.07, 1.44, 1.87, 2.3)
_WIDE: Final = (-0.5, 0.0, 0.42, 0.8, 1.2, 1.65, 2.2)
"""When to ask, in normal deviates of the log latency: searched for the least delay at under 1.9
questions a job where latencies spread little, and under 3 where they spread much."""
_SPREADS_MUCH: Final = 0.35
_BLIND_FIRST: Final = timedelta(seconds=1)
"""The first question of a step that nothing is known of yet."""
_MOST_GROWTH: Final = 20
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
    if not latency.count:
        return min(_BLIND_FIRST * 1.5 ** min(polls, _MOST_GROWTH), _CEILING)
    median = latency.quantile(0.0)
    asked_at = _WIDE if latency.spread > _SPREADS_MUCH else _NARROW
    if polls < len(asked_at):
        wait = latency.quantile(asked_at[polls]) - elapsed
    else:
        late = min(polls - len(asked_at), _MOST_GROWTH)
        wait = median * 0.15 * 1.5**late
    return min(max(wait, median * 0.03, _FLOOR), _CEILING)
