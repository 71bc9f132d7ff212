"""The law of rates, as properties over any history of an item.

Here: what no sequence of refusals, limits and operators may leave behind. Not here: how stores
spell it (`contracts`), and races (`test_invariants`).
"""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.errors import OverrideRefused
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Granted, Parked, ParkReason
from fireflyassets_tests.limiter.worlds import StandingClock, per_minute

ITEM = "organisation#firefly"
RATES = (4, 60, 600)
STEPS = [
    *(("wait", seconds) for seconds in (0.3, 4, 11, 70)),
    *(("reserve", count) for count in (1, 1, 2, 5)),
    *(("refused", seconds) for seconds in (1, 20, 400)),
    *(("limits", rate) for rate in RATES),
    *(("override", rate) for rate in (0.0007, 0.01, 3, 48)),
    ("clear", 0),
]


def take(limiter: MemoryLimiter, clock: StandingClock, step: tuple[str, float]) -> None:
    """Let one thing happen to the item."""
    match step:
        case ("wait", seconds):
            clock.advance(seconds)
            limiter.refresh(ITEM)
        case ("reserve", count):
            limiter.reserve(ITEM, int(count))
        case ("refused", seconds):
            limiter.pause(ITEM, timedelta(seconds=seconds))
        case ("limits", rate):
            limiter.register(ITEM, per_minute(int(rate)))
        case ("override", rate):
            duration = timedelta(minutes=10)
            limiter.override(ITEM, rate, duration=duration, by="ops", why="drawn")
        case _:
            limiter.clear_override(ITEM, by="ops")


@settings(max_examples=400, deadline=None)
@given(rate=st.sampled_from(RATES), steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=25))
def test_nothing_but_the_rate_and_the_line_keeps_a_caller(
    rate: int, steps: list[tuple[str, float]]
) -> None:
    """At the contract's rate again, the next ticket is due behind those in line and no later."""
    clock = StandingClock()
    limiter = MemoryLimiter(now=clock.now)
    limiter.register(ITEM, per_minute(rate))
    for step in steps:
        try:
            take(limiter, clock, step)
        except OverrideRefused:
            continue

    limiter.register(ITEM, per_minute(rate))
    nominal = limiter.state(ITEM).nominal_per_minute
    limiter.override(ITEM, nominal, duration=timedelta(hours=1), by="ops", why="as before")
    state = limiter.state(ITEM)

    assert state.rate_per_minute == pytest.approx(nominal)
    interval = timedelta(minutes=1) / nominal
    free_at = max(clock.at + timedelta(seconds=1), state.blocked_until or clock.at)
    allowed = free_at + (state.outstanding + 1) * interval
    assert state.next_due_at <= allowed + timedelta(milliseconds=1)
    answer = limiter.reserve(ITEM, 1)
    near = state.next_due_at - clock.at <= timedelta(minutes=5)
    room = state.outstanding < timedelta(minutes=4) // interval
    if isinstance(answer, Parked) and answer.reason is ParkReason.NOT_YOUR_TURN:
        # The end of the line is kept for others; who asks again when told has the next ticket.
        for _ in range(5):
            if isinstance(answer, Parked):
                clock.advance((answer.until - clock.at).total_seconds())
                limiter.refresh(ITEM)
                answer = limiter.reserve(ITEM, 1)
        assert isinstance(answer, Granted)
        return
    assert isinstance(answer, Granted) == (near and room)
