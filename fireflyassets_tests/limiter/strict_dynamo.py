"""A DynamoDB table that accepts only what DynamoDB's grammar is sure to accept.

Here: a parser of the part of the expression grammar that the limiter may use, and a table that runs
parsed expressions, one call at a time. Not here: the limiter's promises. Emulators accept sums of
three terms and arithmetic in conditions, which the service refuses; this table refuses them too.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import eq, ge, gt, le, lt
from typing import Any, cast

from botocore.exceptions import ClientError

Attributes = dict[str, dict[str, Any]]
Request = dict[str, Any]
NAME = re.compile(r"[a-z]+(\.#[a-z]+)?\Z")
VALUE = re.compile(r":[a-z]+\Z")
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


class GrammarError(AssertionError):
    """The expression is outside the grammar."""


@dataclass(frozen=True)
class Assignment:
    """``target = left`` or ``target = left + right`` or ``target = left - right``."""

    target: str
    left: str
    sign: int
    right: str | None


@dataclass(frozen=True)
class Comparison:
    """``left comparator right``; *comparator* ``missing`` asks that *left* does not exist."""

    left: str
    comparator: str
    right: str


@cache
def parse_update(text: str) -> tuple[Assignment, ...]:
    """Parse a SET expression with at most one plus or minus per value."""
    keyword, _, clauses = text.partition(" ")
    if keyword != "SET":
        raise GrammarError(f"Only SET is used, not {keyword!r}.")
    return tuple(_assignment(clause.strip()) for clause in clauses.split(","))


def _assignment(clause: str) -> Assignment:
    match clause.split(" "):
        case [target, "=", left]:
            return Assignment(_name(target), _operand(left), 0, None)
        case [target, "=", left, ("+" | "-") as sign, right]:
            direction = 1 if sign == "+" else -1
            return Assignment(_name(target), _operand(left), direction, _operand(right))
        case _:
            raise GrammarError(f"Not an assignment: {clause!r}.")


@cache
def parse_condition(text: str) -> tuple[Comparison, ...]:
    """Parse comparisons joined by AND, without arithmetic and without OR."""
    return tuple(_comparison(term.strip()) for term in text.split(" AND "))


def _comparison(term: str) -> Comparison:
    if missing := re.fullmatch(r"attribute_not_exists\(([\w.#]+)\)", term):
        return Comparison(_name(missing[1]), "missing", "")
    match term.split(" "):
        case [left, comparator, right] if comparator in COMPARISONS:
            return Comparison(_name(left), comparator, _operand(right))
        case _:
            raise GrammarError(f"Not a comparison: {term!r}.")


def _name(word: str) -> str:
    if not NAME.match(word):
        raise GrammarError(f"Not an attribute name: {word!r}.")
    return word


def _operand(word: str) -> str:
    return word if VALUE.match(word) else _name(word)


def named_values(update: str, condition: str) -> set[str]:
    """Return the values that both expressions name; the service refuses others."""
    assignments, comparisons = parse_update(update), parse_condition(condition)
    words = [word for a in assignments for word in (a.left, a.right or "")]
    words += [c.right for c in comparisons]
    return {word for word in words if word.startswith(":")}


@dataclass
class StrictTable:
    """The client of one table, in memory.

    *spare_values* allows values that no expression names, which the service refuses: a test that
    takes a condition away leaves its value behind.
    """

    items: dict[str, Attributes] = field(default_factory=dict[str, Attributes])
    spare_values: bool = False

    def get_item(self, **request: object) -> Request:
        """Read an item."""
        assert request["ConsistentRead"]
        item = self.items.get(cast("Request", request)["Key"]["pk"]["S"])
        return {"Item": dict(item)} if item is not None else {}

    def update_item(self, **request: object) -> Request:
        """Apply the update if its condition holds, and answer with the whole item."""
        return self.apply(cast("Request", request))

    def apply(self, request: Request) -> Request:
        """Apply *request*, perhaps not for the first time."""
        assert request["ReturnValues"] == "ALL_NEW"
        assert request["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"
        key, values = request["Key"]["pk"]["S"], request["ExpressionAttributeValues"]
        update, condition = request["UpdateExpression"], request["ConditionExpression"]
        named = named_values(update, condition)
        if not (named <= set(values) if self.spare_values else named == set(values)):
            raise GrammarError(f"Values named and given differ: {update} IF {condition}")
        named_paths = request.get("ExpressionAttributeNames", {})
        paths = {word for word in (update + condition).split() if "#" in word}
        if bool(named_paths) != bool(paths):
            raise GrammarError(f"Names used and given differ: {update} IF {condition}")
        stored = self.items.get(key)
        seen = _flat(stored, named_paths)
        if not all(_holds(seen, comparison, values) for comparison in parse_condition(condition)):
            raise _lost(stored)
        assigned = {a.target: _assigned(seen or {}, a, values) for a in parse_update(update)}
        after: Attributes = {"pk": {"S": key}, **(stored or {})}
        for target, value in assigned.items():
            name, _, within = target.partition(".")
            inside = {"M": {**after[name]["M"], named_paths[within]: value}} if within else value
            after[name] = inside
        self.items[key] = after
        return {"Attributes": dict(after)}


def _flat(stored: Attributes | None, names: Mapping[str, str]) -> Attributes | None:
    """Return the item with what is named within its maps beside the maps."""
    if stored is None:
        return None
    within = {
        f"{name}.{alias}": value["M"][word]
        for name, value in stored.items()
        for alias, word in names.items()
        if "M" in value and word in value["M"]
    }
    return {**stored, **within}


def _lost(stored: Attributes | None) -> ClientError:
    response: Request = {"Error": {"Code": "ConditionalCheckFailedException"}}
    if stored is not None:
        response["Item"] = dict(stored)
    return ClientError(response, "UpdateItem")  # pyright: ignore[reportArgumentType] - open dict.


def _holds(stored: Attributes | None, comparison: Comparison, values: Attributes) -> bool:
    if comparison.comparator == "missing":
        return stored is None or comparison.left not in stored
    if stored is None:
        return False
    left, right = (
        _number(stored, values, comparison.left),
        _number(stored, values, comparison.right),
    )
    return COMPARISONS[comparison.comparator](left, right)


def _assigned(stored: Attributes, assignment: Assignment, values: Attributes) -> dict[str, str]:
    if assignment.right is None:
        word = assignment.left
        return values[word] if word.startswith(":") else stored[word]
    left = _number(stored, values, assignment.left)
    right = _number(stored, values, assignment.right)
    return {"N": str(left + assignment.sign * right)}


def _number(stored: Attributes, values: Attributes, word: str) -> int:
    return int((values if word.startswith(":") else stored)[word]["N"])
