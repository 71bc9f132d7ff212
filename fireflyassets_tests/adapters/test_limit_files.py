"""Limit files. Here: which entry counts, the default, and what is refused."""

import logging
from datetime import date, timedelta
from pathlib import Path

import pytest

from fireflyassets.adapters import yaml_file
from fireflyassets.adapters.limit_files import LimitBook, LimitFile
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.limiter.limits import Window

GOOD = """
organisation: ORG@AdobeOrg
families:
  firefly:
    - {as_of: 2026-01-01, source: first contract, per_minute: 10}
    - {as_of: 2026-06-01, source: raised, per_minute: 60, per_day: 20000, per_second: 2}
    - {as_of: 2025-06-01, source: before, per_minute: 4}
  photoshop:
    - as_of: 2026-06-01
      source: contract
      per_minute: 300
      windows: [{calls: 15, seconds: 3}]
"""


TODAY = date(2026, 7, 1)


def read(folder: Path, text: str) -> LimitFile:
    path = folder / "limits.yaml"
    path.write_text(text)
    return yaml_file.read(path, LimitFile)


def book(files: list[LimitFile], today: date = TODAY) -> LimitBook:
    """Return a book that is opened today."""
    return LimitBook(files, today=lambda: today)


def test_the_newest_entry_counts(tmp_path: Path) -> None:
    """Entries are a history; their order in the file means nothing."""
    told = book([read(tmp_path, GOOD)]).limits_for("ORG@AdobeOrg", Family.FIREFLY)

    assert (told.per_minute, told.per_day, told.per_second) == (60, 20_000, 2)
    assert (told.source, told.as_of) == ("raised", date(2026, 6, 1))


def test_an_entry_of_the_future_is_not_in_force_and_said_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Next year's contract, or a typing mistake, paces nobody today; on its day it counts."""
    file = read(tmp_path, GOOD)
    with caplog.at_level(logging.WARNING):
        before = book([file], date(2026, 5, 31)).limits_for("ORG@AdobeOrg", Family.FIREFLY)
        lines = caplog.text
        after = book([file], date(2026, 6, 1)).limits_for("ORG@AdobeOrg", Family.FIREFLY)

    assert (before.per_minute, after.per_minute) == (10, 60)
    assert "firefly limits of 2026-06-01 (raised) are not in force yet" in lines
    assert caplog.text == lines


def test_an_organisation_with_nothing_in_force_gets_the_default(tmp_path: Path) -> None:
    """A file that speaks of the future only says nothing about today."""
    file = read(tmp_path, GOOD)

    told = book([file], date(2025, 1, 1)).limits_for("ORG@AdobeOrg", Family.PHOTOSHOP)

    assert told.source.startswith("Adobe")


def test_an_old_entry_counts_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A date of more than a year ago is told, for contracts are renewed."""
    file = read(tmp_path, GOOD)
    with caplog.at_level(logging.WARNING):
        book([file], date(2027, 6, 1)).limits_for("ORG@AdobeOrg", Family.FIREFLY)
        assert caplog.text == ""
        told = book([file], date(2027, 6, 3)).limits_for("ORG@AdobeOrg", Family.FIREFLY)

    assert told.source == "raised"
    assert "the firefly limits are of 2026-06-01, over a year ago" in caplog.text


def test_windows_are_read(tmp_path: Path) -> None:
    told = book([read(tmp_path, GOOD)]).limits_for("ORG@AdobeOrg", Family.PHOTOSHOP)

    assert told.windows == (Window(15, timedelta(seconds=3)),)
    assert told.per_day is None


@pytest.mark.parametrize(
    ("family", "per_minute", "per_day", "windows"),
    [
        (Family.FIREFLY, 4, 9_000, ()),
        (Family.PHOTOSHOP, 300, None, (Window(15, timedelta(seconds=3)),)),
    ],
)
def test_an_unknown_organisation_gets_what_adobe_documents(
    caplog: pytest.LogCaptureFixture,
    family: Family,
    per_minute: int,
    per_day: int | None,
    windows: tuple[Window, ...],
) -> None:
    """Nobody is paced too fast for want of a file; the log says that there is none."""
    with caplog.at_level(logging.WARNING):
        told = book([]).limits_for("NEW@AdobeOrg", family)

    assert (told.per_minute, told.per_day, told.windows) == (per_minute, per_day, windows)
    assert "NEW@AdobeOrg" in caplog.text


def test_a_file_named_default_speaks_for_all_others(tmp_path: Path) -> None:
    """A project may know better than the published numbers."""
    text = GOOD.replace("ORG@AdobeOrg", "default")

    told = book([read(tmp_path, text)]).limits_for("NEW@AdobeOrg", Family.FIREFLY)

    assert told.source == "raised"


def test_a_family_that_is_not_paced_is_refused() -> None:
    with pytest.raises(ValueError, match="not a paced family"):
        book([]).limits_for("ORG", Family.STORAGE)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("per_minute: 60", "per_minute: 0", "greater than or equal to 1"),
        ("per_minute: 60", "per_minute: -60", "greater than or equal to 1"),
        ("per_minute: 60", "per_minute: 1.5", "valid integer"),
        ("per_minute: 60", "per_minute: true", "valid integer"),
        ("per_minute: 60", "per_minute: '60'", "valid integer"),
        ("per_day: 20000", "per_day: 0", "greater than or equal to 1"),
        ("per_second: 2", "per_second: -1", "greater than or equal to 1"),
        ("seconds: 3", "seconds: 0", "greater than or equal to 0.001"),
        ("seconds: 3", "seconds: 0.0000001", "greater than or equal to 0.001"),
        ("calls: 15", "calls: 0", "greater than or equal to 1"),
        ("photoshop:", "lightroom:", "'firefly'"),
        ("photoshop:", "ims:", "'firefly'"),
        (", source: raised", "", "source: is missing"),
        ("as_of: 2026-06-01, source: raised", "source: raised", "as_of: is missing"),
        ("2025-06-01", "2026-06-01", "its own as_of"),
        ("organisation: ORG@AdobeOrg", "organisation: ''", "at least 1"),
    ],
)
def test_bad_limits_are_refused_with_the_place(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    """A limit of nothing, of a fraction or of nobody is a mistake, never a pace."""
    assert old in GOOD
    with pytest.raises(UnusableConfiguration, match=reason):
        read(tmp_path, GOOD.replace(old, new))
