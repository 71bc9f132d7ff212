"""What a job's row takes of budgets, beside each of its moves in DynamoDB.

Belongs here: the counters' writes and the condition on a row's booking. Does not: whether something
fits (``adapters/budget_rules.py``), when a job moves.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import budget_codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.expressions import Change, Condition, put, update
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.budget_rules import Asking, overrun_event
from fireflyassets.core.budget import ZERO, Block, Booking

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


def given_back(tables: Tables, block: Block) -> "list[TransactWriteItemTypeDef]":
    """Return what takes a block away as it was seen, and what is left of it off its counters."""
    of = (block.customer, block.month, block.scopes)
    return [block_part(tables.budgets, block, block.left), *_moved(tables, *of, -block.left, ZERO)]


def _moved(
    tables: Tables, customer: str, month: str, scopes: Iterable[str], taken: Decimal, spent: Decimal
) -> "list[TransactWriteItemTypeDef]":
    change = Change({}, adds={"taken": taken, "spent": spent})
    keys = [budget_codec.counter_key(customer, month, scope) for scope in scopes]
    return [{"Update": update(tables.budgets, key, change)} for key in keys if taken or spent]


def block_part(table: str, block: Block, held: Decimal) -> "TransactWriteItemTypeDef":
    """Return what takes a part out of a block as it was seen; the last part takes it away."""
    key = budget_codec.block_key(block)
    seen = Condition("#left = :left", {":left": to.number(block.left)})
    if block.left != held:
        change = Change({"left": to.number(block.left - held)})
        return {"Update": update(table, key, change, seen)}
    return {
        "Delete": {
            "TableName": table,
            "Key": key,
            "ConditionExpression": seen.text,
            "ExpressionAttributeNames": {"#left": "left"},
            "ExpressionAttributeValues": seen.values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def settled(
    tables: Tables,
    job_id: str,
    customer: str,
    before: Booking | None,
    after: Booking | None,
    at: datetime,
) -> "list[TransactWriteItemTypeDef]":
    """Return what moves the counters of a job that has ended, and tells if it took too much."""
    if before is None or after is None:
        return []
    of = (customer, before.month, before.scopes)
    writes = _moved(tables, *of, after.taken - before.taken, after.spent - before.spent)
    if event := overrun_event(job_id, customer, before, after, at):
        writes.append({"Put": put(tables.outbox, budget_codec.event_item(event))})
    return writes


def replayed(
    tables: Tables, customer: str, month: str, standings: Iterable[Asking]
) -> "list[TransactWriteItemTypeDef]":
    """Return what takes more for a job that is run again, if it still fits."""
    return [
        {
            "Update": update(
                tables.budgets,
                budget_codec.counter_key(customer, month, one.cap.scope),
                Change({}, adds={"taken": one.wanted}),
                Condition("#taken <= :most", {":most": to.number(one.most)}),
            )
        }
        for one in standings
    ]


def written(booking: Booking | None) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what a row's change says of its booking; nothing where it has none."""
    return {"booking": budget_codec.booking_attribute(booking)} if booking else {}


def as_read(booking: Booking | None) -> Condition:
    """Return the condition that a row's booking stands as it was read."""
    if booking is None:
        return Condition("attribute_not_exists(#booking)")
    values: Item = {":held": to.number(booking.held), ":spent": to.number(booking.spent)}
    return Condition("#booking.#held = :held AND #booking.#spent = :spent", values)
