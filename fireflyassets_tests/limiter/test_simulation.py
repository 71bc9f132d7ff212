"""Whole fleets in virtual time: use and limits.

Here: the goals that a saturated fleet must reach. Not here: shares (`test_sharing`), a service that
refuses (`test_storm`).
"""

import pytest

from fireflyassets.limiter.simulation import most_within, refused, saturate


@pytest.mark.parametrize("workers", [1, 16, 256])
@pytest.mark.parametrize("rate", [4, 60, 600, 3000])
def test_saturated_workers_use_the_whole_pace(rate: int, workers: int) -> None:
    """From 4 to 3000 a minute and 1 to 256 workers: all of the pace, nothing over a limit."""
    result = saturate(rate_per_minute=rate, workers=workers)

    assert 0.99 <= result.use <= 1.001
    assert (result.over_minute, result.over_second) == (0, 0)
    assert result.writes_per_grant <= 1.05
    minutes_in_line = min(workers * 1.25 / rate, 4)
    assert (
        result.reads_per_grant <= 1.05 + minutes_in_line
    )  # A look for each minute, for new limits.


@pytest.mark.parametrize("rate", [60, 600, 3000])
def test_everybody_waits_equally(rate: int) -> None:
    """With one worker for each wave the longest wait is hardly longer than the usual one."""
    assert saturate(rate_per_minute=rate, workers=128).longest_to_median_wait <= 1.05


def test_counting_can_find_fault() -> None:
    """A burst is seen for what it is: the measures above are able to fail."""
    burst = [59.0 + n / 100 for n in range(20)]

    assert refused(burst, 10, 60.0) == 10
    assert refused([0.0, 60.0, 120.0], 1, 60.0) == 0
    assert most_within(burst, 0.05) == 6
