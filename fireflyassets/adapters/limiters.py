"""The process's limiter: which store it is in, and whose time it goes by.

Belongs here: its clients with timeouts of their own, and the hook that reads the store's time from
its answers. Does not: the law (``fireflyassets.limiter``), AWS clients of others (``aws/``).

Tickets are worth 100 ms, so a store that takes seconds is as good as gone: these clients give up
early, and the caller parks.
"""

import importlib
import importlib.util
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import get_session

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.hosts import is_loopback
from fireflyassets.limiter.clock import SteadyClock
from fireflyassets.limiter.date_clock import DateClock
from fireflyassets.limiter.dynamodb import KEY, OUTAGES, DynamoLimiter
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.port import Limiter
from fireflyassets.limiter.redis import RedisClient, RedisLimiter
from fireflyassets.settings import ClockCheck, Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONNECT_SECONDS: Final = 1.0
READ_SECONDS: Final = 2.0
ATTEMPTS: Final = 2
"""Sends of one request, the first included. A repeat can lose tickets, never give one twice."""
CONNECTIONS: Final = 16

CONFIG: Final = Config(
    connect_timeout=CONNECT_SECONDS,
    read_timeout=READ_SECONDS,
    max_pool_connections=CONNECTIONS,
    retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
)
PROBE: Final = "clock"
"""Key of an item that does not exist: reading it is the cheapest call there is."""


def limiter(settings: Settings, *, table: str) -> Limiter:
    """Return the limiter that the settings ask for: in Redis, else in DynamoDB's *table*.

    Makes no call: the store's time is measured before the first ticket.

    Raises:
        UnusableConfiguration: Redis is asked for and its package is not installed.
    """
    if settings.limiter_redis_url is not None:
        return redis_limiter(settings.limiter_redis_url.get_secret_value())
    client = dynamodb_client(settings.region)
    if _is_measured(settings.clock_check, client.meta.endpoint_url):
        clock = store_clock(client, table=table, bound=settings.clock_bound)
        return DynamoLimiter(client, table=table, now=clock.now, watch=clock)
    own = own_clock()
    return DynamoLimiter(client, table=table, now=own.now, watch=own)


def dynamodb_client(region: str | None = None) -> "DynamoDBClient":
    """Make a client that gives up within seconds; without a *region* botocore finds its own."""
    made = get_session().create_client("dynamodb", region_name=region, config=CONFIG)
    return cast("DynamoDBClient", made)


def redis_limiter(url: str) -> RedisLimiter:
    """Return a limiter in Redis; its times come from the server with each call.

    Raises:
        UnusableConfiguration: The package is not installed.
    """
    if importlib.util.find_spec("redis") is None:
        raise UnusableConfiguration(
            "FIREFLYASSETS_LIMITER_REDIS_URL is set and the redis package is missing: "
            "install fireflyassets[redis]."
        )
    redis = cast("Any", importlib.import_module("redis"))
    retry = importlib.import_module("redis.retry").Retry(
        importlib.import_module("redis.backoff").NoBackoff(), ATTEMPTS - 1
    )
    client = redis.Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=READ_SECONDS,
        retry=retry,
    )
    own = own_clock()
    return RedisLimiter(
        cast("RedisClient", client),
        now=own.now,
        watch=own,
        outages=(redis.exceptions.RedisError, OSError),
    )


def own_clock() -> SteadyClock:
    """Return this machine's time, no step of which goes unnoticed."""
    return SteadyClock(wall=SystemClock().now, monotonic=time.monotonic)


def store_clock(client: "DynamoDBClient", *, table: str, bound: timedelta) -> DateClock:
    """Return the store's time, learnt from the answers to *client*."""

    def probe() -> None:
        try:
            client.get_item(TableName=table, Key={KEY: {"S": PROBE}})
        except (ClientError, *OUTAGES) as error:
            raise LimiterUnavailable(PROBE, type(error).__name__) from error

    clock = DateClock(
        wall=SystemClock().now,
        monotonic=time.monotonic,
        sleep=threading.Event().wait,
        probe=probe,
        bound=bound,
    )
    DateHook(clock).watch(client)
    return clock


class DateHook:
    """Tells a clock when each answer of a client was asked for, came, and was stamped."""

    def __init__(self, clock: DateClock) -> None:
        self._clock = clock
        self._thread = threading.local()  # Sending and receiving are one thread's, retries too.

    def watch(self, client: "DynamoDBClient") -> None:
        """Listen to all answers of *client*."""
        client.meta.events.register("before-send.dynamodb", self._sent)
        client.meta.events.register("response-received.dynamodb", self._received)

    def _sent(self, **_: object) -> None:
        self._thread.sent = time.monotonic()

    def _received(self, response_dict: Mapping[str, Any] | None = None, **_: object) -> None:
        received = time.monotonic()
        sent: float | None = self._thread.__dict__.pop("sent", None)
        stamp: str | None = response_dict["headers"].get("date") if response_dict else None
        if sent is None or stamp is None:
            return
        try:
            date = parsedate_to_datetime(stamp)
        except ValueError:
            return
        if date.tzinfo is not None:
            self._clock.observe(sent, received, date)


def _is_measured(check: ClockCheck, endpoint: str) -> bool:
    """Say whether the store's time is measured: one on this machine has this machine's."""
    if check is ClockCheck.REMOTE:
        return not is_loopback(urlsplit(endpoint).hostname)
    return check is ClockCheck.ALWAYS
