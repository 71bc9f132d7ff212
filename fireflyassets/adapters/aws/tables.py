"""The tables as data, and making everything we keep in AWS.

Belongs here: keys, indexes and expiry of each table; bucket and queues with their rules. Does not:
what the items hold (``aws/codec.py``), production's own template, which states the same.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fireflyassets.limiter.dynamodb import table_spec

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.literals import ProjectionTypeType
    from mypy_boto3_dynamodb.type_defs import (
        CreateGlobalSecondaryIndexActionTypeDef,
        CreateTableInputTypeDef,
        GlobalSecondaryIndexTypeDef,
        KeySchemaElementTypeDef,
    )

EXPIRY: Final = "ttl"
"""The attribute that DynamoDB expires items by, in every table that expires."""


@dataclass(frozen=True, slots=True)
class Index:
    """A sparse index: an item without both keys is not in it."""

    name: str
    hash_key: str
    range_key: str
    projection: "ProjectionTypeType" = "ALL"

    def creation(self) -> "CreateGlobalSecondaryIndexActionTypeDef":
        """Return what adds the index to a table that is there."""
        return {
            "IndexName": self.name,
            "KeySchema": _key_schema(self.hash_key, self.range_key),
            "Projection": {"ProjectionType": self.projection},
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose keys are all strings, paid per request."""

    name: str
    hash_key: str
    range_key: str | None = None
    indexes: tuple[Index, ...] = ()
    expires: bool = False

    def request(self) -> "CreateTableInputTypeDef":
        """Return what to create."""
        pairs = [(self.hash_key, self.range_key)]
        pairs += [(index.hash_key, index.range_key) for index in self.indexes]
        keys = sorted({key for pair in pairs for key in pair if key})
        request: CreateTableInputTypeDef = {
            "TableName": self.name,
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in keys],
            "KeySchema": _key_schema(self.hash_key, self.range_key),
            "BillingMode": "PAY_PER_REQUEST",
        }
        if self.indexes:
            request["GlobalSecondaryIndexes"] = [_index(index) for index in self.indexes]
        return request


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of all tables under one prefix."""

    prefix: str

    @property
    def jobs(self) -> str:
        """One item per job."""
        return f"{self.prefix}-jobs"

    @property
    def work(self) -> str:
        """Results, attempts and operations by job."""
        return f"{self.prefix}-work"

    @property
    def waves(self) -> str:
        """One item per wave."""
        return f"{self.prefix}-waves"

    @property
    def outbox(self) -> str:
        """One item per change of a job's status."""
        return f"{self.prefix}-outbox"

    @property
    def endpoints(self) -> str:
        """Where customers want to be told of events."""
        return f"{self.prefix}-endpoints"

    @property
    def deliveries(self) -> str:
        """One item per event and endpoint, with its tries."""
        return f"{self.prefix}-deliveries"

    @property
    def tokens(self) -> str:
        """One item per credential and scope set."""
        return f"{self.prefix}-tokens"

    @property
    def api_keys(self) -> str:
        """Keys of customers' systems, without their secrets."""
        return f"{self.prefix}-api-keys"

    @property
    def budgets(self) -> str:
        """What each month has taken of its budgets, and the blocks that stand."""
        return f"{self.prefix}-budgets"

    @property
    def audit(self) -> str:
        """What people did that must be accounted for; nothing is ever removed."""
        return f"{self.prefix}-audit"

    @property
    def reviews(self) -> str:
        """Decisions by job, and what reviewers did by customer; nothing is ever removed."""
        return f"{self.prefix}-reviews"

    @property
    def tickets(self) -> str:
        """The limiter's items."""
        return f"{self.prefix}-tickets"


QUEUE: Final = Index("queue", "queueKey", "queueSort")
"""Jobs that are queued and not held, by line and place."""
CAMPAIGN: Final = Index("campaign", "campaignKey", "campaignSort")
"""All jobs of a campaign by creation. Whole rows: they stay under the 1 kB that a write of the
index is billed by, and each page then needs no second read."""
ENDED: Final = Index("ended", "endedKey", "endedAt")
"""Ended jobs by day and shard, for export."""
DEAD: Final = Index("dead", "deadKey", "endedAt", projection="KEYS_ONLY")
"""Jobs in ``dlq``. One key: a thousand a second are more than ever end there."""
OWED: Final = Index("owed", "owedKey", "owedAt", projection="KEYS_ONLY")
"""Jobs that ended by a fault and whose snapshot is not written yet."""
OPEN_WAVES: Final = Index("open", "open", "formedAt", projection="KEYS_ONLY")
"""Waves that have not ended. Keys alone, so that a heartbeat does not write the index too."""

OPEN_CALLS: Final = Index("open", "open", "openAt", projection="KEYS_ONLY")
"""Sends that are owed an answer, by time. One key carries the 1,000 writes a second of a partition
of the index, two for each send: 500 paid calls a second."""
RUNNING: Final = Index("running", "runningKey", "runningSort", projection="KEYS_ONLY")
"""Jobs that a wave works on, by wave: wave ids sort by time, so the oldest comes first. Under a key
of their own those that no wave has and that an open call may still move."""
UNREVIEWED: Final = Index("unreviewed", "reviewKey", "campaignSort")
"""Jobs whose review is open, made or not, by campaign and creation."""
UNSHOWN: Final = Index("unshown", "unshownKey", "unshownAt", projection="KEYS_ONLY")
"""Jobs whose last decision some view does not show yet, by view and time."""

OPEN_BLOCKS: Final = Index("open", "open", "madeAt", projection="KEYS_ONLY")
"""Reservations that rows are still being written under, and briefs in mid-writing, by age."""

PENDING: Final = Index("pending", "pendingKey", "at")
"""Events that customers are to be told of and are not yet, by time. One key carries the 1,000
writes a second of a partition of the index, two for each event."""
LIVE: Final = Index("live", "live", "endpointId")
"""All endpoints: few, and written when one is changed or turns."""
DUE: Final = Index("due", "endpointId", "dueAt", projection="KEYS_ONLY")
"""Deliveries that wait, by endpoint: what hangs or fails stands in no other's way."""


def specs(tables: Tables) -> "tuple[Table, ...]":
    """Return our own tables; the limiter brings its own."""
    return (
        Table(
            tables.jobs,
            "jobId",
            "customerId",
            (QUEUE, CAMPAIGN, ENDED, DEAD, OWED, RUNNING, UNREVIEWED, UNSHOWN),
            expires=True,
        ),
        Table(tables.work, "jobId", "sk", (OPEN_CALLS,)),
        Table(tables.waves, "waveId", indexes=(OPEN_WAVES,), expires=True),
        Table(tables.outbox, "eventId", indexes=(PENDING,)),
        Table(tables.endpoints, "customer", "endpointId", (LIVE,)),
        Table(tables.deliveries, "customer", "deliveryId", (DUE,), expires=True),
        Table(tables.tokens, "entry"),
        Table(tables.api_keys, "customer", "keyId", expires=True),
        Table(tables.budgets, "budget", "sk", (OPEN_BLOCKS,)),
        Table(tables.audit, "subject", "sk"),
        Table(tables.reviews, "subject", "sk"),
    )


def requests(tables: Tables) -> "list[CreateTableInputTypeDef]":
    """Return everything to create under one prefix, the limiter's table included."""
    return [*(table.request() for table in specs(tables)), table_spec(tables.tickets)]


def _index(index: Index) -> "GlobalSecondaryIndexTypeDef":
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.hash_key, index.range_key),
        "Projection": {"ProjectionType": index.projection},
    }


def _key_schema(hash_key: str, range_key: str | None) -> "list[KeySchemaElementTypeDef]":
    keys: list[KeySchemaElementTypeDef] = [{"AttributeName": hash_key, "KeyType": "HASH"}]
    if range_key:
        keys.append({"AttributeName": range_key, "KeyType": "RANGE"})
    return keys
