"""The fence's bench reads the tables as they are: items with plain values, and what a kill left.

Belongs here: reading, with plain botocore. Does not: anything of the package under test; judging.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Row = Mapping[str, Any]
"""An item with plain values."""
Send = tuple[str, str, Decimal]
"""Job, step and number of a send."""


class Books:
    """The tables, read as they are."""

    def __init__(self, client: "DynamoDBClient", prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def all(self, table: str) -> list[Row]:
        """Return every item of a table; of the work, what each item tells of."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=f"{self._prefix}-{table}", ConsistentRead=True
        )
        rows = (plain(item) for page in pages for item in page["Items"])
        return [part for row in rows for part in (told_apart(row) if table == "work" else [row])]

    def waves(self) -> list[Row]:
        """Return every wave; leases of partition keys stand in the same table."""
        return [one for one in self.all("waves") if "state" in one]

    def work(self, job_id: str) -> list[Row]:
        """Return everything sent and made for a job."""
        pages = self._client.get_paginator("query").paginate(
            TableName=f"{self._prefix}-work",
            KeyConditionExpression="jobId = :job",
            ExpressionAttributeValues={":job": {"S": job_id}},
            ConsistentRead=True,
        )
        return [
            part for page in pages for item in page["Items"] for part in told_apart(plain(item))
        ]

    def job(self, job_id: str, customer: str) -> Row:
        """Return a job's row."""
        key = {"jobId": {"S": job_id}, "customerId": {"S": customer}}
        answer = self._client.get_item(
            TableName=f"{self._prefix}-jobs", Key=key, ConsistentRead=True
        )
        return plain(answer.get("Item", {}))


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's values without their type letters."""
    return {name: _value(value) for name, value in item.items()}


def _value(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever a table holds.
    ((kind, inner),) = value.items()
    if kind == "N":
        return Decimal(inner)
    if kind == "L":
        return [_value(one) for one in inner]
    return plain(inner) if kind == "M" else inner


def told_apart(item: Row) -> list[Row]:
    """Return the send, the result and the operations that an item of the work table holds."""
    of = {name: item[name] for name in ("jobId", "sk", "step", "generation", "n")}
    rows: list[Row] = [{**item, "kind": "attempt"}] if "state" in item else []
    if "result" in item:
        rows.append({**of, **item["result"], "kind": "step"})
    for surest, other, named in (("spent", "taken", True), ("perhaps", "maybe", False)):
        nameless = f"send:{item['step']}#{item['generation']}#{item['n']}"
        vendor_id = item.get("vendorId") if named else nameless
        both = {**_charges(item, other), **_charges(item, surest)}
        for output, charge in both.items():
            row = {**of, **charge, "kind": "operation", "output": output, "vendorId": vendor_id}
            rows.append(row)
    return rows


def _charges(item: Row, place: str) -> dict[int, Row]:
    names = [name for name in item if name.startswith(f"{place}_")]
    return {int(name.rpartition("_")[2]): item[name] for name in names}


def kind(row: Row) -> str:
    """Return what a row of the work table is: step, attempt or operation."""
    return str(row["kind"])


def when(text: str) -> datetime:
    """Return a time of either book."""
    return datetime.fromisoformat(text)


@dataclass
class Kill:
    """One SIGKILL, and all that was to be seen of it at that moment."""

    at: datetime
    run_id: str
    customer: str
    by_daemon: bool
    steps: tuple[str, ...]
    jobs: list[tuple[Row, list[Row]]]
    """Jobs that the killed wave held, each with its work."""
    arrived: dict[str, bool]
    """Id of each call that had arrived -> whether it was accepted."""
    died: set[Send]
    """Its sends that had no answer yet, whoever has their jobs by now: nobody heard the answers."""


def name_of(row: Row) -> Send:
    """Return what tells a send from any other; an operation row has the name of its send."""
    return (row["jobId"], row["step"], row["n"])
