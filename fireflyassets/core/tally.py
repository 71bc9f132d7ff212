"""What one process has measured, in memory, until somebody takes it away.

Belongs here: adding up, within bounds. Does not: sending (``ports/metrics.py``), texts, times.
Nothing here waits for anything or fails for want of anything: work never hangs on being measured.
"""

import math
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fireflyassets.core.metric import DROPPED, Kind, Metric

MOST_SERIES: Final = 2000
"""Sets of labels of all metrics together that one process keeps."""
LONGEST_LABEL: Final = 100
MOST_VALUES: Final = 64
"""Different amounts that a counter keeps before it adds them up."""
_NONE: Final = "-"

Labels = tuple[str, ...]
"""Values in the order of the metric's labels."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric under one set of labels: value -> how often it came.

    A counter's sum and a gauge's last value are one value that came once.
    """

    metric: Metric
    labels: Mapping[str, str]
    values: Mapping[float, int]


_Key = tuple[Metric, Labels]
_Values = dict[float, int]


@dataclass(slots=True)
class Tally:
    """Counts for the whole process. Safe to share by threads."""

    _since: dict[_Key, _Values] = field(default_factory=dict[_Key, _Values])
    """What has come since it was last taken away."""
    _before: dict[_Key, _Values] = field(default_factory=dict[_Key, _Values])
    """What had come until then."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, metric: Metric, amount: float = 1, /, **labels: str) -> None:
        """Count *amount* more."""
        self._note(metric, labels, amount)

    def observe(self, metric: Metric, value: float, /, **labels: str) -> None:
        """Note one value of a histogram, to two digits."""
        self._note(metric, labels, two_digits(value))

    def set(self, metric: Metric, value: float, /, **labels: str) -> None:
        """Say how a gauge stands."""
        self._note(metric, labels, value)

    def taken(self) -> list[Series]:
        """Return what has come since the last call, rolled up, and forget it."""
        with self._lock:
            since, self._since = self._since, {}
            for key, values in since.items():
                _merge(key[0].kind, self._before.setdefault(key, {}), values)
        return list(_rolled_up(since))

    def totals(self) -> list[Series]:
        """Return all since the start of the process, by every label."""
        with self._lock:
            ever = {key: dict(values) for key, values in self._before.items()}
            for key, values in self._since.items():
                _merge(key[0].kind, ever.setdefault(key, {}), values)
        return [
            Series(metric, dict(zip(metric.labels, labels, strict=True)), _summed(metric, values))
            for (metric, labels), values in ever.items()
        ]

    def _note(self, metric: Metric, labels: Mapping[str, str], value: float) -> None:
        key = (metric, tuple([labels.get(name, _NONE)[:LONGEST_LABEL] for name in metric.labels]))
        with self._lock:
            if (values := self._since.get(key)) is None:
                if key not in self._before and self._is_full():
                    key, metric, value = (DROPPED, ()), DROPPED, 1
                values = self._since.setdefault(key, {})
            if metric.kind is Kind.GAUGE:
                values.clear()
            values[value] = values.get(value, 0) + 1
            if len(values) > MOST_VALUES and metric.kind is Kind.COUNTER:
                self._since[key] = _summed(metric, values)

    def _is_full(self) -> bool:
        return len(self._before.keys() | self._since.keys()) >= MOST_SERIES


def _merge(kind: Kind, into: _Values, values: _Values) -> None:
    if kind is Kind.GAUGE:
        into.clear()
    for value, times in values.items():
        into[value] = into.get(value, 0) + times
    if kind is Kind.COUNTER and len(into) > MOST_VALUES:
        total = sum(value * times for value, times in into.items())
        into.clear()
        into[total] = 1


def _summed(metric: Metric, values: _Values) -> _Values:
    if metric.kind is Kind.HISTOGRAM:
        return values
    if metric.kind is Kind.GAUGE:
        return dict.fromkeys(values, 1)
    return {sum(value * times for value, times in values.items()): 1}


def _rolled_up(since: Mapping[_Key, _Values]) -> Iterator[Series]:
    merged: defaultdict[tuple[Metric, tuple[tuple[str, str], ...]], _Values] = defaultdict(dict)
    for (metric, labels), values in since.items():
        named = dict(zip(metric.labels, labels, strict=True))
        for names in metric.rollups:
            _merge(
                metric.kind, merged[metric, tuple((name, named[name]) for name in names)], values
            )
    for (metric, pairs), values in merged.items():
        yield Series(metric, dict(pairs), _summed(metric, values))


def two_digits(value: float) -> float:
    """Return *value* to two digits: within 5 %, and at most 90 values for each power of ten."""
    if not math.isfinite(value) or value <= 0:
        return 0.0
    return float(f"{value:.1e}")
