"""A process's numbers as OpenMetrics text, for who scrapes.

Belongs here: the text. Does not: what is counted, the route (``api/metrics_routes.py``).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from fireflyassets.core.metric import Kind, Metric
from fireflyassets.core.tally import Series

MEDIA_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
BOUNDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
"""Of histograms, in their unit."""
_UNITS: Final = {"Seconds": "seconds", "Percent": "percent"}
_ESCAPED: Final = re.compile(r'[\\"\n]')


def text(series: Iterable[Series]) -> str:
    """Return *series*, the totals since the start of the process, as one exposition."""
    by_metric: defaultdict[Metric, list[Series]] = defaultdict(list)
    for one in series:
        by_metric[one.metric].append(one)
    lines = [
        line
        for metric in sorted(by_metric, key=lambda metric: metric.name)
        for line in _family(metric, by_metric[metric])
    ]
    return "\n".join([*lines, "# EOF", ""])


def _family(metric: Metric, series: Iterable[Series]) -> Iterator[str]:
    unit = _UNITS.get(metric.unit)
    name = f"fireflyassets_{metric.name}{f'_{unit}' if unit else ''}"
    yield f"# TYPE {name} {metric.kind}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {_escaped(metric.says)}"
    for one in series:
        match metric.kind:
            case Kind.COUNTER:
                yield f"{name}_total{_labels(one.labels)} {_only(one)}"
            case Kind.GAUGE:
                yield f"{name}{_labels(one.labels)} {_only(one)}"
            case Kind.HISTOGRAM:
                yield from _histogram(name, one)


def _histogram(name: str, series: Series) -> Iterator[str]:
    values = series.values
    for bound in BOUNDS:
        up_to = sum(times for value, times in values.items() if value <= bound)
        yield f"{name}_bucket{_labels({**series.labels, 'le': str(bound)})} {up_to}"
    count = sum(values.values())
    yield f"{name}_bucket{_labels({**series.labels, 'le': '+Inf'})} {count}"
    yield f"{name}_sum{_labels(series.labels)} {_number(sum(v * n for v, n in values.items()))}"
    yield f"{name}_count{_labels(series.labels)} {count}"


def _only(series: Series) -> str:
    return _number(next(iter(series.values)))


def _number(value: float) -> str:
    return f"{value:.15g}"


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return _ESCAPED.sub(lambda found: "\\n" if found[0] == "\n" else f"\\{found[0]}", value)
