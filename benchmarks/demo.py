"""`make bench-demo`: the demo on an empty state, its figures in ``out/bench/demo.json``.

Belongs here: running it, copying the figures, and all bounds, those included that need two cores
without other work. Does not: what must hold on any machine; there the demo itself fails.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import bench_figures
from bench_project import PROJECT

SUMMARY = PROJECT / "out" / "demo" / "summary.json"
FIGURES = bench_figures.FOLDER / "demo.json"
LEAST = {"jobs": 24, "renditions": 72, "distinct_pictures": 72, "limiter_use": 0.90}
MOST = {
    "operations_difference": 0,
    "second_run_operations": 0,
    "polls_per_call": 3,
    "http_429": 0,
    "wall_s": 120,
    "pss_mb": 1499,
}
NAMES = (
    "jobs",
    "renditions",
    "distinct_pictures",
    "operations",
    "operations_difference",
    "second_run_operations",
    "calls",
    "polls_per_call",
    "http_429",
    "wall_s",
    "pss_mb",
    "limiter_use",
)


def missed(figures: Mapping[str, float | None]) -> list[str]:
    """Return a sentence for each bound that *figures* miss; one that is not there is missed."""
    return [
        *(
            f"{name} is {figures[name]}, and at least {bound} was promised."
            for name, bound in LEAST.items()
            if not (figures[name] or 0) >= bound
        ),
        *(
            f"{name} is {figures[name]}, and at most {bound} was promised."
            for name, bound in MOST.items()
            if (value := figures[name]) is None or abs(value) > bound
        ),
    ]


def main() -> int:
    """Run the demo and write its figures; return 0 only if it succeeded within the bounds."""
    program = Path(sys.executable).with_name("fireflyassets")
    FIGURES.unlink(missing_ok=True)
    code = subprocess.run([program, "demo", "--fresh"], cwd=PROJECT, check=False).returncode
    if not SUMMARY.exists():
        return code or 1
    summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
    figures = {name: summary[name] for name in NAMES}
    bench_figures.write(FIGURES, figures)
    print(f"Figures: {FIGURES}")
    faults = missed(figures)
    for sentence in faults:
        print(f"Out of bounds: {sentence}", file=sys.stderr)
    return code or int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
