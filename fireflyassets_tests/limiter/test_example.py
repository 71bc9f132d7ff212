"""The example of the limiter alone. Here: that it runs as it stands, and paces and shares."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "limiter_alone.py"


def test_the_example_runs_and_paces() -> None:
    """Twelve calls, an eighth of a second apart; the heavier tenant has two for the other's one."""
    done = subprocess.run(  # noqa: S603 - our own file, by this interpreter.
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True, timeout=60
    )

    calls = re.findall(r"^(\d\d\.\d{6}) (heavy|light)$", done.stdout, re.MULTILINE)
    gaps = [(float(b) - float(a)) % 60 for (a, _), (b, _) in pairwise(calls)]
    assert len(calls) == 12
    assert all(gap >= 0.124 for gap in gaps)
    assert [name for _, name in calls[:9]].count("heavy") == 6
    assert "rate_per_minute=480.0" in done.stdout
