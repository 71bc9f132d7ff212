"""The page of metrics: who sees which lines, and shapes that say what their tables say."""

from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.metrics import MemoryMetrics
from fireflyassets.api.pages.drawing import HEIGHT, MOST, ceiling, drawing, number
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core import metric
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.plots import PLOTS, Drawn, Line, Plot
from fireflyassets.core.tally import Tally
from fireflyassets_tests.api.pages.browser import Visit, visit
from fireflyassets_tests.front_door import CUSTOMER, NOON

PAGE = f"{PREFIX}/metrics"
MINUTE = timedelta(minutes=1)
PLOT = Plot("x", (Drawn(metric.CALLS, ("Sum",), by=("customer",)),))


def line(*points: tuple[int, float], name: str = "acme") -> Line:
    """Return a line with numbers so many minutes before noon."""
    told = tuple((NOON - ago * MINUTE, value) for ago, value in points)
    return Line(metric.CALLS, "Sum", (("customer", name),), told)


def counted(ours: Visit) -> None:
    """Count calls of two customers."""
    tally = Tally()
    for customer, calls in ((CUSTOMER, 41), ("rival", 87)):
        said = {"endpoint": "/v3/paint", "credential": f"of-{customer}", "status": "200"}
        tally.add(metric.CALLS, calls, customer=customer, **said)
    tally.set(metric.QUEUE_DEPTH, 1234)
    ours.desk.metrics.send(tally.taken(), at=NOON)


def test_a_customer_s_operators_see_their_own_numbers_alone() -> None:
    """Not another's, nor what the house as a whole does."""
    ours = visit()
    counted(ours)

    shown = ours.browser.open(PAGE).text

    assert f"{CUSTOMER}: adobe calls" in shown
    for strange in ("rival", "/v3/paint", "1,234", "Headroom"):
        assert strange not in shown
    looker = ours.of(CUSTOMER, "jobs:read")
    assert looker.open(PAGE).status_code == 403
    assert "/metrics" not in looker.open(f"{PREFIX}/campaigns").text


def test_the_house_s_operators_see_all_plots() -> None:
    """By customer, endpoint and credential; each plot has a title, words and a table."""
    ours = visit(house_tenant=CUSTOMER)
    counted(ours)

    shown = ours.browser.open(PAGE).text

    for told in ("rival: adobe calls", "/v3/paint", "of-rival", "1,234"):
        assert told in shown
    for plot in PLOTS:
        assert plot.title.replace("'", "&#39;") in shown
    drawn = shown.count('role="img"')
    assert 0 < drawn == shown.count("<desc ") == shown.count("Every number")
    assert "Nothing was counted in this time." in shown


class Away(MemoryMetrics):
    """Numbers that nobody can look at now."""

    def lines(self, plot: Plot, **_: object) -> list[Line]:  # pyright: ignore[reportIncompatibleMethodOverride] - raises whatever it is asked.
        raise StoreUnavailable("CloudWatch", plot.title)


def test_a_page_without_numbers_says_so() -> None:
    """An outage of whoever keeps them is no fault of the page."""
    ours = visit(metrics=Away())

    answer = ours.browser.open(PAGE)

    assert answer.status_code == 200
    assert "does not answer now" in answer.text


def test_a_gap_is_a_gap() -> None:
    """Lines join neighbours alone; a number by itself is a dot."""
    (shape,) = drawing(PLOT, [line((9, 10), (8, 5), (3, 0))], until=NOON).shapes

    assert len(shape.pieces) == 1
    first, second = (point.split(",")[1] for point in shape.pieces[0].split())
    assert (float(first), float(second)) == (0, HEIGHT / 2)
    assert [y for _, y in shape.dots] == [f"{HEIGHT:.1f}"]


def test_what_is_not_drawn_stands_in_the_table() -> None:
    """The lines with the largest numbers are drawn."""
    lines = [line((1, n), name=f"c{n:02}") for n in range(MOST + 3)]

    made = drawing(PLOT, lines, until=NOON)

    assert len(made.shapes) == MOST
    assert len(made.rows) == MOST + 3
    assert made.hidden == 3
    assert made.rows[0].name == "c10: adobe calls"
    assert (made.rows[0].latest, made.rows[0].whole) == ("10", "10")
    assert made.says.startswith("11 lines between 0 and 10. Latest: c10: adobe calls 10;")


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.03, 0.05), (1, 1), (7, 10), (10, 10), (1999, 2000), (2001, 2500)]
)
def test_the_scale_ends_at_a_round_number(value: float, top: float) -> None:
    assert ceiling(value) == pytest.approx(top)


@pytest.mark.parametrize(
    ("value", "told"), [(0, "0"), (0.1234, "0.123"), (12.34, "12.3"), (1234567, "1,234,567")]
)
def test_numbers_have_the_digits_that_count(value: float, told: str) -> None:
    assert number(value) == told
