"""The ticket law, as tables and properties.

Here: intervals, due times, first live tickets, block sizes. Not here: writes (`test_protocol`).
"""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.limits import Limits, Window
from fireflyassets.limiter.port import item_key

AS_OF = date(2026, 1, 1)
STATE = law.initial(Limits(60, source="test", as_of=AS_OF), 1_000_000_007)


@pytest.mark.parametrize(
    ("limits", "interval"),
    [
        (Limits(4, "vendor page", AS_OF), 18_750_000),
        (Limits(60, "contract", AS_OF), 1_250_000),
        (Limits(600, "contract", AS_OF), 125_000),
        (Limits(600, "contract", AS_OF, per_second=10), 125_000),
        (Limits(600, "contract", AS_OF, per_second=5), 250_000),
        (Limits(7, "contract", AS_OF), 10_714_286),
        (
            Limits(600, "vendor page", AS_OF, windows=(Window(16, timedelta(seconds=3)),)),
            234_375,
        ),
    ],
)
def test_the_slowest_window_sets_the_interval(limits: Limits, interval: int) -> None:
    """Each window is paced at 80 % of its limit, rounded to the safe side."""
    assert law.paced_interval(limits) == interval


@given(
    calls=st.integers(1, 10_000),
    span=st.integers(1, 3600).map(lambda seconds: timedelta(seconds=seconds)),
)
def test_no_window_can_be_passed(calls: int, span: timedelta) -> None:
    """Evenly spaced calls stay within the limit of any window, with one call to spare or none."""
    interval = law.paced_interval(Limits(10**6, "test", AS_OF, windows=(Window(calls, span),)))

    assert span // timedelta(microseconds=1) // interval + 1 <= max(1, calls)


@pytest.mark.parametrize(("minute", "second", "day"), [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_limit_of_nothing_is_a_mistake(minute: int, second: int, day: int) -> None:
    """A limit that allows no call at all is a typing error, not a pace."""
    with pytest.raises(ValueError, match="at least one call"):
        Limits(minute, source="test", as_of=AS_OF, per_second=second, per_day=day)


@pytest.mark.parametrize("calls", [float("nan"), 60.0, 60.5, "60", True, None])
def test_a_limit_that_is_no_whole_number_is_a_mistake(calls: object) -> None:
    """The law is made of whole numbers: whatever else is told is refused at once."""
    bad = cast("int", calls)
    with pytest.raises(ValueError, match="at least one call"):
        Limits(bad, source="test", as_of=AS_OF)
    with pytest.raises(ValueError, match="at least one call"):
        Window(bad, timedelta(seconds=1))
    if calls is not None:
        with pytest.raises(ValueError, match="at least one call"):
            Limits(60, source="test", as_of=AS_OF, per_day=bad)


@given(offset=st.integers(-(10**12), 10**12))
def test_first_live_is_the_first_ticket_not_yet_due(offset: int) -> None:
    """The ticket found is due now or later, and the one before it is not, or is void."""
    state = law.initial(Limits(60, "test", AS_OF), 10**15)
    now = state.base_at + offset

    number = state.first_live(now)

    assert state.due_at(number) >= now
    assert number == state.base_number or state.due_at(number - 1) < now


@given(offset=st.integers(0, 10**12))
def test_last_due_by_is_the_last_ticket_due(offset: int) -> None:
    """The ticket found is due by then, and the next one is not."""
    number = STATE.last_due_by(STATE.base_at + offset)

    assert STATE.due_at(number) <= STATE.base_at + offset < STATE.due_at(number + 1)


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis takes naive bounds.
def test_instants_survive_the_integers(at: datetime) -> None:
    """Nothing of an instant is lost in microseconds."""
    assert law.instant(law.micros(at)) == at


@pytest.mark.parametrize(
    ("weight", "waves", "size"), [(1, 1, 1), (6, 2, 3), (7, 2, 4), (1, 3, 1), (0, 1, 1), (5, 0, 5)]
)
def test_a_block_is_the_weight_shared_by_the_waves(weight: int, waves: int, size: int) -> None:
    """Every pacer may hold at least one ticket."""
    assert law.block_size(weight, waves) == size


@given(weight=st.integers(1, 40), waves=st.integers(1, 40))
def test_a_tenants_blocks_are_its_weight(weight: int, waves: int) -> None:
    """All waves of a tenant together hold its weight; more waves than that hold one ticket each."""
    blocks = [law.block_size(weight, waves, place) for place in range(waves)]

    assert sum(blocks) == max(weight, waves)
    assert max(blocks) - min(blocks) <= 1


@pytest.mark.parametrize(("rate", "tickets"), [(1, 3), (4, 12), (60, 192), (600, 1920)])
def test_open_blocks_end_within_four_minutes(rate: int, tickets: int) -> None:
    """All open blocks together are at most 240 s of the paced rate."""
    interval = law.paced_interval(Limits(rate, "test", AS_OF))

    assert law.open_ticket_limit(interval) == tickets
    assert law.open_ticket_limit(10**12) == 1
    assert Fraction(tickets * interval, 10**6) <= 240


def test_an_item_names_organisation_and_family() -> None:
    """The key is the organisation's: more credentials add no rate."""
    assert item_key("ACME@AdobeOrg", "firefly") == "ACME@AdobeOrg#firefly"
