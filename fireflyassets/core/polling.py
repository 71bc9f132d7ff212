"""When to ask whether a remote job is done: learned from the answers of jobs before it.

Belongs here: the estimate of a step's latency and the times drawn from it. Does not: asking.
Latencies of such services are close to lognormal, so the estimate lives in log seconds. The
first question comes when an answer has become likely; later ones at shares of what is usual.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

_FIRST_GUESS: Final = math.log(4.0)
_FIRST_SPREAD: Final = 0.4
_WINDOW: Final = 1000
"""Jobs that an estimate rests on: enough for a steady one, few enough to follow a change."""
_EAGER: Final = 20
_EACH: Final = 20
_SWEEPS: Final = 2
"""The first jobs are learned from one by one, later ones in twenties."""
_FIRST, _STRIDE = 1.09, 1.096
"""The first question is asked this many medians after the submit; each later one at this many
times the time of the one before.

Half of all jobs are then found within a tenth of their own time, whatever the spread, and no
other times do it with fewer questions: the more time has passed, the likelier a job is about to
end. With a spread of a quarter that takes under 1.9 questions a job, with a half under 3. The
first is a little early, since an estimate that is late delays more than an early one saves.
"""
_BLIND_FIRST: Final = timedelta(seconds=1)
"""The first question of a step that nothing is known of yet."""
_SCOUTS: Final = 5
"""So many jobs of such a step are asked for in the place of all: what they were seen to outlast
the others will, too, since one alone may be a slow one."""
_STUCK: Final = 3.0
"""Spreads above what is usual, after which a job at work tells nothing of the others."""
_NEVER: Final = math.log(1e9)
_SURPRISE: Final = 1e-6
_HALF: Final = math.sqrt(0.5)
_DENSITY: Final = 1 / math.sqrt(2 * math.pi)
"""Of the normal distribution at its middle; ``statistics.NormalDist`` takes three times as long."""
_FLOOR: Final = timedelta(milliseconds=50)
_CEILING: Final = timedelta(seconds=10)
"""Before a question about a step that nothing is known of."""
_LONGEST: Final = timedelta(seconds=60)
"""Before a question that was learned: what takes a minute is not asked for every ten seconds."""


@dataclass(frozen=True, slots=True)
class Latency:
    """What is known of one step's remote time: mean and spread of its log, in log seconds."""

    mean: float = _FIRST_GUESS
    spread: float = _FIRST_SPREAD
    count: int = 0
    recent: tuple[tuple[float, float], ...] = ()
    """Of the last jobs, between which two times each ended; in log seconds."""

    def learn(
        self,
        seen: timedelta,
        *,
        after: timedelta = timedelta(0),
        working: Iterable[timedelta] = (),
    ) -> "Latency":
        """Return the estimate after a job that ended between *after* and *seen*.

        Nobody sees when a job ends, only at which question it had: taking that for its end would
        make each estimate later than the last. So the likeliest mean and spread are sought for
        the intervals of the last jobs, and for those in flight, of which is known only that they
        take longer than *working*: the first to end are quick ones.
        """
        high = math.log(max(seen.total_seconds(), 0.01))
        low = min(math.log(max(after.total_seconds(), 0.001)), high)
        recent = (*self.recent[-_WINDOW + 1 :], (low, high))
        fresh = replace(self, count=self.count + 1, recent=recent)
        if self.count > _EAGER and self.count % _EACH:
            return fresh
        begun = [math.log(age.total_seconds()) for age in working if age]
        for _ in range(_SWEEPS):
            fresh = fresh.fitted(begun)
        return fresh

    def fitted(self, begun: Iterable[float]) -> "Latency":
        """Return the estimate after one sweep of expectation and maximisation over *recent*.

        *begun*: of each job in flight, after how many log seconds it was last seen at work.
        """
        alive = [age for age in begun if age < self.mean + _STUCK * self.spread]
        seen = [*self.recent, *((age, _NEVER) for age in alive)]
        expected = [self._expected(low, high) for low, high in seen]
        mean = sum(value for value, _ in expected) / len(expected)
        doubts = sum((value - mean) ** 2 + doubt for value, doubt in expected)
        # As if two more jobs had shown the spread that is usual: one alone shows none.
        variance = (doubts + 2 * _FIRST_SPREAD**2) / (len(expected) + 2)
        return replace(self, mean=mean, spread=max(math.sqrt(variance), 0.02))

    def _expected(self, low: float, high: float) -> tuple[float, float]:
        """Return mean and variance of a log latency that is known to lie between two."""
        alpha, beta = (low - self.mean) / self.spread, (high - self.mean) / self.spread
        inside = (math.erf(beta * _HALF) - math.erf(alpha * _HALF)) / 2
        if inside < _SURPRISE:  # Far from all that was known: the nearer bound is the likelier.
            return (low if alpha > 0 else high), 0.0
        at_alpha, at_beta = (
            _DENSITY * math.exp(-(alpha**2) / 2),
            _DENSITY * math.exp(-(beta**2) / 2),
        )
        shift = (at_alpha - at_beta) / inside
        narrowed = 1 + (alpha * at_alpha - beta * at_beta) / inside - shift**2
        return self.mean + self.spread * shift, self.spread**2 * max(narrowed, 0.0)

    def quantile(self, z: float) -> timedelta:
        """Return the time by which the share that *z* stands for (normal deviate) is done."""
        return timedelta(seconds=math.exp(self.mean + z * self.spread))


def next_question(
    latency: Latency, *, asked: timedelta, working: Iterable[timedelta] = ()
) -> timedelta:
    """Return at which age a job is to be asked for, which was last asked for at the age *asked*.

    *working*: after how long jobs in flight, this one among them, were last seen at work. Ask
    again when the time has come: more may be known by then.
    """
    if latency.count:
        at = _learned(latency, asked)
    else:
        scouts = heapq.nlargest(_SCOUTS, working)
        outlasted = max(asked, scouts[-1]) if len(scouts) == _SCOUTS else asked
        at = outlasted + min(_BLIND_FIRST + outlasted / 2, _CEILING)
    return min(max(at, asked + _FLOOR), asked + _LONGEST)


def _learned(latency: Latency, asked: timedelta) -> timedelta:
    """Return the next time of the schedule that is not too close after *asked*."""
    first = latency.quantile(0.0) * _FIRST
    # The estimate may have moved since: then half a stride is enough.
    strides = math.log(max(asked * (1 + _STRIDE) / 2 / first, 1.0), _STRIDE)
    return first * _STRIDE ** math.ceil(strides)
