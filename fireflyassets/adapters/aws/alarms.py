"""The tables of alarms and plots in CloudWatch's own words.

Belongs here: what ``put_metric_alarm`` and ``put_dashboard`` take. Does not: the tables
(``core/alarm.py``, ``core/plots.py``), sending anything.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from fireflyassets.core.alarm import ALARMS, Alarm, Share, Statistic, Urgency
from fireflyassets.core.metric import Metric
from fireflyassets.core.plots import PLOTS, Drawn, Plot

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import (
        MetricDataQueryTypeDef,
        PutMetricAlarmInputTypeDef,
    )

_WIDTH: Final = 12
_HEIGHT: Final = 6


@dataclass(frozen=True, slots=True)
class Account:
    """What the tables leave open."""

    namespace: str
    """Of our metrics; it begins the alarms' names, too."""
    region: str
    topics: Mapping[Urgency, str]
    """ARN of the SNS topic for each urgency."""
    baseline: timedelta
    """Normal time from intake to a job's end."""


def definitions(account: Account) -> "list[PutMetricAlarmInputTypeDef]":
    """Return what creates each alarm whose numbers are measured."""
    return [_definition(one, account) for one in ALARMS if one.has_source]


def _definition(alarm: Alarm, account: Account) -> "PutMetricAlarmInputTypeDef":
    times = account.baseline.total_seconds() if alarm.of_baseline else 1
    topic = [account.topics[alarm.urgency]]
    made: PutMetricAlarmInputTypeDef = {
        "AlarmName": f"{account.namespace}-{alarm.name}",
        "AlarmDescription": f"{alarm.says} See {alarm.runbook}.",
        "AlarmActions": topic,
        "OKActions": topic,
        "EvaluationPeriods": alarm.of,
        "DatapointsToAlarm": alarm.bad,
        "Threshold": alarm.threshold * times,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": alarm.missing.value,
    }
    signal, namespace = alarm.signal, account.namespace
    if isinstance(signal, Share):
        made["Metrics"] = _share(signal, alarm.period, namespace)
        return made
    made["Namespace"] = namespace
    made["MetricName"] = signal.metric.name
    made["Period"] = _seconds(alarm.period)
    if signal.statistic is Statistic.P95:
        made["ExtendedStatistic"] = signal.statistic.value
    else:
        made["Statistic"] = signal.statistic.value
    return made


def _share(signal: Share, period: timedelta, namespace: str) -> "list[MetricDataQueryTypeDef]":
    parts = [
        _sum("part", signal.part, period, namespace),
        _sum("whole", signal.whole, period, namespace),
    ]
    # Too little to tell is no trouble; where nothing of the part was counted, it was none.
    share: MetricDataQueryTypeDef = {
        "Id": "share",
        "Expression": f"IF(whole >= {signal.minimum:g}, FILL(part, 0) / whole, 0)",
        "ReturnData": True,
    }
    return [*parts, share]


def _sum(name: str, metric: Metric, period: timedelta, namespace: str) -> "MetricDataQueryTypeDef":
    return {
        "Id": name,
        "MetricStat": {
            "Metric": {"Namespace": namespace, "MetricName": metric.name},
            "Period": _seconds(period),
            "Stat": Statistic.SUM.value,
        },
        "ReturnData": False,
    }


def dashboard(account: Account) -> str:
    """Return the body of the dashboard: every plot, two in a row."""
    widgets = [
        {
            "type": "metric",
            "x": _WIDTH * (place % 2),
            "y": _HEIGHT * (place // 2),
            "width": _WIDTH,
            "height": _HEIGHT,
            "properties": {
                "title": plot.title,
                "region": account.region,
                "period": _seconds(plot.period),
                "view": "timeSeries",
                "metrics": list(_lines(plot, account.namespace)),
            },
        }
        for place, plot in enumerate(PLOTS)
    ]
    return json.dumps({"widgets": widgets})


def _lines(plot: Plot, namespace: str) -> Iterator[list[object]]:
    for drawn in plot.drawn:
        for statistic in drawn.statistics:
            if drawn.by:
                yield [{"expression": _search(drawn, statistic, plot, namespace)}]
            else:
                labels = [text for pair in drawn.only for text in pair]
                yield [namespace, drawn.metric.name, *labels, {"stat": statistic}]


def _search(drawn: Drawn, statistic: str, plot: Plot, namespace: str) -> str:
    """Return a search, since which customers and endpoints there are changes by the day."""
    schema = ",".join((namespace, *drawn.by))
    name = f'MetricName="{drawn.metric.name}"'
    return f"SEARCH('{{{schema}}} {name}', '{statistic}', {_seconds(plot.period)})"


def _seconds(period: timedelta) -> int:
    return int(period.total_seconds())
