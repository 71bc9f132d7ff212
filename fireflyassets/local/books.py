"""What the twin wrote down: Adobe's side of the account, for the demo to compare with ours.

Belongs here: fetching the twin's list and totals. Does not: arithmetic on them (``figures.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

import httpx

from fireflyassets.local.figures import Call, read_calls

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
