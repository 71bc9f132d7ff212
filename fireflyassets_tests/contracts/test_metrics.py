"""What every keeper of numbers promises: what was sent is told again, by label and period."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.metric_history import CloudWatchHistory
from fireflyassets.adapters.aws.metrics import CloudWatchSink
from fireflyassets.adapters.memory.metrics import MemoryMetrics
from fireflyassets.core import metric
from fireflyassets.core.plots import PLOTS, Drawn, Line, Plot
from fireflyassets.core.tally import Tally
from fireflyassets.ports.metrics import MetricHistory, MetricSink
from fireflyassets_tests.aws_clients import aws_environment

NOW = datetime.now(UTC).replace(second=0, microsecond=0)  # noqa: TID251 - CloudWatch takes none that is old.
MINUTE = timedelta(minutes=1)
Keeper = tuple[MetricSink, MetricHistory]


@pytest.fixture(params=["memory", pytest.param("cloudwatch", marks=pytest.mark.stack)])
def keeper(request: pytest.FixtureRequest) -> Iterator[Keeper]:
    """Yield where numbers go and come from, empty."""
    if request.param == "memory":
        memory = MemoryMetrics()
        yield memory, memory
        return
    namespace = f"metrics-{uuid4().hex[:8]}"
    with aws_environment(request.getfixturevalue("ministack")):
        yield (
            CloudWatchSink(clients.cloudwatch, namespace),
            CloudWatchHistory(clients.cloudwatch, namespace),
        )


def sent(sink: MetricSink, count: Callable[[Tally], None], at: datetime) -> None:
    """Send what *count* counts."""
    tally = Tally()
    count(tally)
    assert sink.send(tally.taken(), at=at) == 0


def calls(tally: Tally) -> None:
    """Count three calls of one customer and one of another."""
    for customer, credential in (("acme", "a"), ("acme", "a"), ("acme", "b"), ("bolt", "b")):
        said = {"endpoint": "generate", "status": "200"}
        tally.add(metric.CALLS, customer=customer, credential=credential, **said)


def told(lines: list[Line]) -> dict[str, list[float]]:
    """Return the numbers of each line by its name."""
    return {line.name: [value for _, value in line.points] for line in lines}


def test_a_line_for_each_set_of_labels_that_there_is(keeper: Keeper) -> None:
    """Summed by period, the oldest first, and none for what never was."""
    sink, history = keeper
    sent(sink, calls, NOW - 3 * MINUTE)
    sent(sink, calls, NOW - 2 * MINUTE)
    sent(sink, calls, NOW - 2 * MINUTE)
    plot = Plot(
        "x", (Drawn(metric.CALLS, ("Sum",), by=("customer",)), Drawn(metric.DEAD, ("Sum",)))
    )

    lines = history.lines(plot, until=NOW)

    assert told(lines) == {"acme: adobe calls": [3, 6], "bolt: adobe calls": [1, 2]}
    assert [at for at, _ in lines[0].points] == [NOW - 3 * MINUTE, NOW - 2 * MINUTE]


def test_percentiles_are_over_all_values(keeper: Keeper) -> None:
    """Not over the averages of the processes that sent them."""
    sink, history = keeper

    def latencies(tally: Tally) -> None:
        for seconds in range(1, 12):
            tally.observe(metric.LATENCY, seconds, endpoint="generate")

    sent(sink, latencies, NOW - MINUTE)
    plot = Plot("x", (Drawn(metric.LATENCY, ("p50", "p95"), by=("endpoint",)),))

    assert told(history.lines(plot, until=NOW)) == {
        "generate: adobe latency p50": [6],
        "generate: adobe latency p95": [10.5],
    }


def test_what_is_older_than_a_plot_shows_is_left_out(keeper: Keeper) -> None:
    sink, history = keeper
    sent(sink, calls, NOW - 61 * MINUTE)

    plot = Plot("x", (Drawn(metric.CALLS, ("Sum",), by=("customer",)),))

    assert history.lines(plot, until=NOW) == []


def test_every_plot_can_be_asked_for(keeper: Keeper) -> None:
    """None of them by labels that its metric is not kept by."""
    _, history = keeper
    for plot in PLOTS:
        assert history.lines(plot, until=NOW) == []
        for drawn in plot.drawn:
            by = drawn.by or tuple(name for name, _ in drawn.only)
            assert by in drawn.metric.rollups, plot.title
