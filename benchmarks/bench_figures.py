"""What becomes of a bench's figures: they are written, printed, and held against their bounds.

Belongs here: the file, the sentences, the exit code. Does not: figures and bounds (each bench's
own).
"""

import json
import operator
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from bench_project import PROJECT

FOLDER: Final = PROJECT / "out" / "bench"
Relation = Literal["<", "<=", "==", ">="]
Bounds = Mapping[str, tuple[Relation, float]]
"""What each figure must be."""
_HOLDS: Final[Mapping[Relation, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
}


def write(path: Path, figures: Mapping[str, object]) -> None:
    """Write the figures as they are read by others: flat names and numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def concluded(name: str, figures: Mapping[str, float], bounds: Bounds) -> int:
    """Write and print a bench's figures, name each bound that is missed; return the exit code."""
    write(FOLDER / f"{name}.json", figures)
    print(json.dumps(figures, indent=2))
    missed = [
        f"{figure} misses its bound: {figures[figure]}, not {relation} {bound}"
        for figure, (relation, bound) in bounds.items()
        if not _HOLDS[relation](figures[figure], bound)
    ]
    for sentence in missed:
        print(sentence, file=sys.stderr)
    return 1 if missed else 0
