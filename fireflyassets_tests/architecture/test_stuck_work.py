"""The table of stuck work names tests that are there: a row without its test is a wish."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = (ROOT / "docs" / "stuck-work.md").read_text(encoding="utf-8").splitlines()


def test_each_row_of_stuck_work_names_a_test_that_is_there() -> None:
    named = [re.fullmatch(r"\| .* \| `(\S+\.py)(?:::(\w+))?` \|", row) for row in ROWS[6:]]

    assert len(named) > 15
    for row in named:
        assert row is not None
        text = (ROOT / "fireflyassets_tests" / row[1]).read_text(encoding="utf-8")
        assert row[2] is None or f"def {row[2]}(" in text, row[2]
