"""Numbers in memory. Here: keeping all of them, telling them by period. Not here: drawing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from fireflyassets.core.plots import Drawn, Line, Plot
from fireflyassets.core.tally import Series
from fireflyassets.ports.metrics import MetricHistory, MetricSink

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryMetrics(MetricSink, MetricHistory):
    """Keeps what it is sent, and tells it again."""

    def __init__(self) -> None:
        self._sent: list[tuple[datetime, Series]] = []

    def send(self, series: Sequence[Series], *, at: datetime) -> int:
        """Keep *series*."""
        self._sent += [(at, one) for one in series]
        return 0

    def lines(self, plot: Plot, *, until: datetime) -> list[Line]:
        """Return a plot's lines over its span."""
        return [
            line
            for drawn in plot.drawn
            for labels in self._labels(drawn)
            for statistic in drawn.statistics
            if (line := self._line(drawn, labels, statistic, plot, until)).points
        ]

    def _labels(self, drawn: Drawn) -> list[tuple[tuple[str, str], ...]]:
        if not drawn.by:
            return [drawn.only]
        found = (one.labels for _, one in self._sent if one.metric is drawn.metric)
        sets = {tuple((n, one[n]) for n in drawn.by) for one in found if set(one) == set(drawn.by)}
        return sorted(sets)

    def _line(
        self,
        drawn: Drawn,
        labels: tuple[tuple[str, str], ...],
        statistic: str,
        plot: Plot,
        until: datetime,
    ) -> Line:
        periods: dict[datetime, list[Mapping[float, int]]] = defaultdict(list)
        for at, one in self._sent:
            mine = one.metric is drawn.metric and one.labels == dict(labels)
            if mine and until - plot.span <= at < until:
                periods[_EPOCH + (at - _EPOCH) // plot.period * plot.period].append(one.values)
        points = ((at, _taken(statistic, values)) for at, values in sorted(periods.items()))
        return Line(drawn.metric, statistic, labels, tuple(points))


def _taken(statistic: str, told: Sequence[Mapping[float, int]]) -> float:
    """Return a statistic of all values of one period."""
    values = sorted(value for one in told for value, times in one.items() for _ in range(times))
    match statistic:
        case "Sum":
            return sum(values)
        case "Maximum":
            return values[-1]
        case "Minimum":
            return values[0]
        case _:
            rank = float(statistic.removeprefix("p")) / 100 * (len(values) - 1)
            low = values[int(rank)]
            return low + (rank % 1) * (values[min(int(rank) + 1, len(values) - 1)] - low)
