"""When to ask whether a remote job is done: learned from the answers of jobs before it.

Belongs here: the estimate of a step's latency and the waits drawn from it. Does not: asking.
Latencies of such services are close to lognormal, so the estimate lives in log seconds. The
first question comes when an answer has become likely; later ones at shares of what is usual.
"""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import NormalDist
from typing import Final

_FIRST_GUESS: Final = math.log(4.0)
_FIRST_SPREAD: Final = 0.4
_WINDOW: Final = 300
"""Jobs that an estimate rests on: enough for a steady one, few enough to follow a change."""
_EAGER: Final = 20
_EACH: Final = 10
_SWEEPS: Final = 6
"""The first jobs are learned from one by one, later ones in tens."""
_NARROW: Final = (0.31, 0.69, 1.07, 1.45, 1.83, 2.2)
_WIDE: Final = (-0.5, 0.0, 0.42, 0.8, 1.2, 1.65, 2.2)
"""When to ask, in normal deviates of the log latency: searched for the least delay at under 1.9
questions a job where latencies spread little, and under 3 where they spread much."""
_SPREADS_MUCH: Final = 0.35
_BLIND_FIRST: Final = timedelta(seconds=1)
"""The first question of a step that nothing is known of yet."""
_MOST_GROWTH: Final = 20
_SURPRISE: Final = 1e-6
_NORMAL: Final = NormalDist()
_FLOOR: Final = timedelta(milliseconds=50)
_CEILING: Final = timedelta(seconds=10)
"""Between questions of a job that is late, or of a step that nothing is known of."""
_LONGEST: Final = timedelta(seconds=60)
"""Before a question that was learned."""


@dataclass(frozen=True, slots=True)
class Latency:
    """What is known of one step's remote time: mean and spread of its log, in log seconds."""

    mean: float = _FIRST_GUESS
    spread: float = _FIRST_SPREAD
    count: int = 0
    recent: tuple[tuple[float, float], ...] = ()
    """Of the last jobs, between which two times each ended; in log seconds."""

    def learn(self, seen: timedelta, *, after: timedelta = timedelta(0)) -> "Latency":
        """Return the estimate after a job that ended between *after* and *seen*.

        Nobody sees when a job ends, only at which question it had: taking that for its end would
        make each estimate later than the last. So the likeliest mean and spread are sought for
        the intervals of the last jobs.
        """
        high = math.log(max(seen.total_seconds(), 0.01))
        low = min(math.log(max(after.total_seconds(), 0.001)), high)
        recent = (*self.recent[-_WINDOW + 1 :], (low, high))
        fresh = replace(self, count=self.count + 1, recent=recent)
        if self.count > _EAGER and self.count % _EACH:
            return fresh
        for _ in range(_SWEEPS):
            fresh = fresh.fitted()
        return fresh

    def fitted(self) -> "Latency":
        """Return the estimate after one sweep of expectation and maximisation over *recent*."""
        expected = [self._expected(low, high) for low, high in self.recent]
        mean = sum(value for value, _ in expected) / len(expected)
        doubts = sum((value - mean) ** 2 + doubt for value, doubt in expected)
        # As if two more jobs had shown the spread that is usual: one alone shows none.
        variance = (doubts + 2 * _FIRST_SPREAD**2) / (len(expected) + 2)
        return replace(self, mean=mean, spread=max(math.sqrt(variance), 0.02))

    def _expected(self, low: float, high: float) -> tuple[float, float]:
        """Return mean and variance of a log latency that is known to lie between two."""
        alpha, beta = (low - self.mean) / self.spread, (high - self.mean) / self.spread
        inside = _NORMAL.cdf(beta) - _NORMAL.cdf(alpha)
        if inside < _SURPRISE:  # Far from all that was known: the nearer bound is the likelier.
            return (low if alpha > 0 else high), 0.0
        at_alpha, at_beta = _NORMAL.pdf(alpha), _NORMAL.pdf(beta)
        shift = (at_alpha - at_beta) / inside
        narrowed = 1 + (alpha * at_alpha - beta * at_beta) / inside - shift**2
        return self.mean + self.spread * shift, self.spread**2 * max(narrowed, 0.0)

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
        # What is likely to take a minute is not asked for every ten seconds.
        wait, most = latency.quantile(asked_at[polls]) - elapsed, _LONGEST
    else:
        late = min(polls - len(asked_at), _MOST_GROWTH)
        wait, most = median * 0.15 * 1.5**late, _CEILING
    return min(max(wait, median * 0.03, _FLOOR), most)
