"""What follows a crash, by how many there were."""

from datetime import timedelta

import pytest

from fireflyassets.core import crashes


@pytest.mark.parametrize(
    ("count", "company", "wait"),
    [
        (0, 100, 0),
        (1, 100, 0),
        (2, 50, 30),
        (3, 1, 60),
        (4, 1, 120),
        (5, 1, 240),
        (6, 1, 480),
        (7, 1, 600),
        (60, 1, 600),
    ],
)
def test_each_crash_leaves_less_company_and_more_wait(count: int, company: int, wait: int) -> None:
    """Two crashes halve the wave, three leave the job alone; the wait doubles up to its cap."""
    assert crashes.company(count, most=100) == company
    assert crashes.wait_after(count) == timedelta(seconds=wait)


def test_half_of_one_is_one() -> None:
    """A wave is never empty."""
    assert crashes.company(2, most=1) == 1


def test_only_what_crashed_alone_three_times_is_poison() -> None:
    """In company the fault may be another's, however often it happened."""
    assert [count for count in range(9) if crashes.is_poison(count, alone=True)] == [6, 7, 8]
    assert not any(crashes.is_poison(count, alone=False) for count in range(9))


def test_jobs_of_one_wave_have_one_level() -> None:
    """None or one crash, two, and more than two are three kinds of company."""
    assert [crashes.level(count) for count in range(5)] == [0, 0, 1, 2, 2]
