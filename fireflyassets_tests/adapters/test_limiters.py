"""The process's limiter as production makes it: its choice of store, its clock, and outages.

Here: real stores that are stopped, killed and started again, and a store's time as its answers
tell it. Not here: the law (`fireflyassets_tests/limiter`) and promises (`contracts`).
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from fireflyassets.adapters import limiters
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.limiter.date_clock import DateClock
from fireflyassets.limiter.dynamodb import DynamoLimiter, table_spec
from fireflyassets.limiter.errors import ClockUnsure, LimiterUnavailable, TableMissing
from fireflyassets.limiter.port import Granted, Limiter, Stale, Voided, Waiting
from fireflyassets.limiter.redis import RedisLimiter
from fireflyassets.settings import ClockCheck, Settings
from fireflyassets_tests.aws_clients import Wire, aws_environment
from fireflyassets_tests.contracts.stores import unique
from fireflyassets_tests.limiter.worlds import granted, per_minute
from fireflyassets_tests.services import Service, own_ministack, own_redis

MILLISECOND = timedelta(milliseconds=1)


def settings(**said: object) -> Settings:
    """Return settings that say just this."""
    return Settings(_env_file=None, **said)  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.fixture
def table(ministack: str) -> Iterator[str]:
    """Yield a table of tickets, with AWS's variables set to the embedded one."""
    name = unique("limiters")
    with aws_environment(ministack):
        client = limiters.dynamodb_client()
        client.create_table(**table_spec(name))
        client.close()
        yield name


# -- the choice -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "endpoint", "watch"),
    [
        ({}, "http://127.0.0.1:4566", "SteadyClock"),
        ({}, "http://localhost:4566", "SteadyClock"),
        ({}, "http://[::1]:4566", "SteadyClock"),
        ({}, "https://dynamodb.eu-west-1.amazonaws.com", "DateClock"),
        ({"clock_check": "always"}, "http://127.0.0.1:4566", "DateClock"),
        ({"clock_check": "never"}, "https://dynamodb.eu-west-1.amazonaws.com", "SteadyClock"),
    ],
)
def test_a_remote_stores_time_is_measured(
    said: dict[str, object], endpoint: str, watch: str
) -> None:
    """A store on this machine has this machine's time; any other's is measured, unless told so."""
    with aws_environment(endpoint):
        limiter = limiters.limiter(settings(**said), table="tickets")

    assert isinstance(limiter, DynamoLimiter)
    assert type(limiter._watch).__name__ == watch


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names and the units, as an operator writes them; a bound of nothing is a mistake."""
    monkeypatch.setenv("FIREFLYASSETS_CLOCK_BOUND", "PT0.08S")
    monkeypatch.setenv("FIREFLYASSETS_CLOCK_CHECK", "always")
    monkeypatch.setenv("FIREFLYASSETS_LIMITER_REDIS_URL", "redis://:secret@127.0.0.1/0")

    said = settings()

    assert (said.clock_check, said.clock_bound) == (ClockCheck.ALWAYS, 80 * MILLISECOND)
    assert "secret@" not in repr(said)
    monkeypatch.setenv("FIREFLYASSETS_CLOCK_BOUND", "PT0S")
    with pytest.raises(ValueError, match="greater than 0"):
        settings()


def test_redis_is_used_where_it_is_named() -> None:
    """One setting moves the limiter; nothing is asked of the server before the first call."""
    limiter = limiters.limiter(settings(limiter_redis_url="redis://127.0.0.1:1/0"), table="tickets")

    assert isinstance(limiter, RedisLimiter)
    with pytest.raises(LimiterUnavailable, match="Look at the store"):
        limiter.register("organisation#firefly", per_minute(60))


# -- the clock --------------------------------------------------------------------------------
@pytest.mark.stack
@pytest.mark.parametrize("ahead", [-310, 0, 437, 90_000])
def test_a_wrong_clock_is_put_right_by_the_stores_answers(table: str, ahead: int) -> None:
    """A machine whose clock is off paces by the store's: to 10 ms, after a dozen calls at most."""
    client = limiters.dynamodb_client()
    wire, true = Wire(client), SystemClock()
    skew = ahead * MILLISECOND
    clock = DateClock(
        wall=lambda: true.now() + skew,
        monotonic=time.monotonic,
        sleep=threading.Event().wait,
        probe=lambda: client.get_item(TableName=table, Key={"pk": {"S": "clock"}}),
    )
    limiters.DateHook(clock).watch(client)
    limiter = DynamoLimiter(client, table=table, now=clock.now, watch=clock)

    limiter.register("organisation#skewed", per_minute(600))
    probes = wire.sent.count("GetItem")
    (due_at,) = granted(limiter, "organisation#skewed").due_at

    assert clock.bound is not None
    assert clock.bound <= 50 * MILLISECOND
    assert probes <= 12
    assert abs(clock.now() - true.now()) <= clock.bound + MILLISECOND
    assert abs(clock.offset + skew) <= clock.bound + MILLISECOND
    assert abs(due_at - true.now()) < timedelta(seconds=5)
    client.close()


@pytest.mark.stack
def test_ordinary_answers_are_heard_too(table: str) -> None:
    """Every answer to the limiter's own calls tells the time, without a call more."""
    client = limiters.dynamodb_client()
    clock = limiters.store_clock(client, table=table, bound=timedelta(milliseconds=50))
    limiter = DynamoLimiter(client, table=table, now=clock.now)

    limiter.register("organisation#passive", per_minute(600))
    first = clock.bound
    for _ in range(40):
        limiter.refresh("organisation#passive")

    assert first is not None
    assert clock.bound is not None
    assert clock.bound < first < timedelta(seconds=1)
    client.close()


@pytest.mark.stack
def test_a_bound_that_can_not_be_met_refuses(table: str) -> None:
    """A tenth of a millisecond is more than a dozen calls can find: no ticket."""
    said = settings(clock_check="always", clock_bound=MILLISECOND / 10)
    limiter = limiters.limiter(said, table=table)

    with pytest.raises(ClockUnsure, match="ms are needed"):
        limiter.register("organisation#strict", per_minute(600))


# -- outages ----------------------------------------------------------------------------------
ITEM = "organisation#outage"


@dataclass
class Outage:
    """A real store of our own that can be stopped, and a limiter over it as production makes it."""

    service: Service
    limiter: Limiter


@contextmanager
def redis_outage() -> Iterator[Outage]:
    """Yield a Redis server and its limiter."""
    with own_redis() as service:
        limiter = limiters.redis_limiter(f"redis://127.0.0.1:{service.port}/0")
        yield Outage(service, limiter)


@contextmanager
def dynamodb_outage() -> Iterator[Outage]:
    """Yield an embedded AWS and its limiter."""
    with own_ministack() as service, aws_environment(f"http://127.0.0.1:{service.port}"):
        client = limiters.dynamodb_client()
        client.create_table(**table_spec(Tables("outage").tickets))
        limiter = limiters.limiter(settings(), table=Tables("outage").tickets)
        yield Outage(service, limiter)
        client.close()


OUTAGES = [
    pytest.param(redis_outage, marks=pytest.mark.full, id="redis"),
    pytest.param(dynamodb_outage, marks=pytest.mark.stack, id="dynamodb"),
]


@pytest.mark.parametrize("outage", OUTAGES)
def test_a_store_that_hangs_hands_nothing_out_and_recovers(
    outage: Callable[[], AbstractContextManager[Outage]],
) -> None:
    """Stopped in mid-run: refused within seconds, a ticket in hand held; then it goes on."""
    with outage() as here:
        here.limiter.register(ITEM, per_minute(60))
        before = granted(here.limiter, ITEM, 40).tickets
        here.service.signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            with pytest.raises(LimiterUnavailable, match="Look at the store"):
                here.limiter.reserve(ITEM, 1)
            took = time.monotonic() - began
            held = here.limiter.check(before[-1])
        finally:
            here.service.signal(signal.SIGCONT)

        after = granted_within(here.limiter, seconds=20)

    assert took < 10
    assert isinstance(held, Stale | Waiting)
    assert after.first > before[-1].number


@pytest.mark.full
def test_a_redis_that_died_comes_back_empty_and_paces_again() -> None:
    """Killed and started without its memory: refused meanwhile, and no ticket is given twice."""
    with redis_outage() as here:
        here.limiter.register(ITEM, per_minute(60))
        before = granted(here.limiter, ITEM, 40).tickets
        here.service.kill()
        for call in (
            lambda: here.limiter.reserve(ITEM, 1),
            lambda: here.limiter.refresh(ITEM),
            lambda: here.limiter.pause(ITEM, None),
        ):
            with pytest.raises(LimiterUnavailable):
                call()
        here.service.restart()

        after = granted_within(here.limiter, seconds=20)
        held = here.limiter.check(before[-1])
        state = here.limiter.state(ITEM)

    assert after.first > before[-1].number
    assert isinstance(held, Voided)
    assert (state.used_today, state.nominal_per_minute) == (1, 48)


def granted_within(limiter: Limiter, *, seconds: float) -> Granted:
    """Take a ticket as soon as the store answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            return granted(limiter, ITEM)
        except LimiterUnavailable:
            if time.monotonic() > until:
                raise


@pytest.mark.stack
def test_a_throttled_table_hands_nothing_out_and_recovers(table: str) -> None:
    """More throttles than the client repeats: refused; the next call is served."""
    client = limiters.dynamodb_client()
    limiter = DynamoLimiter(client, table=table, now=SystemClock().now)
    limiter.register(ITEM, per_minute(60))
    body = b'{"__type": "ProvisionedThroughputExceededException", "message": "slow down"}'
    Wire(client).answer("UpdateItem", body, times=limiters.ATTEMPTS)

    with pytest.raises(LimiterUnavailable, match="ProvisionedThroughputExceeded"):
        limiter.reserve(ITEM, 1)

    assert isinstance(limiter.reserve(ITEM, 1), Granted)
    client.close()


@pytest.mark.stack
def test_a_table_that_is_gone_is_named_and_nothing_is_granted(ministack: str) -> None:
    """Nothing is sent unpaced because somebody deleted a table, and waiting is not the advice."""
    name = unique("nowhere")
    with aws_environment(ministack):
        limiter = limiters.limiter(settings(), table=name)

    with pytest.raises(TableMissing, match=name) as refused:
        limiter.register(ITEM, per_minute(60))
    assert isinstance(refused.value.__cause__, ClientError)
