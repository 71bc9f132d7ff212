"""Totals over the list of calls.

Belongs here: counts, sums and peaks for `GET /_twin/summary`. Does not belong here: rows.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from fireflyassets.twin.bills import Bills, CallRow

_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)


def busiest(times: Sequence[datetime], span: timedelta) -> int:
    """Return the largest number of *times* (sorted) within any stretch of *span*."""
    most = first = 0
    for last, time in enumerate(times):
        while times[first] <= time - span:
            first += 1
        most = max(most, last - first + 1)
    return most


def summarised(bills: Bills) -> dict[str, object]:
    """Return the totals, whole and per organisation and family."""
    groups: dict[str, list[CallRow]] = {}
    for row in bills.rows:
        groups.setdefault(f"{row.organisation}#{row.family}", []).append(row)
    return {
        **_totals(bills.rows),
        "http_429": sum(bills.throttled.values()),
        "http_429_by_endpoint": dict(bills.throttled),
        "polls": sum(bills.polls.values()),
        "mints": dict(bills.mints),
        "by_organisation_and_family": {key: _totals(rows) for key, rows in groups.items()},
    }


def _totals(rows: Iterable[CallRow]) -> dict[str, object]:
    listed = list(rows)
    billed = [row for row in listed if row.billed]
    times = sorted(row.at for row in listed if row.counted)
    return {
        "calls": len(listed),
        "accepted": sum(row.accepted for row in listed),
        "billed": len(billed),
        "outputs_billed": sum(row.outputs for row in billed),
        "operations": str(sum((row.operations for row in billed), Decimal(0))),
        "dropped": sum(row.status is None for row in listed),
        "by_status": _counted(str(row.status) for row in listed),
        "by_endpoint": _counted(row.endpoint for row in listed),
        "max_in_1_second": busiest(times, _SECOND),
        "max_in_60_seconds": busiest(times, _MINUTE),
    }


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words))
