"""The limiters that are compared: ours, two common recipes, and two public packages.

Here: each as one process uses it. Not here: processes and measures. All are asked for 480 calls a
minute. The recipes are written as their descriptions say; the packages are set to their smoothest:
one call of burst for pyrate-limiter, one-second windows for limits, which knows no other way.
"""

import asyncio
import random
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import Future
from datetime import date, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, cast

from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import get_session
from limiter_fleet import HOST, PACED_PER_MINUTE, Contender, Run

from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State, instant
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.dynamodb import DynamoLimiter
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Parked, Ticket

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "limiter-benchmark"
INTERVAL = 60.0 / PACED_PER_MINUTE


def dynamodb(endpoint: str) -> "DynamoDBClient":
    """Return a client that tries once, so that every operation is counted."""
    config = Config(max_pool_connections=32, retries={"total_max_attempts": 1})
    client = get_session().create_client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - a local emulator takes any.
        config=config,
    )
    return cast("DynamoDBClient", client)


def now() -> datetime:
    """Return the wall clock: this measures real time."""
    return instant(time.time_ns() // 1000)


class CountedLimiter(DynamoLimiter):
    """Our limiter, counting what it asks of the store."""

    writes = 0
    reads = 0

    def _read(self, item: str) -> State | None:
        self.reads += 1
        return super()._read(item)

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        self.writes += 1
        return super()._write(item, write)


class Ours:
    """One pacer in one event loop, asked by all threads."""

    def __init__(self, run: Run) -> None:
        self._limiter = CountedLimiter(dynamodb(run.dynamodb), table=TABLE, now=now)
        self._limiter.register(run.item, Limits(600, "benchmark", date(2026, 1, 1)))
        self._loop = asyncio.new_event_loop()
        self._pacer = Pacer(self._limiter, run.item, weight=run.weight, now=now)
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    @property
    def writes(self) -> int:
        """Conditional writes so far."""
        return self._limiter.writes

    @property
    def reads(self) -> int:
        """Reads so far."""
        return self._limiter.reads

    def acquire(self, stop: threading.Event) -> int | None:
        """Wait for a ticket."""
        while not stop.is_set():
            asked: Future[Ticket | Parked] = asyncio.run_coroutine_threadsafe(
                self._pacer.take(), self._loop
            )
            while not stop.is_set():
                try:
                    answer = asked.result(timeout=0.5)
                except TimeoutError:
                    continue
                if isinstance(answer, Ticket):
                    return answer.number
                stop.wait((answer.until - now()) / timedelta(seconds=1))
                break
            asked.cancel()
        return None

    def close(self) -> None:
        """Stop the loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class DynamoRecipe(ABC):
    """What both recipes share: a table, counts, one asker, and a conditional update."""

    def __init__(self, run: Run) -> None:
        self.writes = 0
        self.reads = 0
        self._client = dynamodb(run.dynamodb)
        self._item = run.item
        self._turn = threading.Lock()

    def acquire(self, stop: threading.Event) -> int | None:
        """Let one thread of the process ask at a time: as in ours, they don't race each other."""
        with self._turn:
            return self.ask(stop)

    @abstractmethod
    def ask(self, stop: threading.Event) -> int | None:
        """Wait for a call that is allowed; None when *stop* is set."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _update(self, key: str, update: str, condition: str, values: dict[str, int]) -> int | None:
        """Return None if the update held, else the stored number ``n``."""
        self.writes += 1
        try:
            self._client.update_item(
                TableName=TABLE,
                Key={"pk": {"S": key}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues={k: {"N": str(v)} for k, v in values.items()},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            item = error.response.get("Item", {})
            return int(item["n"]["N"]) if "n" in item else 0
        return None


class FixedWindow(DynamoRecipe):
    """A counter for each minute; whoever finds it full waits an interval and tries again."""

    def ask(self, stop: threading.Event) -> int | None:
        """Count up, or wait."""
        while not stop.is_set():
            key = f"{self._item}#{time.time_ns() // 60_000_000_000}"
            values = {":one": 1, ":limit": PACED_PER_MINUTE}
            condition = "attribute_not_exists(n) OR n < :limit"
            if self._update(key, "ADD n :one", condition, values) is None:
                return -1
            stop.wait(INTERVAL + random.uniform(0.0, 0.05))  # noqa: S311 - jitter.
        return None


class CompareAndSet(DynamoRecipe):
    """GCRA: read the theoretical arrival time, wait for it, move it if nobody else did."""

    _known = 0

    def ask(self, stop: threading.Event) -> int | None:
        """Wait for the time last seen, then try to move it on."""
        while not stop.is_set():
            at, known = time.time_ns() // 1000, self._known
            if known > at:
                stop.wait((known - at) / 1e6)
                continue
            values = {":new": max(known, at) + int(INTERVAL * 1e6), ":old": known}
            condition = "attribute_not_exists(n) OR n = :old"
            lost = self._update(self._item, "SET n = :new", condition, values)
            if lost is None:
                self._known = max(self._known, values[":new"])
                return -1
            self._known = max(self._known, lost)
        return None


class PyrateLimiter:
    """pyrate-limiter: GCRA in Redis, one call of burst, no buffer."""

    writes = 0
    reads = 0

    def __init__(self, run: Run) -> None:
        redis, pyrate = import_module("redis"), import_module("pyrate_limiter")
        store = pyrate.RedisStateStore(redis.Redis(host=HOST, port=run.redis_port), run.item)
        rate = pyrate.Rate(PACED_PER_MINUTE, pyrate.Duration.MINUTE, burst=1)
        self._limiter = pyrate.Limiter(pyrate.StateBucket([rate], store=store), buffer_ms=0)

    def acquire(self, stop: threading.Event) -> int | None:
        """Let the package wait, half a second at a time."""
        while not stop.is_set():
            if self._limiter.try_acquire("benchmark", timeout=0.5):
                return -1
        return None

    def close(self) -> None:
        """Stop the package's threads."""
        self._limiter.close()


class LimitsPackage:
    """limits: a moving window of one second in Redis; it tests and never waits, so we do."""

    writes = 0
    reads = 0

    def __init__(self, run: Run) -> None:

        storage, strategies = import_module("limits.storage"), import_module("limits.strategies")
        url = f"redis://{HOST}:{run.redis_port}"
        self._limiter = strategies.MovingWindowRateLimiter(storage.RedisStorage(url))
        self._window = import_module("limits").RateLimitItemPerSecond(PACED_PER_MINUTE // 60)
        self._item = run.item

    def acquire(self, stop: threading.Event) -> int | None:
        """Hit, or wait until the window opens."""
        while not stop.is_set():
            if self._limiter.hit(self._window, self._item):
                return -1
            opens = self._limiter.get_window_stats(self._window, self._item).reset_time
            stop.wait(max(0.001, opens - time.time_ns() / 1e9))
        return None

    def close(self) -> None:
        """Nothing is held."""


def ours(run: Run) -> Contender:
    """Make our limiter."""
    return Ours(run)


SETTINGS = {
    "ours": "600 a minute, headroom 20 %, one pacer for each process, blocks of 1 and of 4",
    "fixed_window": "480 in each minute of the clock; full: wait 125 to 175 ms; one asks for all",
    "gcra_compare_and_set": "480 a minute, no burst; wait for the time last seen; one asks for all",
    "pyrate_limiter": "Rate(480, MINUTE, burst=1), RedisStateStore, buffer_ms=0, its own waiting",
    "limits": "MovingWindowRateLimiter, 8 per second, Redis; full: wait for reset_time",
}
"""What each is set to: the smoothest that its documentation offers."""

RIVALS = {
    "fixed_window": FixedWindow,
    "gcra_compare_and_set": CompareAndSet,
    "pyrate_limiter": PyrateLimiter,
    "limits": LimitsPackage,
}
