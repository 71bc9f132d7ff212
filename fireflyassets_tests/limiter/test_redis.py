"""Redis by its own clock, and the script's law against the protocol's.

Here: clock offsets, a restarted server, and equality step by step. Not here: promises that every
store keeps (`contracts`).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from urllib.parse import urlsplit

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Due, Stale, Waiting
from fireflyassets.limiter.redis import RedisLimiter
from fireflyassets_tests.limiter.worlds import StandingClock, granted, per_minute

pytestmark = pytest.mark.full
ITEM = "organisation#redis-only"


@pytest.fixture
def connection(redis_url: str) -> Iterator[redis.Redis]:
    """Yield a connection to a server without the item."""
    address = urlsplit(redis_url)
    with redis.Redis(host=address.hostname or "", port=address.port or 0) as client:
        client.delete(ITEM)
        yield client


def ticking() -> datetime:
    """Return a local time that is years off the server's but runs as fast."""
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=monotonic())


def test_due_times_are_in_the_callers_clock(connection: redis.Redis) -> None:
    """A caller whose clock is years off gets due times that its own clock will reach."""
    limiter = RedisLimiter(connection, now=ticking)
    limiter.register(ITEM, per_minute(600))
    before = ticking()

    block = granted(limiter, ITEM, 3)

    assert timedelta(0) <= block.due_at[0] - before <= timedelta(seconds=1)
    assert block.due_at[2] - block.due_at[0] == timedelta(seconds=0.25)


def test_the_fire_rule_runs_on_the_callers_clock(connection: redis.Redis) -> None:
    """A ticket waits until the caller's clock reaches it, then fires."""
    limiter = RedisLimiter(connection, now=ticking)
    limiter.register(ITEM, per_minute(600))
    ticket = granted(limiter, ITEM, 3).tickets[2]

    answers = [limiter.check(ticket)]
    deadline = monotonic() + 10
    while not isinstance(answers[-1], Due) and monotonic() < deadline:
        answers.append(limiter.check(ticket))
        if isinstance(answers[-1], Stale):
            limiter.refresh(ITEM)

    assert isinstance(answers[0], Waiting)
    assert isinstance(answers[-1], Due)
    assert abs(answers[-1].ticket.due_at - ticket.due_at) < timedelta(milliseconds=20)
    assert limiter.state(ITEM).next_ticket >= 3


def test_a_forgotten_item_is_made_again(connection: redis.Redis) -> None:
    """A server that lost its memory gets the item back from a process that knows the limits."""
    limiter = RedisLimiter(connection, now=ticking)
    limiter.register(ITEM, per_minute(60))
    granted(limiter, ITEM, 3)
    connection.delete(ITEM)

    granted(limiter, ITEM)

    assert limiter.state(ITEM).used_today == 1


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rate=st.sampled_from([4, 60, 600, 3000]),
    per_day=st.sampled_from([None, 9]),
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("reserve"), st.sampled_from([1, 2, 5, 400])),
            st.tuples(st.just("advance"), st.sampled_from([0.01, 0.7, 6, 70, 400, 50_000])),
            st.tuples(st.just("pause"), st.sampled_from([0, 2, 40, 1000])),
        ),
        max_size=30,
    ),
)
def test_the_script_means_what_the_protocol_means(
    connection: redis.Redis, rate: int, per_day: int | None, steps: list[tuple[str, float]]
) -> None:
    """Step by step, the script answers and ends exactly like the store in memory."""
    connection.delete(ITEM)
    clock = StandingClock()
    limiters = (
        RedisLimiter(connection, now=clock.now, server_clock=False),
        MemoryLimiter(now=clock.now),
    )
    for limiter in limiters:
        limiter.register(ITEM, per_minute(rate, per_day=per_day))

    for step, amount in steps:
        if step == "advance":
            clock.advance(amount)
        elif step == "reserve":
            here, there = (limiter.reserve(ITEM, int(amount)) for limiter in limiters)
            assert here == there
        else:
            here, there = (limiter.pause(ITEM, timedelta(seconds=amount)) for limiter in limiters)
            assert here == there
        assert limiters[0].state(ITEM) == limiters[1].state(ITEM)
