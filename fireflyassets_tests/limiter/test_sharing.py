"""How tenants share the pace, in virtual time.

Here: light beside heavy, weights, and crowds that want more than the line holds. Not here: whether
the pace is used and kept (`test_simulation`).
"""

import pytest

from fireflyassets.limiter.sharing import Tenant, divide, share


@pytest.mark.parametrize(
    ("tenants", "waves"), [(2, 1), (2, 2), (2, 8), (10, 1), (10, 8), (50, 8), (200, 1)]
)
def test_light_tenants_are_done_in_their_fair_time(tenants: int, waves: int) -> None:
    """A tenant with 20 jobs beside one with 2,000 is as quick as if all had 20.

    In however many waves the heavy one has them at work.
    """
    light = [Tenant(f"light-{n}", 20) for n in range(tenants - 1)]

    result = share([Tenant("heavy", 2000, waves=waves), *light], rate_per_minute=600)

    ideal = 20 * tenants * 0.125
    assert max(result.done[tenant.name] for tenant in light) <= 1.05 * ideal
    assert result.done["heavy"] <= 1.01 * (2000 + 20 * (tenants - 1)) * 0.125


BESIDE = [(1, 6, 1), (6, 1, 9), (2, 3, 3)]


@pytest.mark.parametrize("rate", [4, 60, 600, 3000])
@pytest.mark.parametrize(("heavy", "weight", "count"), BESIDE)
def test_light_tenants_of_any_weight_wait_no_longer_for_eight_waves(
    rate: int, heavy: int, weight: int, count: int
) -> None:
    """Whoever comes to a tenant of eight waves at work is done in its fair time, by weight.

    That is the line that it finds, its calls by its share of the pace, and a round.
    """
    interval, one_round = 75 / rate, heavy + weight * count
    comes = 20 * interval
    light = [Tenant(f"light-{n}", 20 * weight, weight, arrives=comes) for n in range(count)]

    result = share([Tenant("heavy", 60 + 25 * heavy, heavy, waves=8), *light], rate_per_minute=rate)

    ideal = (8 + 20 * one_round) * interval
    assert max(result.done[tenant.name] for tenant in light) <= 1.05 * ideal


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


ONE_TO_TEN = [1 + n % 10 for n in range(200)]
CROWDS = [
    pytest.param(4, [1] * 2, 50, id="4-a-minute-2-equal"),
    pytest.param(4, [1] * 13, 50, id="4-a-minute-13-equal"),
    pytest.param(4, [1] * 30, 20, id="4-a-minute-30-equal"),
    pytest.param(4, [1] * 200, 10, id="4-a-minute-200-equal"),
    pytest.param(4, [10, 10], 20, id="4-a-minute-two-of-ten"),
    pytest.param(4, ONE_TO_TEN[:5], 20, id="4-a-minute-5-weighted"),
    pytest.param(4, ONE_TO_TEN[:30], 12, id="4-a-minute-30-weighted"),
    pytest.param(60, ONE_TO_TEN[:40], 12, id="60-a-minute-40-weighted"),
    pytest.param(60, [1] * 200, 12, id="60-a-minute-200-equal"),
    pytest.param(60, ONE_TO_TEN, 16, id="60-a-minute-200-weighted"),
    pytest.param(600, [1] * 200, 20, id="600-a-minute-200-equal"),
    pytest.param(600, ONE_TO_TEN, 12, id="600-a-minute-200-weighted"),
]


@pytest.mark.parametrize(("rate", "weights", "rounds"), CROWDS)
def test_nobody_starves_however_many_there_are(rate: int, weights: list[int], rounds: int) -> None:
    """With more wanted than the line holds, each gets its share within 20 %, in a few rounds.

    Nothing of the pace is lost, and nobody waits for more than three rounds.
    """
    result = divide(weights, rate_per_minute=rate, rounds=rounds)

    assert result.use >= 0.99
    assert min(result.shares) >= 0.8
    assert max(result.shares) <= 1.25
    assert result.worst_gap <= 3


def test_what_those_who_leave_would_have_had_goes_to_the_others() -> None:
    """Two thirds of a crowd go away: the rest shares the whole pace, evenly."""
    result = divide([1] * 30, rate_per_minute=4, rounds=30, staying=10)

    assert result.use >= 0.99
    assert min(result.shares[:10]) >= 0.8
    assert max(result.shares[:10]) <= 1.25


def test_waves_of_a_tenant_share_its_weight_where_calls_are_scarce() -> None:
    """While turns are kept, a tenant with four waves has no more than twenty tenants with one."""
    result = divide([1] * 24, rate_per_minute=4, rounds=40, open_waves=[4] * 4 + [1] * 20)

    tenant = sum(result.shares[:4]) * 21 / 24
    assert tenant == pytest.approx(1, abs=0.25)
    assert min(result.shares[4:]) * 21 / 24 >= 0.8


SHORT_WAVES = [
    pytest.param(4, [1] * 13, [1], 0, 40, id="one-of-13"),
    pytest.param(4, [1] * 30, [1] * 8, 60, 30, id="8-of-30-with-gaps"),
    pytest.param(4, [1] * 30, [5, 3, 1] * 5, 0, 30, id="15-of-30-of-several-lengths"),
    pytest.param(4, [10, 10], [10], 10, 60, id="one-of-two-of-weight-ten"),
    pytest.param(4, ONE_TO_TEN[:8], [1, 2, 3, 4], 20, 20, id="weighted"),
    pytest.param(60, [1] * 210, [1] * 20, 20, 16, id="20-of-210"),
]


@pytest.mark.parametrize(("rate", "weights", "short", "pause", "rounds"), SHORT_WAVES)
def test_short_waves_get_no_more_and_no_less(
    rate: int, weights: list[int], short: list[int], pause: float, rounds: int
) -> None:
    """A tenant whose next wave begins where its last one ended is no newcomer with each wave."""
    result = divide(weights, rate_per_minute=rate, rounds=rounds, short=short, pause=pause)

    assert result.use >= 0.99
    assert min(result.shares) >= 0.8
    assert max(result.shares) <= 1.25


@pytest.mark.parametrize("rate", [4, 60, 600])
def test_short_waves_of_any_weight_leave_no_ticket(rate: int) -> None:
    """Of weight six, waves of twenty calls and of six use the whole pace, and share it."""
    result = divide([6, 6], rate_per_minute=rate, rounds=40, short=[20, 6])

    assert result.use >= 0.99
    assert min(result.shares) >= 0.8


def test_short_waves_beside_one_that_stays_share_evenly_when_a_crowd_has_gone() -> None:
    """Turns end only when the item is idle; until then two tenants have half of the pace each."""
    result = divide([1] * 15, rate_per_minute=4, rounds=40, staying=2, short=[1])

    assert min(result.shares[:2]) >= 0.8
    assert max(result.shares[:2]) <= 1.25


def test_a_crowd_writes_hardly_more_than_once_for_each_call() -> None:
    """Whoever waits for its turn reads, and does not write; a grant in turn is one write."""
    assert divide([1] * 30, rate_per_minute=4, rounds=30).writes_per_grant <= 1.15


def test_a_tenants_name_costs_nothing_while_no_turns_are_kept() -> None:
    """Where all find a place in the line a call is one write, as without names."""
    assert divide([1] * 8, rate_per_minute=60, rounds=120).writes_per_grant <= 1.06
