"""The embedded AWS with a meter: the same program, which writes down every request it answers.

Belongs here: what was asked, and what a write takes. Does not: prices (``aws_calls.py``).

A write takes a unit for each kilobyte of the item before or after it, whichever is larger; twice
that in a transaction, conditions and refused writes included. Each index takes a unit for each
kilobyte that it holds of the item where what it holds changes, two such writes where its key moves.
A read takes half a unit for each four kilobytes, twice that where it is consistent.
"""

import json
import math
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any, Final, cast

from ministack import app
from ministack.services import dynamodb, s3, sqs

TO: Final = "FIREFLYASSETS_BENCH_METER"
"""Names the file that the counts are written to, twice a second."""
KB: Final = 1024
Item = dict[str, dict[str, Any]]
_DYNAMODB: Final = cast("dict[str, Any]", vars(dynamodb))
"""All writes of its items go through two functions that have no public name."""


def item_bytes(item: Item) -> int:
    """Return the size of an item as DynamoDB bills it: names and values."""
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def _value(value: dict[str, Any]) -> int:
    ((kind, said),) = value.items()
    if kind in {"S", "B"}:
        return len(str(said).encode())
    if kind == "N":
        return math.ceil(len(str(said).strip("-").replace(".", "")) / 2) + 1
    if kind in {"BOOL", "NULL"}:
        return 1
    if kind == "L":
        return 3 + sum(1 + _value(one) for one in said)
    if kind == "M":
        return 3 + len(said) + item_bytes(said)
    return sum(_value({kind[0]: one}) for one in said)


def units(size: int) -> int:
    """Return the write units of so many bytes."""
    return max(1, math.ceil(size / KB))


def index_units(described: Any, before: Item | None, after: Item | None) -> list[int]:  # noqa: ANN401 - the embedded AWS's own shape.
    """Return what each index of a table takes when an item changes."""
    found: list[int] = []
    own = {one["AttributeName"] for one in described["KeySchema"]}
    for index in described.get("GlobalSecondaryIndexes") or ():
        keys = [one["AttributeName"] for one in index["KeySchema"]]
        old, new = (_projected(one, index, own, keys) for one in (before, after))
        if old == new:
            continue
        moved = old and new and any(old[name] != new[name] for name in keys)
        written = (old, new) if moved else (new or old,)
        found += [units(item_bytes(one)) for one in written if one]
    return found


class Meter:
    """Counts requests by service and kind, and units by what they touched."""

    def __init__(self, path: Path) -> None:
        self.counts: defaultdict[str, float] = defaultdict(float)
        self._path = path
        self._held: dict[tuple[str, str, str], Item] = {}
        self._written: dict[tuple[str, str, str], tuple[Item | None, Item | None]] = {}
        self._set, self._remove = _DYNAMODB["_set_item"], _DYNAMODB["_remove_item"]
        handle = self._around_dynamodb(_DYNAMODB["handle_request"])
        _DYNAMODB.update(_set_item=self.stored, _remove_item=self.removed, handle_request=handle)
        for name, service in (("s3", s3), ("sqs", sqs)):
            made: Any = service
            made.handle_request = self._around(name, made.handle_request)
        threading.Thread(target=self._tell, daemon=True).start()

    def stored(self, table: dict[str, Any], pk: str, sk: str, item: Item) -> Any:  # noqa: ANN401
        """Note what stands in the place of what stood there."""
        key = (str(table["TableName"]), pk, sk)
        self._written[key] = (self._held.get(key), json.loads(json.dumps(item)))
        self._held[key] = json.loads(json.dumps(item))
        return self._set(table, pk, sk, item)

    def removed(self, table: dict[str, Any], pk: str, sk: str) -> Any:  # noqa: ANN401
        """Note that nothing stands there any more."""
        key = (str(table["TableName"]), pk, sk)
        self._written[key] = (self._held.pop(key, None), None)
        return self._remove(table, pk, sk)

    def _around(self, name: str, handle: Any) -> Any:  # noqa: ANN401 - another's function.
        async def counted(method: str, path: str, headers: Any, *rest: Any, **more: Any) -> Any:  # noqa: ANN401
            asked = headers.get("x-amz-target", "").split(".")[-1] or method
            self.counts[f"requests {name} {asked}"] += 1
            return await handle(method, path, headers, *rest, **more)

        return counted

    def _around_dynamodb(self, handle: Any) -> Any:  # noqa: ANN401
        async def counted(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:  # noqa: ANN401
            asked = headers.get("x-amz-target", "").split(".")[-1]
            said = cast("dict[str, Any]", json.loads(body or b"{}"))
            self._written.clear()
            answer = await handle(method, path, headers, body, query)
            self._count(asked, said, answer)
            return answer

        return counted

    def _count(self, asked: str, said: dict[str, Any], answer: Any) -> None:  # noqa: ANN401
        actions = _actions(asked, said)
        label = f"{asked} {'+'.join(sorted({self._about(one) for one in actions}))}"
        self.counts[f"requests dynamodb {label}"] += 1
        if asked in {"GetItem", "Query", "BatchGetItem", "Scan", "TransactGetItems"}:
            self.counts[f"read_units {label}"] += _read_units(said, answer)
            return
        twice = 2 if asked == "TransactWriteItems" else 1
        base = index = 0
        for before, after in self._written.values():
            base += twice * units(max(item_bytes(before or {}), item_bytes(after or {})))
        for key, (before, after) in self._written.items():
            index += sum(index_units(_DYNAMODB["_tables"][key[0]], before, after))
        # Conditions, and writes that were refused, are billed by what they looked at.
        base += twice * max(0, len(actions) - len(self._written))
        self.counts[f"write_units {label}"] += base
        self.counts[f"index_units {label}"] += index

    def _about(self, action: tuple[str, dict[str, Any]]) -> str:
        kind, said = action
        table = str(said.get("TableName", "")).rpartition("-")[2]
        return f"{kind}:{table}{said.get('IndexName', '')}"

    def _tell(self) -> None:
        while True:
            threading.Event().wait(0.5)
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps(dict(self.counts)), encoding="utf-8")
            fresh.replace(self._path)


def _actions(asked: str, said: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if asked == "TransactWriteItems":
        return [next(iter(one.items())) for one in said["TransactItems"]]
    if asked == "BatchGetItem":
        return [("Get", {"TableName": name}) for name in said["RequestItems"]]
    return [(asked.removesuffix("Item"), said)]


def _projected(item: Item | None, index: Any, own: set[str], keys: list[str]) -> Item | None:  # noqa: ANN401
    if item is None or any(name not in item for name in keys):
        return None
    if index["Projection"]["ProjectionType"] == "ALL":
        return item
    return {name: value for name, value in item.items() if name in own or name in keys}


def _read_units(said: dict[str, Any], answer: Any) -> float:  # noqa: ANN401
    status, _, body = answer
    if status != 200:
        return 0.5
    told = json.loads(body)
    found = [told["Item"]] if "Item" in told else told.get("Items", [])
    if "Responses" in told and isinstance(told["Responses"], dict):
        each = [one for items in told["Responses"].values() for one in items]
        return float(sum(max(1, math.ceil(item_bytes(one) / (4 * KB))) for one in each))
    whole = max(1, math.ceil(sum(map(item_bytes, found)) / (4 * KB)))
    return whole if said.get("ConsistentRead") else whole / 2


if __name__ == "__main__":
    Meter(Path(os.environ[TO]))  # noqa: TID251 - a bench's own variable.
    sys.argv[0] = "ministack"
    app.main()
