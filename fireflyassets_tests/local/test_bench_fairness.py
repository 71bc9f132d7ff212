"""The bench of fairness: what it makes of ended times."""

from collections.abc import Callable
from types import ModuleType


def test_ratios_are_of_the_ideal_and_who_is_not_done_never_is(
    bench_module: Callable[[str], ModuleType],
) -> None:
    """Mean and last of the light ones over 300 s; the heavy one does not count."""
    fairness = bench_module("fairness")
    heavy = fairness.Finish("heavy", 5_000, 36, 900.0)
    light = [fairness.Finish("light-1", 20, 20, 240.0), fairness.Finish("light-2", 20, 20, 360.0)]

    done = fairness.judged([heavy, *light])
    stuck = fairness.judged([heavy, *light, fairness.Finish("light-3", 20, 19, 100.0)])

    assert fairness.IDEAL_S == 300
    assert done == {"light_tenants_ratio": 1.0, "last_ratio": 1.2, "heavy_done": 36}
    assert stuck["last_ratio"] == float("inf")
    assert "light-2" in fairness.table(light)
