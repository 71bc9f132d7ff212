"""Redis by its own clock, and the script's law against the protocol's.

Here: clock offsets, a restarted server, and equality step by step. Not here: promises that every
store keeps (`contracts`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import redis
from hypothesis import HealthCheck, given, settings

from fireflyassets.limiter.arithmetic import micros
from fireflyassets.limiter.errors import ItemBroken
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Due, Stale, Waiting
from fireflyassets.limiter.redis import RedisLimiter, Script
from fireflyassets_tests.limiter.equality import DAYS, RATES, Step, compare, steps
from fireflyassets_tests.limiter.worlds import NOON, StandingClock, granted, per_minute, seconds

pytestmark = pytest.mark.full
ITEM = "organisation#redis-only"


@pytest.fixture
def connection(redis_url: str) -> Iterator[redis.Redis]:
    """Yield a connection to a server without the item."""
    address = urlsplit(redis_url)
    with redis.Redis(host=address.hostname or "", port=address.port or 0) as client:
        client.delete(ITEM)
        yield client


@dataclass
class SkewedServer:
    """The real server, but its clock is ours to set: *ahead* of the caller's."""

    connection: redis.Redis
    local: StandingClock
    ahead: timedelta

    def register_script(self, script: str) -> Script:
        """Return the script, told the server's time by us."""
        run = self.connection.register_script(script)

        def call(keys: Sequence[str], args: Sequence[str | int]) -> object:
            operation, clock, *rest = args
            assert clock == "server"
            return run(list(keys), [operation, micros(self.local.at + self.ahead), *rest])

        return call


@pytest.mark.parametrize("years", [-6, 0, 6])
def test_the_callers_clock_may_be_years_off(connection: redis.Redis, years: int) -> None:
    """Due times and the fire rule follow the server's clock, told in the caller's."""
    clock = StandingClock()
    server = SkewedServer(connection, clock, ahead=timedelta(days=365 * years, seconds=0.3))
    limiter = RedisLimiter(server, now=clock.now)
    limiter.register(ITEM, per_minute(600))

    block = granted(limiter, ITEM, 3)
    early = limiter.check(block.tickets[2])
    clock.advance(0.25)
    due = limiter.check(block.tickets[2])

    assert block.due_at == seconds(0, 0.125, 0.25)
    assert early == Waiting(block.tickets[2], NOON + timedelta(seconds=0.05))
    assert due == Due(block.tickets[2])
    assert limiter.pause(ITEM, timedelta(seconds=9)).until == NOON + timedelta(seconds=9.25)


def test_a_clock_that_drifts_is_measured_again(connection: redis.Redis) -> None:
    """After a minute a new measurement replaces the old one."""
    clock = StandingClock()
    server = SkewedServer(connection, clock, ahead=timedelta(0))
    limiter = RedisLimiter(server, now=clock.now)
    limiter.register(ITEM, per_minute(60))
    server.ahead = timedelta(seconds=2)
    clock.advance(61)

    assert granted(limiter, ITEM).due_at == seconds(61.75)


def test_the_servers_own_clock_is_the_default(connection: redis.Redis) -> None:
    """Nothing of the caller's clock reaches the server: two callers years apart share a line."""
    clocks = [StandingClock(NOON), StandingClock(NOON + timedelta(days=999))]
    one, two = (RedisLimiter(connection, now=clock.now) for clock in clocks)
    one.register(ITEM, per_minute(1))

    first, second = granted(one, ITEM), granted(two, ITEM)

    assert second.first == first.first + 1
    assert second.due_at[0] - first.due_at[0] > timedelta(days=998)


def test_a_forgotten_item_is_made_again(connection: redis.Redis) -> None:
    """A server that lost its memory gets the item back from a process that knows the limits."""
    limiter = RedisLimiter(connection, now=StandingClock().now)
    limiter.register(ITEM, per_minute(60))
    granted(limiter, ITEM, 3)
    connection.delete(ITEM, f"{ITEM}#turns")

    granted(limiter, ITEM)

    assert limiter.state(ITEM).used_today == 1


class Doubtful:
    """A watch that trusts the clock until it is told not to."""

    def __init__(self) -> None:
        self.trusts = True

    def trusted(self) -> bool:
        """Say so."""
        return self.trusts

    def settle(self) -> None:
        """Trust it again."""
        self.trusts = True


def test_nothing_fires_after_a_step_of_the_clock(connection: redis.Redis) -> None:
    """Redis keeps its own time, but waiting goes by ours: a step of it is measured first."""
    clock, watch = StandingClock(), Doubtful()
    limiter = RedisLimiter(connection, now=clock.now, watch=watch, server_clock=False)
    limiter.register(ITEM, per_minute(60))
    ticket = granted(limiter, ITEM).tickets[0]
    watch.trusts = False

    doubted = limiter.check(ticket)
    limiter.refresh(ITEM)

    assert doubted == Stale()
    assert limiter.check(ticket) == Due(ticket)


@pytest.mark.parametrize(
    ("field", "stored"), [("interval", "x"), ("interval", "0"), ("nominal", "-4"), ("epoch", "")]
)
def test_a_broken_item_is_told_as_one(connection: redis.Redis, field: str, stored: str) -> None:
    """A field that is no number is no outage: it names the item and the field, and the cure."""
    limiter = RedisLimiter(
        connection, now=StandingClock().now, outages=(redis.exceptions.RedisError, OSError)
    )
    limiter.register(ITEM, per_minute(60))
    connection.hset(ITEM, field, stored)

    for call in (
        lambda: limiter.reserve(ITEM, 1),
        lambda: limiter.state(ITEM),
        lambda: limiter.register(ITEM, per_minute(90)),
    ):
        with pytest.raises(ItemBroken, match=f"no item of the limiter .{field}.*delete it"):
            call()
    connection.delete(ITEM, f"{ITEM}#turns")
    granted(limiter, ITEM)


def test_a_key_of_somebody_else_is_told_as_one(connection: redis.Redis) -> None:
    """A list under the item's key is no outage either."""
    limiter = RedisLimiter(connection, now=StandingClock().now, outages=(redis.RedisError,))
    connection.rpush(ITEM, "mine")

    with pytest.raises(ItemBroken, match="list"):
        limiter.register(ITEM, per_minute(60))
    connection.delete(ITEM, f"{ITEM}#turns")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rate=RATES,
    per_day=DAYS,
    told=steps(30),
)
def test_the_script_means_what_the_protocol_means(
    connection: redis.Redis, rate: int, per_day: int | None, told: list[Step]
) -> None:
    """Step by step, the script answers and ends exactly like the store in memory."""
    connection.delete(ITEM, f"{ITEM}#turns")
    clock = StandingClock()
    limiters = (
        RedisLimiter(connection, now=clock.now, server_clock=False),
        MemoryLimiter(now=clock.now),
    )
    for limiter in limiters:
        limiter.register(ITEM, per_minute(rate, per_day=per_day))

    compare(limiters, ITEM, clock, told)


@pytest.mark.parametrize("lacking", [["opened"], ["opened", "turn"], ["opened", "before_at"]])
def test_an_upgrade_forgets_nothing(connection: redis.Redis, lacking: list[str]) -> None:
    """An item of an earlier layout keeps its count and its pause."""
    clock, limits = StandingClock(), per_minute(60, per_day=9000)
    before = RedisLimiter(connection, now=clock.now, server_clock=False)
    before.register(ITEM, limits)
    granted(before, ITEM, 4)
    before.pause(ITEM, timedelta(minutes=10))
    expected = before.state(ITEM)
    connection.hdel(ITEM, *lacking)

    after = RedisLimiter(connection, now=clock.now, server_clock=False)
    after.register(ITEM, limits)

    assert after.state(ITEM) == expected
    clock.advance(601)
    assert granted(after, ITEM).first >= expected.next_ticket
    assert after.state(ITEM).used_today == 5
