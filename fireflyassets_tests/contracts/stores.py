"""Object stores, queues, stores of keys and of tokens to check the ports' promises on.

Here: worlds, each one empty store with what a test needs to look behind it. Not here: promises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx

from fireflyassets.adapters.aws.api_keys import DynamoApiKeys
from fireflyassets.adapters.aws.objects import S3ObjectStore
from fireflyassets.adapters.aws.provision import (
    provision_bucket,
    provision_queues,
    provision_tables,
)
from fireflyassets.adapters.aws.queue import REASON, SqsQueue
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.aws.tokens import DynamoTokenStore
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import JobQueue
from fireflyassets.ports.tokens import TokenStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


def unique(kind: str) -> str:
    """Return a name that no other test uses."""
    return f"{kind}-{uuid4().hex[:12]}"


# -- objects --------------------------------------------------------------------------------
@dataclass(frozen=True)
class ObjectWorld:
    """One empty store, and what a vendor does with its URLs: PermissionError where refused."""

    store: ObjectStore
    upload: Callable[[str, bytes, str], None]
    download: Callable[[str], bytes]


def memory_objects() -> ObjectWorld:
    """Return a world in memory."""
    store = MemoryObjects()
    return ObjectWorld(
        store,
        lambda url, content, media_type: store.upload(url, content, media_type=media_type),
        store.download,
    )


def s3_objects(client: "S3Client") -> ObjectWorld:
    """Return a world in a bucket of its own."""
    bucket = unique("objects")
    provision_bucket(client, bucket)
    return ObjectWorld(S3ObjectStore(client, bucket), _upload, _download)


def _upload(url: str, content: bytes, media_type: str) -> None:
    _allowed(httpx.put(url, content=content, headers={"Content-Type": media_type}))


def _download(url: str) -> bytes:
    return _allowed(httpx.get(url)).content


def _allowed(response: httpx.Response) -> httpx.Response:
    if response.status_code == HTTPStatus.FORBIDDEN:
        raise PermissionError(response.text)
    return response.raise_for_status()


# -- queues ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class QueueWorld:
    """One empty queue and its dead letters, as (body, reason)."""

    queue: JobQueue
    dead: Callable[[], list[tuple[str, str | None]]]


QueueWorlds = Callable[[timedelta], QueueWorld]
"""Makes a world whose messages stay hidden for so long."""


def memory_queue(visibility: timedelta) -> QueueWorld:
    """Return a world in memory, whose clock stands."""
    queue = MemoryQueue(FakeClock(), visibility=visibility)
    return QueueWorld(queue, lambda: [(letter.body, letter.reason) for letter in queue.dead])


def sqs_queue(client: "SQSClient", visibility: timedelta) -> QueueWorld:
    """Return a world in queues of its own."""
    name = unique("queue")
    urls = provision_queues(client, name, visibility_seconds=int(visibility.total_seconds()))

    def dead() -> list[tuple[str, str | None]]:
        answer = client.receive_message(
            QueueUrl=urls.dead, MaxNumberOfMessages=10, MessageAttributeNames=[REASON]
        )
        return [
            (
                message.get("Body", ""),
                message.get("MessageAttributes", {}).get(REASON, {}).get("StringValue"),
            )
            for message in answer.get("Messages", [])
        ]

    return QueueWorld(SqsQueue(client, name), dead)


# -- tokens ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class TokenWorld:
    """One empty token store and its clock."""

    store: TokenStore
    clock: FakeClock


def memory_tokens() -> TokenWorld:
    """Return a world in memory."""
    clock = FakeClock()
    return TokenWorld(MemoryTokens(clock), clock)


def dynamo_api_keys(client: "DynamoDBClient") -> DynamoApiKeys:
    """Return a store of API keys in tables of its own."""
    prefix = unique("keys")
    provision_tables(client, Tables(prefix))
    return DynamoApiKeys(client, prefix=prefix)


def dynamo_tokens(client: "DynamoDBClient") -> TokenWorld:
    """Return a world in tables of its own."""
    prefix = unique("tokens")
    provision_tables(client, Tables(prefix))
    clock = FakeClock()
    return TokenWorld(DynamoTokenStore(client, prefix=prefix, clock=clock), clock)
