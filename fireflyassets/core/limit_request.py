"""The case for a higher limit: what a plan needs of Adobe, in words for their account team.

Belongs here: the figures and the text. Does not: the plan (``plan.py``).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from fireflyassets.core.failure import Family
from fireflyassets.core.finish import BEGINNING, Finish
from fireflyassets.core.plan import Sums

_DAY: Final = timedelta(days=1)
WORKING_DAY: Final = timedelta(hours=8)
"""In how long a brief should be made where no deadline is named."""
HEADROOM: Final = 0.8
"""The share of a limit that calls are paced to."""
_HOW_WE_CALL: Final = (
    "",
    "How we call:",
    (
        "- All processes of the organisation share one pace of at most 80 % of the limit, without "
        "bursts: calls are evenly spaced."
    ),
    "- Retry-After holds every process at once, and each refusal lowers the pace to 85 %.",
    "- Calls are asynchronous; each job is polled about twice, under a limit of its own.",
    "- No paid call is sent again unless Adobe has refused it.",
)


@dataclass(frozen=True, slots=True)
class Granted:
    """What Adobe grants an organisation for one family now."""

    per_minute: int
    per_day: int | None
    source: str
    as_of: date


@dataclass(frozen=True, slots=True)
class Needed:
    """What one family's limit would have to be."""

    calls: int
    per_minute: int
    """The peak."""
    per_day: int
    """Calls of the busiest day."""


def needed(sums: Sums, within: timedelta) -> dict[Family, Needed]:
    """Return what the limits would have to be for jobs to be made within a time."""
    working = max(within - BEGINNING, timedelta(minutes=1))
    found: dict[Family, Needed] = {}
    for family, calls in sums.calls.items():
        each_minute = calls / (working / timedelta(minutes=1)) / HEADROOM
        of_day = calls if within <= _DAY else calls / (within / _DAY)
        found[family] = Needed(math.ceil(calls), math.ceil(each_minute), math.ceil(of_day))
    return found


def text(
    organisation: str,
    slug: str,
    sums: Sums,
    granted: Mapping[Family, Granted],
    finish: Finish,
    *,
    now: datetime,
    within: timedelta,
) -> str:
    """Return the request as a text to send on."""
    hours = within / timedelta(hours=1)
    takes = (finish.p50 - now) / timedelta(hours=1)
    lines = [
        f"Request for higher API limits of organisation {organisation}",
        "",
        (
            f"Campaign {slug}: {sums.jobs} creatives, {sums.renditions} renditions. They are to be "
            f"made within {hours:.3g} hours; under the limits of now they take {takes:.3g} hours."
        ),
    ]
    for family, need in needed(sums, within).items():
        lines += _of_family(family, need, granted[family])
    return "\n".join([*lines, *_HOW_WE_CALL])


def _of_family(family: Family, need: Needed, has: Granted) -> tuple[str, ...]:
    day = f"{has.per_day} a day" if has.per_day else "no day limit"
    return (
        "",
        f"{family}: peak {need.per_minute} RPM, {need.per_day} calls a day",
        (
            f"  now: {has.per_minute} RPM, {day} ({has.source}, {has.as_of}); "
            f"{need.calls} calls in all"
        ),
    )
