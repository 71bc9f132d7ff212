"""DynamoDB as the adapters use it: transactions, conditional writes and whole reads.

Belongs here: what a cancelled transaction means, retries of what lost to another write, pages and
unprocessed keys. Does not: what is written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict, cast

from botocore.exceptions import ClientError

from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.expressions import Condition, names
from fireflyassets.adapters.aws.outages import told
from fireflyassets.core.errors import StoreUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        KeysAndAttributesTypeDef,
        PutTypeDef,
        QueryInputTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )

TRANSACTION_ITEMS: Final = 100
BATCH_GET_KEYS: Final = 100

_STORE: Final = "DynamoDB"
_FAILED: Final = "ConditionalCheckFailed"
_PASSING: Final = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
"""Reasons of a cancellation that another try may not meet; the client does not retry them."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The write happened; *item* is what stands there now, where the call can tell."""

    item: Item


@dataclass(frozen=True, slots=True)
class Lost:
    """The condition failed and nothing was written; *item* is what stands there, if anything."""

    item: Item | None


@dataclass(frozen=True, slots=True)
class Committed:
    """All items of the transaction were written."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """None was written: position of each failed condition -> the item that stands there."""

    failed: Mapping[int, Item | None]


class Database:
    """A client with our own retries on top of its. Shared by threads.

    Every call raises `StoreUnavailable` where the service does not answer.
    """

    def __init__(self, client: "DynamoDBClient", backoff: Backoff) -> None:
        self._client = client
        self._backoff = backoff

    @told(_STORE)
    def transact(self, items: "Sequence[TransactWriteItemTypeDef]") -> Committed | Cancelled:
        """Write all *items* or none, at most 100; conflicts with other transactions are retried.

        The client sends a token of its own, so that a retry after a lost answer writes once.

        Raises:
            StoreUnavailable: The conflicts did not end.
            ClientError: The request itself is wrong.
        """
        for _ in self._backoff.pauses():
            try:
                self._client.transact_write_items(TransactItems=items)
            except ClientError as error:
                codes = [reason.get("Code", "") for reason in _reasons(error)]
                if _FAILED in codes:
                    return _cancelled(error)
                if not _PASSING.intersection(codes):
                    raise
            else:
                return Committed()
        raise StoreUnavailable(_STORE, "transactions conflict without end")

    @told(_STORE)
    def update(self, request: "UpdateTypeDef") -> Applied | Lost:
        """Send one conditional update."""
        try:
            answer = self._client.update_item(**request, ReturnValues="ALL_NEW")
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return Lost(_stored(error))
        return Applied(answer.get("Attributes", {}))

    @told(_STORE)
    def put(self, request: "PutTypeDef") -> Applied | Lost:
        """Send one conditional put."""
        try:
            self._client.put_item(**request)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return Lost(_stored(error))
        return Applied({})

    @told(_STORE)
    def delete(self, table: str, key: Item) -> None:
        """Remove an item; one that is not there is fine."""
        self._client.delete_item(TableName=table, Key=key)

    @told(_STORE)
    def get(self, table: str, key: Item) -> Item | None:
        """Read one item consistently."""
        answer = self._client.get_item(TableName=table, Key=key, ConsistentRead=True)
        return answer.get("Item")

    def get_many(self, table: str, keys: Iterable[Item]) -> list[Item]:
        """Read items consistently, in no order; keys must differ, unknown ones are left out."""
        waiting: list[Mapping[str, AttributeValueTypeDef]] = list(keys)
        found: list[Item] = []
        while waiting:
            chunk, waiting = waiting[:BATCH_GET_KEYS], waiting[BATCH_GET_KEYS:]
            found += self._get_chunk(table, chunk)
        return found

    @told(_STORE)
    def _get_chunk(
        self, table: str, keys: "list[Mapping[str, AttributeValueTypeDef]]"
    ) -> list[Item]:
        found: list[Item] = []
        for _ in self._backoff.pauses():
            wanted: KeysAndAttributesTypeDef = {"Keys": keys, "ConsistentRead": True}
            answer = self._client.batch_get_item(RequestItems={table: wanted})
            found += answer["Responses"].get(table, [])
            left = answer["UnprocessedKeys"].get(table)
            if not left:
                return found
            keys = list(left["Keys"])
        raise StoreUnavailable(_STORE, f"{len(keys)} keys of {table} stayed unprocessed")

    def pages(self, query: "QueryInputTypeDef") -> Iterator[Item]:
        """Yield all items of a query; an empty page is not the end of them."""
        start: Item | None = None
        while True:
            more = {"ExclusiveStartKey": start} if start else {}
            with told(_STORE):
                answer = self._client.query(**cast("QueryInputTypeDef", {**query, **more}))
            yield from answer["Items"]
            start = answer.get("LastEvaluatedKey")
            if not start:
                return

    def column(self, table: str, index: str, name: str) -> Iterator[str]:
        """Yield one text attribute of every item in a sparse index, page by page."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=table,
            IndexName=index,
            ProjectionExpression="#name",
            ExpressionAttributeNames={"#name": name},
        )
        for page in pages:
            for item in page["Items"]:
                yield Reader(item).text(name)


def query(table: str, condition: Condition, *, index: str | None = None) -> "QueryInputTypeDef":
    """Return a query: consistent on the table itself, on an index as stale as indexes are."""
    source: QueryInputTypeDef = {
        "TableName": table,
        "KeyConditionExpression": condition.text,
        "ExpressionAttributeNames": names(condition.text),
        "ExpressionAttributeValues": condition.values,
    }
    return {**source, "IndexName": index} if index else {**source, "ConsistentRead": True}


def filtered(request: "QueryInputTypeDef", condition: Condition) -> "QueryInputTypeDef":
    """Return the query without the items that *condition* does not hold for; all are read."""
    return {
        **request,
        "FilterExpression": condition.text,
        "ExpressionAttributeNames": {
            **request.get("ExpressionAttributeNames", {}),
            **names(condition.text),
        },
        "ExpressionAttributeValues": {
            **request.get("ExpressionAttributeValues", {}),
            **condition.values,
        },
    }


class _Reason(TypedDict, total=False):
    """Why one item cancelled its transaction; the stubs give it no attributes."""

    Code: str
    Item: Item


def _reasons(error: ClientError) -> list[_Reason]:
    return cast("list[_Reason]", error.response.get("CancellationReasons", []))


def _stored(error: ClientError) -> Item | None:
    return cast("_Reason", error.response).get("Item")


def _cancelled(error: ClientError) -> Cancelled:
    return Cancelled(
        {
            place: reason.get("Item")
            for place, reason in enumerate(_reasons(error))
            if reason.get("Code") == _FAILED
        }
    )
