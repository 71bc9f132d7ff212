"""The table of what goes wrong names tests that are there."""

from pathlib import Path

import pytest

from fireflyassets_tests.scenarios.named import PROVEN

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("failure", PROVEN)
def test_each_failure_has_a_test_that_is_there(failure: str) -> None:
    """A test that is renamed or goes away leaves no failure without proof unnoticed."""
    assert PROVEN[failure]
    for named in PROVEN[failure]:
        file, _, name = named.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
