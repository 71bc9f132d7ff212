"""The chaos bench's bounds, and the planted faults that must each miss one of them.

Belongs here: bounds, mutants, running one. Does not: the bench (``chaos.py``).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from bench_figures import FOLDER
from bench_mutants import Mutant, planted

FIGURES = FOLDER / "chaos.json"
BOUNDS: dict[str, float] = {
    "jobs_lost": 0,
    "unexplained_billed": 0,
    "alarms_missed": 0,
    "alarms_false": 0,
    "replay_recovered_share": 1.0,
    "replay_wasted_operations": 0,
    "wrong_final_states": 0,
}
MUTANTS: dict[str, tuple[Mutant, str]] = {
    # A used up quota is taken for something that a person must look at.
    "class": (
        (
            "core/failure.py",
            "FailureClass.QUOTA: Action.DLQ,",
            "FailureClass.QUOTA: Action.REVIEW,",
        ),
        "wrong_final_states",
    ),
    # The debt of a snapshot is paid without one.
    "snapshot": (
        (
            "stages/snapshot.py",
            "objects.put(key, content, ",
            "(lambda *_, **__: None)(key, content, ",
        ),
        "wrong_final_states",
    ),
    # Nobody is called for dead letters.
    "threshold": (
        (
            "core/alarm.py",
            "    Level(metric.DEAD, Statistic.MAXIMUM),\n    threshold=0,\n",
            "    Level(metric.DEAD, Statistic.MAXIMUM),\n    threshold=1_000_000,\n",
        ),
        "alarms_missed",
    ),
    # What was refused for good is run again.
    "replay": (
        (
            "core/failure.py",
            "    FailureClass.THROTTLED: Replay.FREELY,\n",
            (
                "    FailureClass.THROTTLED: Replay.FREELY,\n"
                "    FailureClass.INVALID_REQUEST: Replay.FREELY,\n"
            ),
        ),
        "replay_wasted_operations",
    ),
}
"""Each with the bound that has to be missed for it."""
KILLS_NEEDED = frozenset({"threshold"})
"""Mutants whose bound is missed without kills in any case."""


def find(name: str, seed: int) -> int:
    """Return 0 if a smaller bench misses the mutant's bound under the planted fault."""
    mutant, bound = MUTANTS[name]
    out = FIGURES.with_name(f"chaos-{name}.json")
    out.unlink(missing_ok=True)
    command = [
        sys.executable,
        str(Path(__file__).with_name("chaos.py")),
        "--jobs",
        "50",
        "--seed",
        str(seed),
        "--out",
        str(out),
    ]
    command += [] if name in KILLS_NEEDED else ["--no-kills"]
    with planted(name, mutant) as root:
        environment = {**os.environ, "PYTHONPATH": root}  # noqa: TID251 - a child inherits it.
        subprocess.run(command, env=environment, check=False)
    figures: dict[str, float] = json.loads(out.read_text()) if out.exists() else {}
    found = figures.get(bound, BOUNDS[bound]) != BOUNDS[bound]
    print(f"Mutant {name}: {bound} is {figures.get(bound)}; {'found' if found else 'NOT FOUND'}.")
    return 0 if found else 1
