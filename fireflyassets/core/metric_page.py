"""Metrics and alarms as the page that operators read.

Belongs here: turning the tables into Markdown. Does not: a single row of them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from fireflyassets.core.alarm import ALARMS, Alarm, Missing, Share
from fireflyassets.core.metric import METRICS, Metric
from fireflyassets.core.plots import PLOTS

_INTRO: Final = """\
# Metrics and alarms

What is measured, and when somebody is called. This page is made from the tables that the factory
itself goes by: `fireflyassets alarms list` prints it, and `fireflyassets alarms render` prints the
same tables as CloudWatch takes them.

Each process counts in its own memory, and brings its numbers to CloudWatch each half minute and at
its end, under the namespace of the setting `metrics_namespace`. Numbers of a process that is killed
are lost since then, and so are those that CloudWatch does not take: no decision and no
money hangs on them. A gauge is set by one sensor, from what stands. Times of histograms are kept
to two digits.

Started with `--metrics-port`, the API serves its own counts and the gauges of the watch as
OpenMetrics, under the path /metrics on a port of its own that no customer reaches. What runs count
is not there: they live for minutes, and nobody could scrape them. It is in CloudWatch.
"""
_ALARMS: Final = """\
An alarm is on while so many of its last periods are bad, and off again with the first period after
which they are fewer. A share of less than its least count is not judged. A row marked *not measured
yet* waits for its producer, and no alarm is made for it.
"""
_LOCAL: Final = """\
The embedded AWS of the local stack ignores periods, counts and labels of alarms and can't divide
one metric by another. It proves that a number reaches an alarm and the alarm its topic, nothing
more. So the local stack makes no alarms.
"""


def page() -> str:
    """Return the page."""
    return "\n".join(
        [
            _INTRO,
            "## Alarms\n",
            _ALARMS,
            *_table(
                ("alarm", "fires when", "periods", "who", "runbook"),
                (_alarm(one) for one in ALARMS),
            ),
            "",
            _LOCAL,
            "## Metrics\n",
            *_table(("metric", "what", "labels", "measured by"), (_metric(one) for one in METRICS)),
            "",
            "## Plots\n",
            *(f"* {plot.title}" for plot in PLOTS),
            "",
        ]
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def _alarm(alarm: Alarm) -> tuple[str, ...]:
    missing = "; none counts as bad" if alarm.missing is Missing.IS_BAD else ""
    source = "" if alarm.has_source else " *Not measured yet.*"
    return (
        f"`{alarm.name}`",
        f"{_signal(alarm)}.{source}",
        f"{alarm.bad} of {alarm.of}, each {alarm.period.total_seconds() / 60:g} min{missing}",
        alarm.urgency.value,
        f"[what to do]({alarm.runbook.removeprefix('docs/')})",
    )


def _signal(alarm: Alarm) -> str:
    limit = f"{alarm.threshold:g}{' times `end_to_end_baseline`' if alarm.of_baseline else ''}"
    signal = alarm.signal
    if isinstance(signal, Share):
        names = f"`{signal.part.name}` / `{signal.whole.name}`"
        return f"{names} > {limit}, of at least {signal.minimum:g}"
    return f"{signal.statistic.value} of `{signal.metric.name}` > {limit}"


def _metric(metric: Metric) -> tuple[str, ...]:
    labels = ", ".join(metric.labels) or "none"
    unit = {"Seconds": " In seconds.", "Percent": " In percent."}.get(metric.unit, "")
    said = f"{metric.says}{unit}"
    return f"`{metric.name}`", f"{metric.kind}. {said}", labels, metric.source or "*nobody yet*"
