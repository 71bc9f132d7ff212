"""A copy of the package with a planted fault, for benches that must be able to fail.

Belongs here: planting. Does not: which faults (each bench's own).
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench_project import PROJECT

Mutant = tuple[str, str, str]
"""File of the package, what stands there, and what the mutant says instead."""


@contextmanager
def planted(name: str, mutant: Mutant) -> Generator[str]:
    """Yield the folder that a process needs first in ``PYTHONPATH`` to run the mutant."""
    file, old, new = mutant
    with tempfile.TemporaryDirectory(prefix="fa-mutant-") as root:
        package = Path(root, "fireflyassets")
        shutil.copytree(PROJECT / "fireflyassets", package)
        text = (package / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"The mutant {name} does not fit {file} any more.")
        (package / file).write_text(text.replace(old, new), encoding="utf-8")
        yield root
