"""Stores of webhooks to check the port's promises on, and the values that such tests write.

Here: worlds and builders. Not here: promises.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws.webhooks import DynamoWebhooks
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.webhooks import MemoryWebhooks
from fireflyassets.adapters.outbox import told_of
from fireflyassets.core.endpoint import Delivery, Endpoint, Kind, delivery_of
from fireflyassets.core.event import Event
from fireflyassets.ports.webhooks import WebhookStore
from fireflyassets_tests.contracts import ledgers
from fireflyassets_tests.contracts.ledgers import ACME, NOON

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True)
class World:
    """One empty store, and the ledger whose events it tells."""

    store: WebhookStore
    ledger: ledgers.World


def over(ledger: MemoryLedger) -> MemoryWebhooks:
    """Return a store in memory that tells what a ledger in memory has written."""
    return MemoryWebhooks(
        lambda: [
            *ledger.events(),
            *(
                told
                for one in (*ledger.outbox, *ledger.budget_events)
                if (told := told_of(one)) is not None
            ),
        ]
    )


def memory_world() -> World:
    """Return a world in memory."""
    world = ledgers.memory_world()
    assert isinstance(world.ledger, MemoryLedger)
    return World(over(world.ledger), world)


def dynamo_world(client: "DynamoDBClient", prefix: str) -> World:
    """Return a world in tables of its own, made now."""
    world = ledgers.dynamo_world(client, prefix)
    return World(DynamoWebhooks(client, prefix=prefix), world)


def endpoint(name: str = "ep_1", customer: str = ACME, **changes: object) -> Endpoint:
    """Return an endpoint with legal defaults."""
    said: dict[str, object] = {
        "kind": Kind.WEBHOOK,
        "url": f"https://hooks.example.com/{name}",
        "types": frozenset(),
        "created_at": NOON,
    }
    return Endpoint(customer, name, **(said | changes))  # pyright: ignore[reportArgumentType]


def delivery(event: Event, to: Endpoint, **changes: object) -> Delivery:
    """Return a delivery that is due at noon."""
    said: dict[str, object] = {"due_at": NOON, "asked_at": NOON}
    return delivery_of(event, to, '{"a":"🌿"}', **(said | changes))  # pyright: ignore[reportArgumentType]
