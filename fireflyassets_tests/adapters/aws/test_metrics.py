"""CloudWatch gets numbers in batches that it takes, and its outage is told once."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from fireflyassets.adapters.aws.metrics import BATCH, VALUES, CloudWatchSink
from fireflyassets.core import metric
from fireflyassets.core.tally import Series, Tally

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Recorder:
    """Takes requests as a client of CloudWatch does, or fails as one."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.down = False

    def put_metric_data(self, **request: Any) -> None:  # noqa: ANN401 - as boto3 has it.
        if self.down:
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
        self.requests.append(request)


def sink(recorder: Recorder) -> CloudWatchSink:
    """Return a sink that writes to *recorder*."""
    connect: Callable[[], Any] = lambda: recorder  # noqa: E731 - typed as boto3's client.
    return CloudWatchSink(connect, "a-namespace")


def test_a_datum_tells_labels_time_unit_and_each_value_with_its_count() -> None:
    """A histogram arrives whole, so that CloudWatch can tell its percentiles."""
    recorder, tally = Recorder(), Tally()
    for seconds in (1.0, 1.0, 2.5):
        tally.observe(metric.END_TO_END, seconds, customer="acme")

    assert sink(recorder).send(tally.taken(), at=NOON) == 0

    (request,) = recorder.requests
    assert request["Namespace"] == "a-namespace"
    whole, acme = sorted(request["MetricData"], key=lambda datum: len(datum["Dimensions"]))
    assert whole["Dimensions"] == []
    assert acme == {
        "MetricName": "end_to_end",
        "Dimensions": [{"Name": "customer", "Value": "acme"}],
        "Timestamp": NOON,
        "Unit": "Seconds",
        "Values": [1.0, 2.5],
        "Counts": [2, 1],
    }


def test_no_request_is_larger_than_cloudwatch_takes() -> None:
    """Many series and long histograms are split; not one value is lost."""
    recorder = Recorder()
    long = Series(metric.LATENCY, {}, {float(n): 1 for n in range(2 * VALUES + 1)})
    many = [Series(metric.CALLS, {"endpoint": str(n)}, {1.0: 1}) for n in range(BATCH)]

    sink(recorder).send([long, *many], at=NOON)

    sizes = [len(request["MetricData"]) for request in recorder.requests]
    assert sizes == [BATCH, 3]
    data = [datum for request in recorder.requests for datum in request["MetricData"]]
    assert max(len(datum["Values"]) for datum in data) == VALUES
    assert sum(len(datum["Values"]) for datum in data) == 2 * VALUES + 1 + BATCH


def test_an_outage_loses_numbers_raises_nothing_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While CloudWatch is away one line says so; once it is back, an outage is told anew."""
    recorder = Recorder()
    series = [Series(metric.DEAD, {}, {1.0: 1})]
    ours = sink(recorder)
    with caplog.at_level(logging.WARNING, "fireflyassets.metrics"):
        recorder.down = True
        assert [ours.send(series, at=NOON), ours.send(series, at=NOON)] == [1, 1]
        recorder.down = False
        assert ours.send(series, at=NOON) == 0
        recorder.down = True
        ours.send(series, at=NOON)

    assert len(caplog.records) == 2
