"""The planted faults of the benches: one that fits nothing any more could not be found."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FAULTS = ("lease", "resubmit", "class", "snapshot", "threshold", "replay")


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_fits_the_package_and_changes_it(
    bench_module: Callable[[str], ModuleType], name: str
) -> None:
    """Each names the file as it stands, once."""
    known = dict(bench_module("fence").MUTANTS)
    known |= {name: mutant for name, (mutant, _) in bench_module("chaos_mutants").MUTANTS.items()}

    assert set(known) == set(FAULTS)
    file, _, new = known[name]
    with bench_module("bench_mutants").planted(name, known[name]) as root:
        text = Path(root, "fireflyassets", file).read_text(encoding="utf-8")
    assert new in text
    compile(text, file, "exec")
