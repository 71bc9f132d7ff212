"""The limiter's protocol in DynamoDB: one item per paced thing, one UpdateItem per write.

Here: the client, its faults and the table. Not here: the expressions (`dynamodb_words`), which
write comes next (`protocol`).

A write answers with the new item, a lost write with the stored one: neither needs a read. A retry
of a write whose answer was lost can lose tickets, never hand one out twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own root of failed connections.
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
)

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.clock import Watch
from fireflyassets.limiter.conditional import Applied, ConditionalLimiter, Lost
from fireflyassets.limiter.dynamodb_words import (
    LAYOUT,
    UPGRADE,
    Expression,
    Expressions,
    decode,
    names_in,
    numbers_of,
    spell,
    whole,
)
from fireflyassets.limiter.errors import LimiterUnavailable, TableMissing
from fireflyassets.limiter.protocol import Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        CreateTableInputTypeDef,
        UniversalAttributeValueTypeDef,
        UpdateItemInputTypeDef,
    )

KEY: Final = "pk"
OUTAGES: Final = (HTTPClientError, ConnectionError, NoCredentialsError, CredentialRetrievalError)
OUR_FAULT: Final = "ValidationException"
MISSING: Final = "ResourceNotFoundException"
LOST: Final = "ConditionalCheckFailedException"


def table_spec(name: str) -> "CreateTableInputTypeDef":
    """Return what to create: one string key, nothing else, paid per request."""
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": KEY, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": KEY, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


class DynamoLimiter(ConditionalLimiter):
    """A limiter shared by every process that reaches the table.

    One item sustains about 1,000 writes a second, which one organisation never needs: do not shard.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        table: str,
        now: Callable[[], datetime],
        watch: Watch | None = None,
        expressions: Expressions | None = None,
    ) -> None:
        super().__init__(now=now, watch=watch)
        self._client = client
        self._table = table
        self._expressions = expressions or Expressions()

    def _read(self, item: str) -> State | None:
        stored = self._get(item)
        while (state := decode(stored)) is not None and not stored.keys() >= LAYOUT:
            old = numbers_of({"was": state.epoch, "old": state.sequence})
            values = whole(replace(state, sequence=state.sequence + 1)) | old
            _, stored = self._update(item, UPGRADE, values)
        return state

    def _get(self, key: str) -> "Mapping[str, AttributeValueTypeDef]":
        try:
            answer = self._client.get_item(
                TableName=self._table, Key={KEY: {"S": key}}, ConsistentRead=True
            )
        except (ClientError, *OUTAGES) as error:
            raise self._unavailable(key, error) from error
        return answer.get("Item", {})

    def _write(self, item: str, write: Write) -> Applied | Lost:
        expression, values = spell(write, self._expressions)
        is_applied, stored = self._update(item, expression, values, names_in(write))
        state = decode(stored) if stored.keys() >= LAYOUT else self._read(item)
        return Applied(state) if is_applied and state else Lost(state)

    def _update(
        self,
        key: str,
        expression: Expression,
        values: "Mapping[str, UniversalAttributeValueTypeDef]",
        names: Mapping[str, str] | None = None,
    ) -> "tuple[bool, Mapping[str, AttributeValueTypeDef]]":
        """Say whether the update held, and return what is stored after it."""
        request: UpdateItemInputTypeDef = {
            "TableName": self._table,
            "Key": {KEY: {"S": key}},
            "UpdateExpression": expression.update,
            "ConditionExpression": expression.condition,
            "ExpressionAttributeValues": values,
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if names:
            request["ExpressionAttributeNames"] = names
        try:
            answer = self._client.update_item(**request)
        except (ClientError, *OUTAGES) as error:
            if not isinstance(error, ClientError) or _code(error) != LOST:
                raise self._unavailable(key, error) from error
            return False, error.response.get("Item", {})
        return True, answer["Attributes"]

    def _unavailable(self, item: str, error: Exception) -> Exception:
        """Return what to raise: what keeps the table from answering is no bug of ours."""
        if not isinstance(error, ClientError):
            return LimiterUnavailable(item, type(error).__name__)
        if _code(error) == MISSING:
            return TableMissing(item, self._table)
        return error if _code(error) == OUR_FAULT else LimiterUnavailable(item, _code(error))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
