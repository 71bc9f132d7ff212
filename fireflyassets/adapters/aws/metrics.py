"""CloudWatch keeps the numbers: in batches, whole histograms with them, and never in the way.

Belongs here: CloudWatch's own limits. Does not: when numbers are sent (``metric_pump.py``).
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from fireflyassets.core.tally import Series
from fireflyassets.ports.metrics import MetricSink

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDatumTypeDef

_log: Final = logging.getLogger("fireflyassets.metrics")

BATCH: Final = 1000
"""Most data of one request."""
VALUES: Final = 150
"""Most values of one datum. A request of a megabyte then holds all of them."""


class CloudWatchSink(MetricSink):
    """Puts numbers into one namespace."""

    def __init__(self, connect: "Callable[[], CloudWatchClient]", namespace: str) -> None:
        """Take what makes the client, at first use: most processes end without a number."""
        self._connect = connect
        self._namespace = namespace
        self._is_down = False

    @cached_property
    def _client(self) -> "CloudWatchClient":
        return self._connect()

    def send(self, series: Sequence[Series], *, at: datetime) -> int:
        """Put *series*; what CloudWatch does not take is told in the log once, and lost."""
        data = [datum for one in series for datum in _data(one, at)]
        lost = 0
        for start in range(0, len(data), BATCH):
            batch = data[start : start + BATCH]
            try:
                self._client.put_metric_data(Namespace=self._namespace, MetricData=batch)
            except (BotoCoreError, ClientError) as error:
                lost += len(data) - start
                self._tell(error)
                return lost  # The others would wait for the same answer.
            self._is_down = False
        return lost

    def _tell(self, error: Exception) -> None:
        if not self._is_down:
            _log.warning("CloudWatch does not take metrics; work goes on without them. %s", error)
        self._is_down = True


def _data(series: Series, at: datetime) -> "Iterator[MetricDatumTypeDef]":
    values = list(series.values.items())
    for start in range(0, len(values), VALUES):
        part = values[start : start + VALUES]
        yield {
            "MetricName": series.metric.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in series.labels.items()],
            "Timestamp": at,
            "Unit": series.metric.unit,
            "Values": [value for value, _ in part],
            "Counts": [times for _, times in part],
        }
