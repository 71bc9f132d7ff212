"""Stores to run the limiter's tests over, and a clock that stands until it is moved.

Here: what makes several limiters over one store look like several processes. Not here: promises.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, cast

from botocore.config import Config
from botocore.session import get_session

from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import NOBODY, Flow, Granted, Limiter

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOON = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
_numbers: Iterator[int] = itertools.count(1)


@dataclass
class StandingClock:
    """A clock that stands until a test moves it."""

    at: datetime = NOON

    def now(self) -> datetime:
        """Return the time."""
        return self.at

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self.at += timedelta(seconds=seconds)


@dataclass
class World:
    """One store, one clock, and one item that no other test uses."""

    process: Callable[[StandingClock], Limiter]
    clock: StandingClock = field(default_factory=StandingClock)
    item: str = field(default_factory=lambda: f"organisation-{next(_numbers)}#firefly")

    def limiter(self, limits: Limits | None = None) -> Limiter:
        """Return the limiter of another process; it registers the item if *limits* are given."""
        limiter = self.process(self.clock)
        if limits is not None:
            limiter.register(self.item, limits)
        return limiter


def per_minute(rate: int, *, per_day: int | None = None, as_of: date = date(2026, 3, 1)) -> Limits:
    """Return limits of *rate* calls a minute."""
    return Limits(rate, source="test", as_of=as_of, per_day=per_day)


def dynamodb_client(endpoint: str) -> "DynamoDBClient":
    """Return a client of a local endpoint; retries stay on, as in production."""
    client = get_session().create_client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(max_pool_connections=64),
    )
    return cast("DynamoDBClient", client)


def granted(limiter: Limiter, item: str, count: int = 1, *, flow: Flow = NOBODY) -> Granted:
    """Take tickets that must be there."""
    answer = limiter.reserve(item, count, flow=flow)
    assert isinstance(answer, Granted), answer
    return answer


def seconds(*values: float) -> tuple[datetime, ...]:
    """Return instants after noon."""
    return tuple(NOON + timedelta(seconds=value) for value in values)
