"""Whole fleets in virtual time: use, limits, fairness.

Here: the goals that a saturated fleet must reach. Not here: a service that refuses (`test_storm`).
"""

import pytest

from fireflyassets.limiter.simulation import Tenant, most_within, refused, saturate, share


@pytest.mark.parametrize("workers", [1, 16, 256])
@pytest.mark.parametrize("rate", [4, 60, 600, 3000])
def test_saturated_workers_use_the_whole_pace(rate: int, workers: int) -> None:
    """From 4 to 3000 a minute and 1 to 256 workers: all of the pace, nothing over a limit."""
    result = saturate(rate_per_minute=rate, workers=workers)

    assert 0.99 <= result.use <= 1.001
    assert (result.over_minute, result.over_second) == (0, 0)
    assert result.writes_per_grant <= 1.05
    assert result.reads_per_grant <= 1.05


@pytest.mark.parametrize("rate", [60, 600, 3000])
def test_everybody_waits_equally(rate: int) -> None:
    """With one worker for each wave the longest wait is hardly longer than the usual one."""
    assert saturate(rate_per_minute=rate, workers=128).longest_to_median_wait <= 1.05


@pytest.mark.parametrize("tenants", [2, 10, 50, 200])
def test_light_tenants_are_done_in_their_fair_time(tenants: int) -> None:
    """A tenant with 20 jobs beside one with 2,000 is as quick as if all had 20."""
    light = [Tenant(f"light-{n}", 20) for n in range(tenants - 1)]

    result = share([Tenant("heavy", 2000), *light], rate_per_minute=600)

    ideal = 20 * tenants * 0.125
    assert max(result.done[tenant.name] for tenant in light) <= 1.05 * ideal
    assert result.done["heavy"] <= 1.01 * (2000 + 20 * (tenants - 1)) * 0.125


def test_late_light_tenants_wait_for_nobody() -> None:
    """Whoever arrives while a heavy tenant is at work gets every second call at once."""
    light = [Tenant(f"light-{n}", 20, arrives=10 + 30 * n) for n in range(9)]

    result = share([Tenant("heavy", 3000), *light], rate_per_minute=600)

    assert max(result.done[tenant.name] for tenant in light) <= 1.05 * 5.0


def test_shares_follow_weights() -> None:
    """Three tenants of weights 1, 3 and 5 get calls in that proportion, round by round."""
    tenants = [Tenant("one", 200, 1), Tenant("three", 600, 3), Tenant("five", 1000, 5)]

    result = share(tenants, rate_per_minute=600)

    assert max(result.shares.values()) - min(result.shares.values()) <= 1
    assert result.worst_gap <= 1.01


def test_counting_can_find_fault() -> None:
    """A burst is seen for what it is: the measures above are able to fail."""
    burst = [59.0 + n / 100 for n in range(20)]

    assert refused(burst, 10, 60.0) == 10
    assert refused([0.0, 60.0, 120.0], 1, 60.0) == 0
    assert most_within(burst, 0.05) == 6
