"""Clients of the embedded AWS, as production makes them.

Here: fixtures that folders with tests of AWS import into their conftest, and what a test may do to
the requests of a client of its own. Not here: stores (`fireflyassets_tests/contracts`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from fireflyassets.adapters.aws import clients

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


@contextmanager
def aws_environment(endpoint: str) -> Iterator[None]:
    """Set AWS's usual variables to a local endpoint, as the local stack does."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", endpoint)
        environment.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        # The pair that the emulator knows: it checks the signatures of signed URLs.
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        yield


@pytest.fixture(scope="session")
def dynamodb(ministack: str) -> "Iterator[DynamoDBClient]":
    """Yield a DynamoDB client that the session shares."""
    with aws_environment(ministack):
        client = clients.dynamodb()
    yield client
    client.close()


@pytest.fixture(scope="session")
def s3(ministack: str) -> "Iterator[S3Client]":
    """Yield an S3 client that the session shares."""
    with aws_environment(ministack):
        client = clients.s3()
    yield client
    client.close()


@pytest.fixture(scope="session")
def sqs(ministack: str) -> "Iterator[SQSClient]":
    """Yield an SQS client that the session shares."""
    with aws_environment(ministack):
        client = clients.sqs()
    yield client
    client.close()


@dataclass
class Wire:
    """What a client sends, and what a test makes of it. One test's own client only."""

    client: "BaseClient"
    sent: list[str] = field(default_factory=list)
    """Operations in the order of sending, retries included."""

    _instead: dict[str, list[AWSResponse]] = field(default_factory=dict[str, list[AWSResponse]])

    def __post_init__(self) -> None:
        self.client.meta.events.register_first("before-send", self._send)

    def _send(self, request: AWSPreparedRequest, event_name: str, **_: object) -> object:
        operation = event_name.rpartition(".")[2]
        self.sent.append(operation)
        scripted = self._instead.get(operation)
        return scripted.pop(0) if scripted else None

    def count(self, call: Callable[[], object]) -> int:
        """Return the number of requests that *call* sends."""
        before = len(self.sent)
        call()
        return len(self.sent) - before

    def answer(self, operation: str, body: bytes, *, times: int, status: int = 400) -> None:
        """Answer the next *times* requests of *operation* in the service's place."""
        made = [AWSResponse("", status, {}, _Raw(body)) for _ in range(times)]
        self._instead.setdefault(operation, []).extend(made)

    def lose_answer(self, operation: str) -> None:
        """Let the next answer of *operation* get lost on its way, so that the client repeats."""
        left = [1]

        def again(**_: object) -> float | None:
            if not left[0]:
                return None
            left[0] -= 1
            return 0.0

        self.client.meta.events.register_first(f"needs-retry.*.{operation}", again)

    def rewrite(self, operation: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply *change* to the next parsed answer of *operation*."""
        left = [1]

        def rewritten(parsed: dict[str, Any], **_: object) -> None:
            if left[0]:
                left[0] -= 1
                change(parsed)

        self.client.meta.events.register(f"after-call.*.{operation}", rewritten)


@dataclass(frozen=True)
class _Raw:
    """A response's stream, as far as botocore reads it."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def stream(self, **_: object) -> Iterator[bytes]:
        """Yield the body."""
        yield self.body
