"""Deficit round robin: over any time, turns are shared by weight, whatever a turn costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.round_robin import Contender, Credits, next_turn

DEAREST = 600

TENANTS = st.lists(st.integers(1, 8), min_size=2, max_size=8)
COSTS = st.lists(st.integers(1, DEAREST), min_size=1, max_size=20)


def served(weights: list[int], costs: list[int], turns: int) -> dict[str, int]:
    """Let all contend all the time; return what each got."""
    names = [f"tenant-{n}" for n in range(len(weights))]
    contenders = [Contender(name, weight) for name, weight in zip(names, weights, strict=True)]
    got, credits_ = dict.fromkeys(names, 0), Credits()
    for n in range(turns):
        name, credits_ = next_turn(contenders, credits_)
        cost = costs[n % len(costs)]
        credits_ = credits_.paid(name, cost)
        got[name] += cost
    return got


@given(TENANTS, COSTS, st.integers(1, 200))
def test_shares_follow_the_weights(weights: list[int], costs: list[int], turns: int) -> None:
    """Per weight, no two that always want one are further apart than the dearest turn of each."""
    got = served(weights, costs, turns)
    shares = [(got[f"tenant-{n}"] / weight, weight) for n, weight in enumerate(weights)]
    for mine, my_weight in shares:
        for theirs, their_weight in shares:
            assert mine - theirs <= DEAREST / my_weight + 1 + DEAREST / their_weight


@given(TENANTS, COSTS, st.integers(1, 200))
def test_credits_stay_bounded(weights: list[int], costs: list[int], turns: int) -> None:
    """Nobody saves up more than a round's worth, nor owes more than one turn."""
    contenders = [Contender(f"{n}", weight) for n, weight in enumerate(weights)]
    credits_ = Credits()
    for n in range(turns):
        name, credits_ = next_turn(contenders, credits_)
        credits_ = credits_.paid(name, costs[n % len(costs)])
        assert all(-DEAREST <= credits_.of(one.name) <= one.weight + DEAREST for one in contenders)
    assert credits_.kept({"0"}).left.keys() <= {"0"}


@given(st.integers(1, 50), st.integers(1, DEAREST))
def test_a_newcomer_waits_for_nobody_s_backlog(turns: int, cost: int) -> None:
    """Whoever was alone for long has no claim to go on, and none against it stands either."""
    old, new = Contender("a-heavy"), Contender("b-light")
    credits_ = Credits()
    for _ in range(turns):
        _, credits_ = next_turn([old], credits_)
        credits_ = credits_.paid("a-heavy", cost)

    order: list[str] = []
    for _ in range(4):
        name, credits_ = next_turn([old, new], credits_)
        credits_ = credits_.paid(name, cost)
        order.append(name)

    assert order == ["b-light", "a-heavy"] * 2


@given(st.integers(-DEAREST, DEAREST), st.integers(1, 8))
def test_a_first_wave_goes_before_every_second(left: int, weight: int) -> None:
    """However much credit the others have."""
    contenders = [Contender("rich", weight, waves=1), Contender("poor", waves=0)]
    name, _ = next_turn(contenders, Credits({"poor": -abs(left), "rich": abs(left)}))
    assert name == "poor"


def test_nobody_has_no_turn() -> None:
    """Asking for a turn of nobody is a mistake of the caller's."""
    with pytest.raises(ValueError, match="Nobody"):
        next_turn([], Credits())
