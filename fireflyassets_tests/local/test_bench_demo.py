"""The bounds of `make bench-demo`: a figure that misses one is named, whichever side it is on."""

from collections.abc import Callable
from types import ModuleType

import pytest

from fireflyassets_tests.local.outcomes import as_promised

GOOD: dict[str, float | None] = {
    "jobs": 24,
    "renditions": 72,
    "distinct_pictures": 72,
    "operations": 84.0,
    "operations_difference": 0.0,
    "second_run_operations": 0.0,
    "calls": 96,
    "polls_per_call": 3.0,
    "http_429": 0,
    "wall_s": 120.0,
    "pss_mb": 1499,
    "limiter_use": 0.9,
}


@pytest.fixture
def bench(bench_module: Callable[[str], ModuleType]) -> ModuleType:
    """Return the benchmark's module."""
    return bench_module("demo")


def test_figures_at_their_bounds_are_good(bench: ModuleType) -> None:
    assert bench.missed(GOOD) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jobs", 23),
        ("renditions", 71),
        ("distinct_pictures", 71),
        ("operations_difference", 0.5),
        ("operations_difference", -0.5),
        ("second_run_operations", 0.5),
        ("polls_per_call", 3.01),
        ("http_429", 1),
        ("wall_s", 120.1),
        ("pss_mb", 1500),
        ("limiter_use", 0.899),
        ("limiter_use", None),
    ],
)
def test_missed_bound_is_named(bench: ModuleType, name: str, value: float | None) -> None:
    (said,) = bench.missed({**GOOD, name: value})

    assert said.startswith(f"{name} is {value}, and at ")


def test_every_figure_of_the_demo_is_written(bench: ModuleType) -> None:
    assert list(as_promised().figures()) == list(bench.NAMES) == list(GOOD)
