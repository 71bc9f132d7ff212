"""The stores that the ports' promises are checked over.

Here: one fixture per port, parametrized over its implementations. Not here: promises.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

import pytest
import redis

from fireflyassets.adapters.memory.api_keys import MemoryApiKeys
from fireflyassets.limiter.dynamodb import DynamoLimiter, table_spec
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.redis import RedisLimiter
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets_tests.aws_clients import dynamodb, s3, sqs
from fireflyassets_tests.contracts import ledgers, stores, webhooks
from fireflyassets_tests.limiter.worlds import World, dynamodb_client

__all__ = ["dynamodb", "s3", "sqs"]  # Fixtures, shared with the tests of the AWS adapters.

LIMITER_STORES = [
    "memory",
    pytest.param("dynamodb", marks=pytest.mark.stack),
    pytest.param("redis", marks=pytest.mark.full),
]
LIMITER_TABLE = "limiter-contract"


@pytest.fixture(scope="session", params=LIMITER_STORES)
def limiter_store(request: pytest.FixtureRequest) -> str:
    """Return the name of a store that runs and has what it needs."""
    if request.param == "dynamodb":
        client = dynamodb_client(request.getfixturevalue("ministack"))
        # Made again where another store's tests came in between.
        with suppress(client.exceptions.ResourceInUseException):
            client.create_table(**table_spec(LIMITER_TABLE))
        client.close()
    if request.param == "redis":
        request.getfixturevalue("redis_url")
    return request.param


@pytest.fixture
def world(limiter_store: str, request: pytest.FixtureRequest) -> Iterator[World]:
    """Yield a world over the store."""
    if limiter_store == "memory":
        shared = MemoryStore()
        yield World(lambda clock: MemoryLimiter(now=clock.now, store=shared))
    elif limiter_store == "dynamodb":
        client = dynamodb_client(request.getfixturevalue("ministack"))
        yield World(lambda clock: DynamoLimiter(client, table=LIMITER_TABLE, now=clock.now))
        client.close()
    else:
        url: str = request.getfixturevalue("redis_url")
        address = urlsplit(url)
        with redis.Redis(host=address.hostname or "", port=address.port or 0) as connection:
            yield World(lambda clock: RedisLimiter(connection, now=clock.now, server_clock=False))


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def ledger_world(request: pytest.FixtureRequest) -> ledgers.World:
    """Return one empty ledger."""
    if request.param == "memory":
        return ledgers.memory_world()
    return ledgers.dynamo_world(request.getfixturevalue("dynamodb"), stores.unique("ledger"))


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.stack)])
def object_world(request: pytest.FixtureRequest) -> stores.ObjectWorld:
    """Return one empty object store."""
    if request.param == "memory":
        return stores.memory_objects()
    return stores.s3_objects(request.getfixturevalue("s3"))


@pytest.fixture(params=["memory", pytest.param("sqs", marks=pytest.mark.stack)])
def queue_worlds(request: pytest.FixtureRequest) -> stores.QueueWorlds:
    """Return what makes one empty queue."""
    if request.param == "memory":
        return stores.memory_queue
    return partial(stores.sqs_queue, request.getfixturevalue("sqs"))


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def token_world(request: pytest.FixtureRequest) -> stores.TokenWorld:
    """Return one empty token store."""
    if request.param == "memory":
        return stores.memory_tokens()
    return stores.dynamo_tokens(request.getfixturevalue("dynamodb"))


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def api_keys(request: pytest.FixtureRequest) -> ApiKeyStore:
    """Return one empty store of API keys."""
    if request.param == "memory":
        return MemoryApiKeys()
    return stores.dynamo_api_keys(request.getfixturevalue("dynamodb"))


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def webhook_world(request: pytest.FixtureRequest) -> webhooks.World:
    """Return one empty store of webhooks, with the ledger whose events it tells."""
    if request.param == "memory":
        return webhooks.memory_world()
    return webhooks.dynamo_world(request.getfixturevalue("dynamodb"), stores.unique("webhooks"))
