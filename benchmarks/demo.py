"""`make bench-demo`: the demo on an empty state, its figures in ``out/bench/demo.json``.

Belongs here: running it and copying the figures. Does not: judging them; the demo itself fails
where a promise is broken, and how fast or large it may be is for whoever reads the figures.
"""

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
SUMMARY = PROJECT / "out" / "demo" / "summary.json"
FIGURES = PROJECT / "out" / "bench" / "demo.json"
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


def main() -> int:
    """Run the demo and write its figures; return the demo's exit code."""
    SUMMARY.unlink(missing_ok=True)
    program = Path(sys.executable).with_name("fireflyassets")
    code = subprocess.run([program, "demo", "--fresh"], cwd=PROJECT, check=False).returncode
    if SUMMARY.exists():
        summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
        FIGURES.parent.mkdir(parents=True, exist_ok=True)
        figures = {name: summary[name] for name in NAMES}
        FIGURES.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        print(f"Figures: {FIGURES}")
    return code


if __name__ == "__main__":
    sys.exit(main())
