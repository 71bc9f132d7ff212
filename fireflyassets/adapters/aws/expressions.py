"""DynamoDB's expressions from data.

Belongs here: one conditional update as keyword arguments. Does not: sending it. Every name goes
through a placeholder, since ``status``, ``state``, ``ttl`` and others are reserved words.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws.attributes import Item, number

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        ConditionCheckTypeDef,
        PutTypeDef,
        UpdateTypeDef,
    )

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in DynamoDB's words, attributes as ``#name``, with the values it names."""

    text: str
    values: Item = field(default_factory=Item)

    def and_also(self, other: "Condition | None") -> "Condition":
        """Return the condition that both hold."""
        if other is None:
            return self
        return Condition(f"({self.text}) AND ({other.text})", {**self.values, **other.values})


@dataclass(frozen=True, slots=True)
class Change:
    """What an update does to an item."""

    sets: "Mapping[str, AttributeValueTypeDef | None]"
    """New values; None removes the attribute."""
    adds: Mapping[str, int | Decimal] = field(default_factory=dict[str, int | Decimal])
    copies: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attribute -> the attribute of the same item whose value it takes."""
    firsts: "Mapping[str, AttributeValueTypeDef]" = field(default_factory=Item)
    """Values that are written where nothing stands; what stands there stays."""
    members: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attribute that holds a set -> what becomes one of its members."""

    def and_also(self, other: "Change") -> "Change":
        """Return both at once; where one sets what the other writes first, it is set."""
        sets = {**self.sets, **other.sets}
        firsts = {**self.firsts, **other.firsts}
        return replace(
            self,
            sets=sets,
            firsts={name: value for name, value in firsts.items() if name not in sets},
            adds={**self.adds, **other.adds},
            copies={**self.copies, **other.copies},
            members={**self.members, **other.members},
        )

    def text(self) -> str:
        """Return the update expression."""
        sets = [f"#{name} = :new_{name}" for name, value in self.sets.items() if value is not None]
        sets += [f"#{name} = #{source}" for name, source in self.copies.items()]
        sets += [f"#{name} = if_not_exists(#{name}, :first_{name})" for name in self.firsts]
        clauses = {
            "SET": sets,
            "REMOVE": [f"#{name}" for name, value in self.sets.items() if value is None],
            "ADD": [f"#{name} :add_{name}" for name in (*self.adds, *self.members)],
        }
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)

    def values(self) -> Item:
        """Return the values that the expression names."""
        sets = {f":new_{name}": value for name, value in self.sets.items() if value is not None}
        sets |= {f":add_{name}": number(by) for name, by in self.adds.items()}
        sets |= {f":first_{name}": value for name, value in self.firsts.items()}
        return {**sets, **{f":add_{name}": {"SS": [one]} for name, one in self.members.items()}}


def update(
    table: str, key: Item, change: Change, condition: Condition | None = None
) -> "UpdateTypeDef":
    """Return an update that answers with the stored item when its condition fails."""
    request: UpdateTypeDef = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": change.text(),
        "ExpressionAttributeNames": names(change.text()),
        "ExpressionAttributeValues": change.values(),
    }
    if condition is None:
        return request
    return {
        **request,
        "ConditionExpression": condition.text,
        "ExpressionAttributeNames": names(change.text(), condition.text),
        "ExpressionAttributeValues": {**condition.values, **change.values()},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def put(table: str, item: Item, condition: Condition | None = None) -> "PutTypeDef":
    """Return a write of a whole item that answers with the stored one when its condition fails."""
    if condition is None:
        return {"TableName": table, "Item": item}
    request: PutTypeDef = {
        "TableName": table,
        "Item": item,
        "ConditionExpression": condition.text,
        "ExpressionAttributeNames": names(condition.text),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if condition.values:
        request["ExpressionAttributeValues"] = condition.values
    return request


def new(key: str) -> Condition:
    """Return the condition that no item with that key attribute is there."""
    return Condition(f"attribute_not_exists(#{key})")


def check(table: str, key: Item, condition: Condition) -> "ConditionCheckTypeDef":
    """Return a condition on an item that a transaction does not write."""
    return {
        "TableName": table,
        "Key": key,
        "ConditionExpression": condition.text,
        "ExpressionAttributeNames": names(condition.text),
        "ExpressionAttributeValues": condition.values,
    }


def names(*expressions: str) -> dict[str, str]:
    """Return what the ``#name`` placeholders of *expressions* stand for."""
    return {f"#{name}": name for name in _NAME.findall(" ".join(expressions))}
