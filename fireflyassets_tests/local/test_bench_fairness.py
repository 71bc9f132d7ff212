"""The bench of fairness: what it makes of ended times."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "fairness.py"


def test_ratios_are_of_the_ideal_and_who_is_not_done_never_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mean and last of the light ones over 300 s; the heavy one does not count."""
    spec = spec_from_file_location("fairness_bench", PATH)
    assert spec is not None
    assert spec.loader is not None
    fairness = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fairness_bench", fairness)
    spec.loader.exec_module(fairness)
    heavy = fairness.Finish("heavy", 5_000, 36, 900.0)
    light = [fairness.Finish("light-1", 20, 20, 240.0), fairness.Finish("light-2", 20, 20, 360.0)]

    done = fairness.judged([heavy, *light])
    stuck = fairness.judged([heavy, *light, fairness.Finish("light-3", 20, 19, 100.0)])

    assert fairness.IDEAL_S == 300
    assert done == {"light_tenants_ratio": 1.0, "last_ratio": 1.2, "heavy_done": 36}
    assert stuck["last_ratio"] == float("inf")
    assert "light-2" in fairness.table(light)
