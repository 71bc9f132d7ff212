"""DynamoDB's typed attributes to and from Python's values.

Belongs here: one form for each kind of value. Does not: which attributes an item has.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Item = dict[str, "AttributeValueTypeDef"]


def text(value: str) -> "AttributeValueTypeDef":
    """Return a string attribute."""
    return {"S": value}


def number(value: int | Decimal) -> "AttributeValueTypeDef":
    """Return a number attribute; never from a float, which would round money."""
    return {"N": str(value)}


def flag(*, value: bool) -> "AttributeValueTypeDef":
    """Return a boolean attribute."""
    return {"BOOL": value}


def texts(values: Sequence[str]) -> "AttributeValueTypeDef":
    """Return a list of strings, in order."""
    return {"L": [text(value) for value in values]}


def within(folder: str, keys: Sequence[str]) -> "AttributeValueTypeDef":
    """Return keys of objects without the *folder* that they share, as `whole` reads them."""
    inside = f"{folder}/"
    return texts([key[len(folder) :] if key.startswith(inside) else key for key in keys])


def whole(folder: str, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the keys that `within` wrote; none of ours begins with a slash by itself."""
    return tuple(f"{folder}{key}" if key.startswith("/") else key for key in keys)


def mapping(item: Mapping[str, "AttributeValueTypeDef"]) -> "AttributeValueTypeDef":
    """Return a map attribute."""
    return {"M": item}


def instant(value: datetime) -> "AttributeValueTypeDef":
    """Return a time as a string that sorts by time."""
    return text(iso(value))


def iso(value: datetime) -> str:
    """Return ISO-8601 in UTC with a Z, cut to the millisecond.

    Raises:
        ValueError: The time is naive.
    """
    if value.tzinfo is None:
        raise ValueError(f"{value} has no time zone; take times from a Clock.")
    whole = value.astimezone(UTC).isoformat(timespec="milliseconds")
    return whole.removesuffix("+00:00") + "Z"


def epoch(value: datetime) -> "AttributeValueTypeDef":
    """Return a time as whole seconds since 1970, the form that DynamoDB's expiry reads."""
    return number(int(value.timestamp()))


def present(attributes: Mapping[str, "AttributeValueTypeDef | None"]) -> Item:
    """Return the attributes that are not None."""
    return {name: value for name, value in attributes.items() if value is not None}


class Reader:
    """Typed access to an item. A missing or mistyped attribute is a bug and says its name."""

    def __init__(self, item: Mapping[str, "AttributeValueTypeDef"]) -> None:
        self._item = item

    def has(self, name: str) -> bool:
        """Say whether the attribute is there."""
        return name in self._item

    def text(self, name: str) -> str:
        """Return a string."""
        value = self._item[name].get("S")
        if value is None:
            raise _mistyped(name, "a string")
        return value

    def maybe_text(self, name: str) -> str | None:
        """Return a string, or None where the attribute is absent."""
        return self.text(name) if self.has(name) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings."""
        values: Sequence[AttributeValueTypeDef] | None = self._item[name].get("L")
        if values is None:
            raise _mistyped(name, "a list")
        return tuple(Reader({name: value}).text(name) for value in values)

    def members(self, name: str) -> frozenset[str]:
        """Return a set of strings, which is empty where the attribute is absent."""
        return frozenset(self._item[name].get("SS", ())) if self.has(name) else frozenset()

    def decimal(self, name: str) -> Decimal:
        """Return a number, exactly."""
        value = self._item[name].get("N")
        if value is None:
            raise _mistyped(name, "a number")
        return Decimal(value)

    def maybe_decimal(self, name: str) -> Decimal | None:
        """Return a number, or None where the attribute is absent."""
        return self.decimal(name) if self.has(name) else None

    def integer(self, name: str) -> int:
        """Return a whole number."""
        return int(self.decimal(name))

    def maybe_integer(self, name: str) -> int | None:
        """Return a whole number, or None where the attribute is absent."""
        return self.integer(name) if self.has(name) else None

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        value = self._item[name].get("BOOL")
        if value is None:
            raise _mistyped(name, "a boolean")
        return value

    def instant(self, name: str) -> datetime:
        """Return a time, aware, in UTC."""
        return datetime.fromisoformat(self.text(name))

    def maybe_instant(self, name: str) -> datetime | None:
        """Return a time, or None where the attribute is absent."""
        return self.instant(name) if self.has(name) else None

    def maybe_epoch(self, name: str) -> datetime | None:
        """Return a time kept as seconds since 1970, or None where the attribute is absent."""
        return datetime.fromtimestamp(self.integer(name), UTC) if self.has(name) else None

    def mapping(self, name: str) -> "Reader":
        """Return a map's own reader."""
        value: Mapping[str, AttributeValueTypeDef] | None = self._item[name].get("M")
        if value is None:
            raise _mistyped(name, "a map")
        return Reader(value)

    def readers(self, name: str) -> tuple["Reader", ...]:
        """Return the readers of a list of maps."""
        values: Sequence[AttributeValueTypeDef] | None = self._item[name].get("L")
        if values is None:
            raise _mistyped(name, "a list")
        return tuple(Reader({name: value}).mapping(name) for value in values)

    def names(self) -> tuple[str, ...]:
        """Return the names of all attributes."""
        return tuple(self._item)


def _mistyped(name: str, kind: str) -> TypeError:
    return TypeError(f"Attribute {name} is not {kind}.")
