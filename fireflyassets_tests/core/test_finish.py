"""The projection, held against a line of tickets that is played out one by one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.failure import Family
from fireflyassets.core.finish import (
    BEGINNING,
    FACTORS,
    FAR,
    Load,
    Pace,
    Remote,
    Traffic,
    fits,
    project,
    starts_at,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NO_TIME = Remote(timedelta(0), timedelta(0))
ONE = Family.FIREFLY


def traffic(
    pace: Pace, *, ahead: float = 0, beside: tuple[Load, ...] = (), weight: int = 1
) -> Traffic:
    """Return traffic of one family."""
    return Traffic(NOON, {ONE: pace}, {ONE: ahead}, beside, weight, NO_TIME)


def minutes(calls: float, given: Traffic) -> float:
    """Return after how many minutes of work *calls* are likely done."""
    return (project({ONE: calls}, given).p50 - NOON - BEGINNING) / MINUTE


def played(mine: int, others: list[tuple[int, int]], weight: int) -> int:
    """Return how many tickets went when my last one did: rounds, by weight."""
    left, waiting, went = mine, [calls for calls, _ in others], 0
    while True:
        for _ in range(weight):
            left -= 1
            went += 1
            if not left:
                return went
        for place, (_, their_weight) in enumerate(others):
            taken = min(their_weight, waiting[place])
            waiting[place] -= taken
            went += taken


def test_alone_it_is_a_division() -> None:
    """Forty calls at four a minute take ten minutes."""
    assert minutes(40, traffic(Pace(4, 4))) == pytest.approx(10)


@given(
    st.integers(1, 300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 4)), max_size=5),
    st.integers(1, 4),
)
def test_shares_are_those_of_turns_by_weight(
    mine: int, others: list[tuple[int, int]], weight: int
) -> None:
    """Played out ticket by ticket, my last call comes within a round of where it is projected."""
    beside = tuple(Load({ONE: calls}, weight=each) for calls, each in others)

    told = minutes(mine, traffic(Pace(1, 1), beside=beside, weight=weight))

    a_round = weight + sum(each for _, each in others)
    assert abs(told - played(mine, others, weight)) <= a_round


def test_own_jobs_before_it_are_served_first() -> None:
    """And the others get their share of that time too, at most what they have."""
    load = (Load({ONE: 10}),)

    assert minutes(10, traffic(Pace(1, 1), ahead=30, beside=load)) == pytest.approx(50)
    assert minutes(5, traffic(Pace(1, 1), beside=load)) == pytest.approx(10)


def test_a_used_up_day_waits_for_midnight() -> None:
    """Calls beyond the day's quota come after midnight in UTC, day by day."""
    pace = Pace(10, 10, per_day=100, used_today=90)
    done = {calls: project({ONE: calls}, traffic(pace)).p50 for calls in (10, 11, 110, 111, 10_010)}

    assert done[10] == NOON + BEGINNING + MINUTE
    assert done[11] == datetime(2026, 12, 1, 0, 0, 6, tzinfo=UTC)
    assert done[110] == datetime(2026, 12, 1, 0, 10, tzinfo=UTC)
    assert done[111] == datetime(2026, 12, 2, 0, 0, 6, tzinfo=UTC)
    assert done[10_010] == datetime(2026, 12, 1, 0, 10, tzinfo=UTC) + timedelta(days=99)


def test_a_slow_time_and_a_pause_count() -> None:
    """At a quarter of the pace for ten minutes, after five without any call."""
    pace = Pace(
        1,
        4,
        slow_until=NOON + timedelta(minutes=10),
        blocked_until=NOON + timedelta(minutes=5),
    )

    done = project({ONE: 5 + 8}, traffic(pace)).p50

    assert done == NOON + timedelta(minutes=12)


def test_the_slower_family_decides() -> None:
    """Calls of both go side by side, and the answer names which one holds it up."""
    paces = {ONE: Pace(1, 1), Family.PHOTOSHOP: Pace(10, 10)}
    given = Traffic(NOON, paces, {}, (), 1, Remote(MINUTE, 2 * MINUTE))

    few = project({ONE: 10, Family.PHOTOSHOP: 30}, given)
    many = project({ONE: 1, Family.PHOTOSHOP: 30}, given)

    assert (few.held_by, many.held_by) == (ONE, Family.PHOTOSHOP)
    assert few.p50 == NOON + BEGINNING + 11 * MINUTE
    assert few.p90 == NOON + BEGINNING + 13 * MINUTE


@given(st.floats(1, 1e7), st.floats(0.1, 1e4), st.integers(1, 10**6), st.floats(1, 1.5))
def test_more_is_never_sooner_and_more_limit_never_later(
    calls: float, rate: float, per_day: int, more: float
) -> None:
    """Whatever the numbers, and it always comes to an end."""
    given = traffic(Pace(rate, rate, per_day=per_day))

    here = project({ONE: calls}, given)
    assert project({ONE: calls * more}, given).p50 >= here.p50
    assert here.p90 >= here.p50
    ends = [project({ONE: calls}, given.times(factor)).p50 for factor in FACTORS]
    assert ends == sorted(ends, reverse=True)
    assert here.p50 <= NOON + BEGINNING + FAR + MINUTE


def test_how_many_fit_is_found_by_halving() -> None:
    """The first that do, and not one more."""
    given = traffic(Pace(4, 4))
    by = NOON + BEGINNING + timedelta(minutes=10)

    assert fits(100, [{ONE: 1.0}] * 100, given, by=by) == 40
    assert fits(10, [{ONE: 1.0}] * 10, given, by=by) == 10
    assert fits(10, [{ONE: 1.0}] * 10, given, by=NOON) == 0


def test_the_first_call_waits_for_what_is_ahead() -> None:
    """With nothing ahead it is made as soon as a run has begun."""
    assert starts_at(traffic(Pace(4, 4)), {ONE: 1.0}) == NOON + BEGINNING
    assert starts_at(traffic(Pace(4, 4), ahead=8), {ONE: 1.0}) == NOON + BEGINNING + 2 * MINUTE


def test_what_needs_no_call_is_only_delivered() -> None:
    """A job without a paid call takes no pace."""
    assert project({}, traffic(Pace(4, 4))).p50 == NOON + BEGINNING
