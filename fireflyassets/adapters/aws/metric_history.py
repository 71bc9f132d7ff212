"""CloudWatch tells what it keeps: the lines of a plot, however many labels there are by now.

Belongs here: finding sets of labels, asking for numbers in batches. Does not: putting them there
(``metrics.py``), drawing.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.plots import Drawn, Line, Plot
from fireflyassets.ports.metrics import MetricHistory

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import (
        DimensionTypeDef,
        MetricDataQueryTypeDef,
        MetricStatTypeDef,
        MetricTypeDef,
    )

BATCH: Final = 500
"""Most queries of one request."""
_Labels = tuple[tuple[str, str], ...]


class CloudWatchHistory(MetricHistory):
    """Reads one namespace."""

    def __init__(self, connect: "Callable[[], CloudWatchClient]", namespace: str) -> None:
        """Take what makes the client, at first use."""
        self._connect = connect
        self._namespace = namespace

    @cached_property
    def _client(self) -> "CloudWatchClient":
        return self._connect()

    def lines(self, plot: Plot, *, until: datetime) -> list[Line]:
        """Return a plot's lines over its span."""
        try:
            wanted = [
                Line(drawn.metric, statistic, labels, ())
                for drawn in plot.drawn
                for labels in self._labels(drawn)
                for statistic in drawn.statistics
            ]
            parts = (wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH))
            return [line for part in parts for line in self._told(part, plot, until)]
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable("CloudWatch", type(error).__name__) from error

    def _labels(self, drawn: Drawn) -> list[_Labels]:
        """Return the sets of labels that a metric is drawn by: those that there are."""
        if not drawn.by:
            return [drawn.only]
        pages = self._client.get_paginator("list_metrics").paginate(
            Namespace=self._namespace,
            MetricName=drawn.metric.name,
            Dimensions=[{"Name": name} for name in drawn.by],
        )
        found = (
            {one.get("Name", ""): one.get("Value", "") for one in told.get("Dimensions", ())}
            for page in pages
            for told in page["Metrics"]
        )
        mine = (one for one in found if set(one) == set(drawn.by))
        return sorted({tuple((name, one[name]) for name in drawn.by) for one in mine})

    def _told(self, lines: Sequence[Line], plot: Plot, until: datetime) -> Iterator[Line]:
        points: dict[str, dict[datetime, float]] = {}
        period = int(plot.period.total_seconds())
        pages = self._client.get_paginator("get_metric_data").paginate(
            MetricDataQueries=[self._query(n, line, period) for n, line in enumerate(lines)],
            StartTime=until - plot.span,
            EndTime=until,
        )
        for page in pages:
            for told in page["MetricDataResults"]:
                known = points.setdefault(told.get("Id", ""), {})
                known.update(zip(told.get("Timestamps", ()), told.get("Values", ()), strict=True))
        for n, line in enumerate(lines):
            if found := points.get(f"q{n}"):
                yield Line(line.metric, line.statistic, line.labels, tuple(sorted(found.items())))

    def _query(self, n: int, line: Line, period: int) -> "MetricDataQueryTypeDef":
        labels: list[DimensionTypeDef] = [{"Name": one, "Value": is_} for one, is_ in line.labels]
        metric: MetricTypeDef = {
            "Namespace": self._namespace,
            "MetricName": line.metric.name,
            "Dimensions": labels,
        }
        asked: MetricStatTypeDef = {"Metric": metric, "Period": period, "Stat": line.statistic}
        return {"Id": f"q{n}", "MetricStat": asked}
