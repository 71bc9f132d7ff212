"""What one process has measured, in memory, until somebody takes it away.

Belongs here: adding up, within bounds. Does not: sending (``ports/metrics.py``), texts, times.
Nothing here waits for anything or fails for want of anything: work never hangs on being measured.
"""

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fireflyassets.core.metric import DROPPED, Kind, Metric

MOST_SERIES: Final = 2000
"""Sets of labels of all metrics together that one process keeps."""
LONGEST_LABEL: Final = 100
_OTHER: Final = "-"

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


@dataclass(slots=True)
class Tally:
    """Counts for the whole process. Safe to share by threads."""

    _since: dict[tuple[Metric, Labels], Counter[float]] = field(
        default_factory=dict[tuple[Metric, Labels], Counter[float]]
    )
    """What has come since it was last taken away."""
    _ever: dict[tuple[Metric, Labels], Counter[float]] = field(
        default_factory=dict[tuple[Metric, Labels], Counter[float]]
    )
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
        return list(_rolled_up(since))

    def totals(self) -> list[Series]:
        """Return all since the start of the process, by every label."""
        with self._lock:
            ever = {key: Counter(values) for key, values in self._ever.items()}
        return [
            Series(metric, dict(zip(metric.labels, labels, strict=True)), values)
            for (metric, labels), values in ever.items()
        ]

    def _note(self, metric: Metric, labels: Mapping[str, str], value: float) -> None:
        key = (metric, tuple(labels.get(name, _OTHER)[:LONGEST_LABEL] for name in metric.labels))
        with self._lock:
            if key not in self._ever and len(self._ever) >= MOST_SERIES:
                key, metric, value = (DROPPED, ()), DROPPED, 1
            for kept in (self._since, self._ever):
                _merge(metric.kind, kept.setdefault(key, Counter()), value, 1)


def _merge(kind: Kind, values: "Counter[float]", value: float, times: int) -> None:
    match kind:
        case Kind.HISTOGRAM:
            values[value] += times
        case Kind.COUNTER:
            total = sum(values) + value
            values.clear()
            values[total] = 1
        case Kind.GAUGE:
            values.clear()
            values[value] = 1


def _rolled_up(since: Mapping[tuple[Metric, Labels], "Counter[float]"]) -> Iterator[Series]:
    merged: defaultdict[tuple[Metric, tuple[tuple[str, str], ...]], Counter[float]]
    merged = defaultdict(Counter)
    for (metric, labels), values in since.items():
        named = dict(zip(metric.labels, labels, strict=True))
        for names in metric.rollups:
            into = merged[metric, tuple((name, named[name]) for name in names)]
            for value, times in values.items():
                _merge(metric.kind, into, value, times)
    for (metric, pairs), values in merged.items():
        yield Series(metric, dict(pairs), values)


def two_digits(value: float) -> float:
    """Return *value* to two digits: within 5 %, and at most 90 values for each power of ten."""
    if not math.isfinite(value) or value <= 0:
        return 0.0
    return float(f"{value:.1e}")
