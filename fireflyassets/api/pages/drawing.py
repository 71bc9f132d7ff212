"""Drawing: the lines of a plot as shapes for a page, and as a table that says the same.

Belongs here: scales, shapes, how numbers read. Does not: where numbers come from, HTML.
Every line has a dash pattern of its own beside its colour, so that nobody needs to tell colours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fireflyassets.core.plots import Line, Plot

WIDTH: Final = 600
HEIGHT: Final = 160
LEFT: Final = 8
MOST: Final = 8
"""Lines that are drawn; the table has all."""
_STEPS: Final = (1, 2, 2.5, 5, 10)
_DENSE: Final = 3
_POINT: Final = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """One drawn line: pieces without gaps, each as the points of a polyline."""

    name: str
    pieces: tuple[str, ...]
    dots: tuple[tuple[str, str], ...]
    """Where a number has no neighbour to be joined to."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line as a row of numbers."""

    name: str
    latest: str
    latest_at: datetime
    least: str
    most: str
    whole: str
    """Sum over the span; empty where adding up says nothing."""
    points: tuple[tuple[datetime, str], ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot for a page."""

    title: str
    since: datetime
    until: datetime
    top: str
    """The number at the upper edge, with its unit; zero is at the lower one."""
    shapes: tuple[Shape, ...]
    rows: tuple[Row, ...]

    @property
    def hidden(self) -> int:
        """Return how many lines stand in the table alone."""
        return len(self.rows) - len(self.shapes)

    @property
    def says(self) -> str:
        """Return what the picture shows in words."""
        lines = f"{len(self.rows)} lines" if len(self.rows) > 1 else "one line"
        latest = "; ".join(f"{one.name} {one.latest}" for one in self.rows[:MOST])
        return f"{lines} between 0 and {self.top}. Latest: {latest}."


def drawing(plot: Plot, lines: Sequence[Line], *, until: datetime) -> Drawing:
    """Return a plot as it is drawn, lines with the largest numbers first."""
    since = until - plot.span
    ordered = sorted(lines, key=lambda one: (-max(_values(one)), one.name))
    top = ceiling(max((max(_values(one)) for one in ordered), default=0))
    unit = {"Seconds": " s", "Percent": " %"}.get(plot.drawn[0].metric.unit, "")
    return Drawing(
        title=plot.title,
        since=since,
        until=until,
        top=f"{number(top)}{unit}",
        shapes=tuple(_shape(one, plot, since, top) for one in ordered[:MOST]),
        rows=tuple(_row(one) for one in ordered),
    )


def ceiling(value: float) -> float:
    """Return the round number at or above *value*; 1 where there is nothing."""
    if value <= 0:
        return 1
    decade = 10.0 ** math.floor(math.log10(value))
    return next(step * decade for step in _STEPS if step * decade >= value * (1 - 1e-9))


def number(value: float) -> str:
    """Return a number as people read it: three digits that count."""
    if value != 0 and abs(value) < 10**_DENSE:
        return f"{value:.3g}"
    return f"{value:,.0f}"


def _values(line: Line) -> list[float]:
    return [value for _, value in line.points]


def _shape(line: Line, plot: Plot, since: datetime, top: float) -> Shape:
    runs: list[list[str]] = []
    before: datetime | None = None
    for at, value in line.points:
        across = LEFT + (WIDTH - 2 * LEFT) * max(0.0, (at - since) / plot.span)
        point = f"{across:.1f},{HEIGHT * (1 - max(0.0, value) / top):.1f}"
        if before is None or at - before > plot.period * 1.5:
            runs.append([])
        runs[-1].append(point)
        before = at
    pieces = tuple(" ".join(one) for one in runs if len(one) >= _POINT)
    alone = (one[0].partition(",") for one in runs if len(one) < _POINT)
    return Shape(line.name, pieces, tuple((x, y) for x, _, y in alone))


def _row(line: Line) -> Row:
    values = _values(line)
    at, latest = line.points[-1]
    return Row(
        name=line.name,
        latest=number(latest),
        latest_at=at,
        least=number(min(values)),
        most=number(max(values)),
        whole=number(sum(values)) if line.statistic == "Sum" else "",
        points=tuple((when, number(value)) for when, value in line.points),
    )
