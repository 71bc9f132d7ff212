"""The page that operators read is the table that decides."""

from pathlib import Path

from fireflyassets.core.failure import BY_CODE, BY_STATUS, FailureClass
from fireflyassets.core.failure_page import page

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"


def test_page_is_what_the_table_says() -> None:
    """`fireflyassets failures > docs/failures.md` makes it; nobody writes it by hand."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_page_names_everything() -> None:
    """Every class, code and status of the table is on the page."""
    text = page()

    for name in (*FailureClass, *BY_CODE):
        assert f"`{name}`" in text
    for status in BY_STATUS:
        assert f"| {status} |" in text
