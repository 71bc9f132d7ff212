"""What the twin wrote down: Adobe's side of the account, to be held against ours.

Belongs here: fetching the twin's list and totals, and seeing that a ledger is there to hold them.
Does not: arithmetic on them (``figures.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, cast

import httpx
from botocore.session import get_session

from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.local.access import Access
from fireflyassets.local.environment import DUMMY, REGION
from fireflyassets.local.figures import Call, read_calls
from fireflyassets.local.keeping import StateLost

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TIMEOUT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Books:
    """The twin's books at one moment."""

    calls: tuple[Call, ...]
    http_429: int
    """Of all calls, polls and uploads included."""
    operations: str
    """The twin's own total."""


def read_books(twin_url: str) -> Books:
    """Return the books as they stand."""
    with httpx.Client(base_url=twin_url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        listed = client.get("/_twin/calls").raise_for_status().json()
        totals = client.get("/_twin/summary").raise_for_status().json()
    rows = cast("list[Mapping[str, object]]", listed["calls"])
    summary = cast("Mapping[str, object]", totals)
    return Books(read_calls(rows), int(str(summary["http_429"])), str(summary["operations"]))


def require_ledger(access: Access, *, table_prefix: str) -> None:
    """Return unless the twin remembers bills and the ledger not a single job.

    Raises:
        StateLost: So it is: whatever is sent now would be paid again.
    """
    billed = Decimal(read_books(access.url("twin")).operations)
    if billed and _is_empty(access.url("aws"), Tables(table_prefix).jobs):
        raise StateLost(
            f"The twin has billed {billed} operations and the ledger knows no job: its rows are "
            f"lost, and the same jobs would be paid again. {StateLost.remedy}"
        )


def _is_empty(aws_url: str, table: str) -> bool:
    client = cast(
        "DynamoDBClient",
        get_session().create_client(
            "dynamodb",
            endpoint_url=aws_url,
            region_name=REGION,
            aws_access_key_id=DUMMY,
            aws_secret_access_key=DUMMY,
        ),
    )
    try:
        return client.scan(TableName=table, Limit=1)["Count"] == 0
    finally:
        client.close()
