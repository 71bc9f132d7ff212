"""The plots that people watch, as data: one table for CloudWatch's dashboard and for our own page.

Belongs here: what is drawn by which labels. Does not: drawing (``adapters/aws/alarms.py``).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import metric
from fireflyassets.core.metric import Metric
from fireflyassets.core.status import Status

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
PERCENTILES: Final = ("p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Drawn:
    """One metric in a plot."""

    metric: Metric
    statistics: tuple[str, ...]
    by: tuple[str, ...] = ()
    """A line for each set of these labels; none: one line for all."""
    only: tuple[tuple[str, str], ...] = ()
    """The one set of labels that is drawn."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot."""

    title: str
    drawn: tuple[Drawn, ...]
    period: timedelta = MINUTE

    @property
    def span(self) -> timedelta:
        """Return how much of the past our own page shows."""
        return 60 * MINUTE if self.period == MINUTE else 24 * HOUR


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot: what was measured, by which labels, and its numbers."""

    metric: Metric
    statistic: str
    labels: tuple[tuple[str, str], ...]
    points: tuple[tuple[datetime, float], ...]
    """The oldest first, at the beginning of each period; a period without a number is left out."""

    @property
    def name(self) -> str:
        """Return what tells the line from the others of its plot."""
        who = ", ".join(value for _, value in self.labels)
        what = self.metric.name.replace("_", " ")
        if self.statistic in PERCENTILES:
            what = f"{what} {self.statistic}"
        return f"{who}: {what}" if who else what


PLOTS: Final = (
    Plot(
        "Jobs a minute, by customer and status",
        (Drawn(metric.ENDED, ("Sum",), by=("customer", "status")),),
    ),
    Plot(
        "From intake to the end of a job",
        (
            Drawn(metric.END_TO_END, PERCENTILES),
            Drawn(metric.END_TO_END, ("p95",), by=("customer",)),
        ),
    ),
    Plot(
        "From intake to the webhook that tells the end",
        (
            Drawn(metric.WEBHOOK_END_TO_END, PERCENTILES),
            Drawn(metric.WEBHOOK_END_TO_END, ("p95",), by=("customer",)),
        ),
    ),
    Plot(
        "Headroom below the paced rate, by organisation and API family",
        (Drawn(metric.HEADROOM, ("Minimum",), by=("item",)),),
    ),
    Plot(
        "Dead letters, and jobs that become one",
        (
            Drawn(metric.DEAD, ("Maximum",)),
            Drawn(metric.ENDED, ("Sum",), only=(("status", Status.DLQ.value),)),
        ),
    ),
    Plot(
        "Operations an hour, by customer and campaign, and their estimates",
        (
            Drawn(metric.OPERATIONS, ("Sum",), by=("customer", "campaign")),
            Drawn(metric.FORECAST, ("Sum",), by=("customer", "campaign")),
        ),
        HOUR,
    ),
    Plot(
        "Steps by custom model and how they end",
        (Drawn(metric.STEPS, ("Sum",), by=("model", "outcome")),),
    ),
    Plot(
        "Steps by name and how they end",
        (Drawn(metric.STEPS, ("Sum",), by=("step", "outcome")),),
    ),
    Plot(
        "Latency of Adobe's answers, by endpoint",
        (Drawn(metric.LATENCY, PERCENTILES, by=("endpoint",)),),
    ),
    Plot(
        "Calls and 429s an hour, by credential",
        (
            Drawn(metric.CALLS, ("Sum",), by=("credential",)),
            Drawn(metric.REFUSED, ("Sum",), by=("credential",)),
        ),
        HOUR,
    ),
    Plot(
        "Calls and 429s a minute, by customer and by endpoint",
        (
            Drawn(metric.CALLS, ("Sum",), by=("customer",)),
            Drawn(metric.CALLS, ("Sum",), by=("endpoint",)),
            Drawn(metric.REFUSED, ("Sum",), by=("customer",)),
            Drawn(metric.REFUSED, ("Sum",), by=("endpoint",)),
        ),
    ),
    Plot(
        "Access tokens an hour: calls that took one, and had to have one made",
        (
            Drawn(metric.TOKEN_USES, ("Sum",), by=("credential",)),
            Drawn(metric.TOKEN_MISSES, ("Sum",), by=("credential",)),
        ),
        HOUR,
    ),
    Plot(
        "What waits",
        (
            Drawn(metric.QUEUE_DEPTH, ("Maximum",)),
            Drawn(metric.QUEUED, ("Maximum",), by=("customer", "credential")),
            Drawn(metric.OLDEST_DUE, ("Maximum",)),
        ),
    ),
)
