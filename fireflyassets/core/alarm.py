"""The alarms, as one table: which number is bad when, who is called, and where it says what to do.

Belongs here: the rows, and judging numbers by them, M of N periods. Does not: fetching numbers,
sending anything. CloudWatch judges by what is made of this table (``adapters/aws/alarms.py``), the
factory itself where it acts on one; both by the same rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from fireflyassets.core import metric
from fireflyassets.core.metric import Metric

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)


class Statistic(StrEnum):
    """What is taken of one period, in words of CloudWatch."""

    SUM = "Sum"
    MAXIMUM = "Maximum"
    P95 = "p95"


class Missing(StrEnum):
    """What a period without a number means, in words of CloudWatch."""

    IS_GOOD = "notBreaching"
    """Nothing happened, so nothing bad did."""
    IS_BAD = "breaching"
    """Whoever measures is gone."""


class Urgency(StrEnum):
    """Who is called."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True)
class Level:
    """One metric's own number."""

    metric: Metric
    statistic: Statistic


@dataclass(frozen=True, slots=True)
class Share:
    """One sum over another; no number where the *whole* is too little to tell."""

    part: Metric
    whole: Metric
    minimum: float


Read = Callable[[Metric, Statistic], float | None]
"""One metric's number in one period; None where there is none."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One row: it fires when *bad* of the last *of* periods are above the threshold."""

    name: str
    signal: Level | Share
    threshold: float
    period: timedelta
    bad: int
    of: int
    missing: Missing
    urgency: Urgency
    says: str
    """What is wrong when it fires."""
    of_baseline: bool = False
    """The threshold is a multiple of what the operator calls normal."""

    @property
    def runbook(self) -> str:
        """Return where it says what to do."""
        return f"docs/runbooks/{self.name.replace('_', '-')}.md"

    @property
    def has_source(self) -> bool:
        """Say whether its numbers are measured yet."""
        return all(one.source for one in self.metrics)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Return what it is judged by."""
        signal = self.signal
        return (signal.metric,) if isinstance(signal, Level) else (signal.part, signal.whole)

    def number(self, read: Read) -> float | None:
        """Return the number of one period, or None."""
        signal = self.signal
        if isinstance(signal, Level):
            return read(signal.metric, signal.statistic)
        whole = read(signal.whole, Statistic.SUM) or 0.0
        if whole <= 0 or whole < signal.minimum:
            return None
        return (read(signal.part, Statistic.SUM) or 0.0) / whole

    def fires(self, numbers: Sequence[float | None], *, baseline: float = 1.0) -> bool:
        """Say whether the alarm is on after periods with these *numbers*, the oldest first.

        As CloudWatch does it, there is no other hysteresis than M of N: it goes off again with the
        first period after which fewer than *bad* of the last *of* are bad. Periods of before the
        first one are missing ones.
        """
        limit = self.threshold * (baseline if self.of_baseline else 1.0)
        known = [None] * max(0, self.of - len(numbers)) + list(numbers)[-self.of :]
        bad = sum(
            (self.missing is Missing.IS_BAD) if number is None else number > limit
            for number in known
        )
        return bad >= self.bad


DEAD_LETTERS: Final = Alarm(
    "dlq_depth",
    Level(metric.DEAD, Statistic.MAXIMUM),
    threshold=0,
    period=MINUTE,
    bad=15,
    of=15,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="Dead letters, or jobs in `dlq`, wait for somebody for 15 minutes.",
)
REFUSED_CALLS: Final = Alarm(
    "refused_calls",
    Share(metric.REFUSED, metric.CALLS, minimum=3),
    threshold=0.01,
    period=MINUTE,
    bad=5,
    of=5,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="More than 1 % of the calls were answered 429 in each of five minutes.",
)
SLOW_JOBS: Final = Alarm(
    "slow_jobs",
    Level(metric.END_TO_END, Statistic.P95),
    threshold=2,
    period=5 * MINUTE,
    bad=3,
    of=3,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="One job of twenty took over twice the normal time, for 15 minutes.",
    of_baseline=True,
)
SLOW_WEBHOOKS: Final = Alarm(
    "slow_webhooks",
    Level(metric.WEBHOOK_END_TO_END, Statistic.P95),
    threshold=2,
    period=5 * MINUTE,
    bad=3,
    of=3,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="One webhook of twenty told a job's end over twice the normal time after its intake, for "
    "15 minutes.",
    of_baseline=True,
)
BROKEN_JOBS: Final = Alarm(
    "broken_jobs",
    Share(metric.BROKEN, metric.ENDED, minimum=20),
    threshold=0.05,
    period=5 * MINUTE,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="Over 5 % of the jobs that ended within five minutes failed.",
)
COST_BURN: Final = Alarm(
    "cost_burn",
    Share(metric.OPERATIONS, metric.FORECAST, minimum=20),
    threshold=1.5,
    period=HOUR,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="Operations booked within an hour are over 150 % of the estimates of its jobs.",
)
NO_PROGRESS: Final = Alarm(
    "no_progress",
    Level(metric.STALLED, Statistic.MAXIMUM),
    # Five minutes when it is first bad, and five more until it is bad for the fifth time.
    threshold=300,
    period=MINUTE,
    bad=5,
    of=5,
    missing=Missing.IS_BAD,
    urgency=Urgency.PAGE,
    says="Jobs are due, tickets are free, and nothing was sent for ten minutes; or nobody looks.",
)
OPEN_BREAKER: Final = Alarm(
    "breaker_open",
    Level(metric.BREAKERS, Statistic.MAXIMUM),
    threshold=0,
    period=MINUTE,
    bad=5,
    of=5,
    missing=Missing.IS_GOOD,
    urgency=Urgency.PAGE,
    says="Adobe serves an organisation no calls, and all its jobs have waited for five minutes.",
)
DEEP_QUEUE: Final = Alarm(
    "queue_depth",
    Level(metric.QUEUE_MINUTES, Statistic.MAXIMUM),
    threshold=10,
    period=MINUTE,
    bad=5,
    of=5,
    missing=Missing.IS_GOOD,
    urgency=Urgency.TICKET,
    says="Over ten minutes' worth of calls wait, for five minutes.",
)
TOKEN_CACHE: Final = Alarm(
    "token_cache",
    Share(metric.TOKEN_MISSES, metric.TOKEN_USES, minimum=200),
    threshold=0.01,
    period=HOUR,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.TICKET,
    says="Over 1 % of an hour's calls had to have a new access token made.",
)
LATE_PROJECTIONS: Final = Alarm(
    "projection_lag",
    Level(metric.LAG, Statistic.MAXIMUM),
    threshold=300,
    period=MINUTE,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.TICKET,
    says="Dagster shows, over five minutes late, what interrupted runs came to.",
)
BUDGET: Final = Alarm(
    "budget_used",
    Level(metric.BUDGET, Statistic.MAXIMUM),
    threshold=90,
    period=5 * MINUTE,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.TICKET,
    says="Over 90 % of a customer's month is reserved or spent.",
)
EXPORT_WATERMARK: Final = Alarm(
    "export_watermark",
    Level(metric.EXPORT_LAG, Statistic.MAXIMUM),
    threshold=2 * 24 * 3600,
    period=HOUR,
    bad=1,
    of=1,
    missing=Missing.IS_GOOD,
    urgency=Urgency.TICKET,
    says="Ended jobs are not exported for two days; after 90 their rows expire.",
)

ALARMS: Final = (
    DEAD_LETTERS,
    REFUSED_CALLS,
    SLOW_JOBS,
    SLOW_WEBHOOKS,
    BROKEN_JOBS,
    COST_BURN,
    NO_PROGRESS,
    OPEN_BREAKER,
    DEEP_QUEUE,
    TOKEN_CACHE,
    LATE_PROJECTIONS,
    BUDGET,
    EXPORT_WATERMARK,
)
