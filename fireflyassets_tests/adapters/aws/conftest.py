"""What the tests of the AWS adapters share.

Here: clients and a ledger in tables of its own, with its wire. Not here: promises of ports.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets_tests.aws_clients import Wire, aws_environment, dynamodb, s3, sqs
from fireflyassets_tests.contracts.ledgers import World, dynamo_world
from fireflyassets_tests.contracts.stores import unique

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["dynamodb", "s3", "sqs"]  # Fixtures, shared with the suites of the ports.


@dataclass
class Waits:
    """Stands in for waiting: notes how long it would have been."""

    waited: list[timedelta] = field(default_factory=list)

    def backoff(self, tries: int = 9) -> Backoff:
        """Return a backoff that waits here, each time its longest."""
        return Backoff(tries=tries, wait=self.waited.append, jitter=lambda: 1.0)


@dataclass(frozen=True)
class WiredLedger:
    """A ledger with a client of its own, its wire, and the world that the port's suites use."""

    world: World
    ledger: DynamoLedger
    wire: Wire
    tables: Tables
    client: "DynamoDBClient"
    waits: Waits


@pytest.fixture
def wired(ministack: str) -> Iterator[WiredLedger]:
    """Yield an empty ledger whose requests can be counted and tampered with."""
    prefix = unique("wired")
    with aws_environment(ministack):
        client = clients.dynamodb()
    world = dynamo_world(client, prefix)
    waits = Waits()
    ledger = DynamoLedger(client, prefix=prefix, backoff=waits.backoff())
    yield WiredLedger(
        replace(world, ledger=ledger), ledger, Wire(client), Tables(prefix), client, waits
    )
    client.close()
