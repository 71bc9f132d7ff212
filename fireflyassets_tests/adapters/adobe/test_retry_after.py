"""Retry-After in every form that was seen or feared."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.adapters.adobe import retry_after
from fireflyassets_tests.adapters.adobe.bench import NOON

CASES: list[tuple[list[str], float | None]] = [
    (["30"], 30),
    (["1.5"], 1.5),
    ([" 30 "], 30),
    (["0"], 0),
    (["-1"], None),
    ([""], None),
    ([], None),
    (["abc"], None),
    (["nan"], None),
    (["inf"], None),
    (["-inf"], None),
    (["1e9"], 900),
    (["9" * 400], 900),
    (["1e999"], 900),
    (["\u0661\u0662"], None),
    (["3\u00b2"], None),
    (["0x1e"], None),
    (["1_000"], None),
    (["+30"], None),
    (["Mon, 30 Nov 2026 12:00:20 GMT"], 20),
    (["Mon, 30 Nov 2026 11:59:00 GMT"], 0),
    (["Monday, 30-Nov-26 12:00:20 GMT"], 20),
    (["Mon Nov 30 12:00:20 2026"], 20),
    (["Mon, 30 Nov 2026 13:00:20 +0100"], 20),
    (["Mon, 30 Nov 2026 14:00:00 GMT"], 900),
    (["Fri, 31 Dec 9999999 23:59:59 GMT"], None),
    (["Fri, 31 Dec 9999 23:59:59 GMT"], 900),
    (["Fri, 99 Dec 2026 23:59:59 GMT"], None),
    (["Mon, 30 Nov 2026 12:00:20 +9999999"], None),
    (["30", "60"], 60),
    (["60", "junk"], 60),
    (["30, 60"], 60),
    (["5", "Mon, 30 Nov 2026 12:00:20 GMT"], 20),
]


@pytest.mark.parametrize(("values", "seconds"), CASES)
def test_wait_is_the_longest_readable_ask(values: list[str], seconds: float | None) -> None:
    """The wait is never below a valid ask, never negative, never over 15 minutes; junk is none."""
    wait = retry_after.wait(values, now=NOON)

    assert wait == (None if seconds is None else timedelta(seconds=seconds))


@given(st.lists(st.text(), max_size=3))
def test_nothing_makes_it_raise(values: list[str]) -> None:
    """Whatever a server sends, the answer is a wait within bounds or none."""
    wait = retry_after.wait(values, now=NOON)

    assert wait is None or timedelta(0) <= wait <= retry_after.CAP


def test_long_ask_is_told_uncapped() -> None:
    """Who opens a breaker can see that the ask was beyond the cap."""
    assert retry_after.asked(["7200"], now=NOON) == timedelta(hours=2)
    assert retry_after.wait(["7200"], now=NOON) == retry_after.CAP
