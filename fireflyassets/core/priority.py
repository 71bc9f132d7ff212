"""Priority: which of a tenant's campaigns is worked on first.

Belongs here: by when work is wanted, as a time that can be compared. Does not: shares between
tenants, which go by weight alone: a tenant sets its own priorities.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class Priority(StrEnum):
    """How urgent a campaign is, among its tenant's."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Order(StrEnum):
    """Which jobs go first where not all can be paid for."""

    OLDEST = "oldest"
    CHEAPEST = "cheapest"


PATIENCE: Final[Mapping[Priority, timedelta]] = {
    Priority.HIGH: timedelta(0),
    Priority.NORMAL: timedelta(hours=1),
    Priority.LOW: timedelta(hours=8),
}
"""How long a job may wait before it is as urgent as a new one of high priority."""
LEAD: Final = timedelta(hours=4)
"""How long before its deadline a campaign is as urgent as a new one of high priority."""


def wanted_by(priority: Priority, *, due_since: datetime, deadline: datetime | None) -> datetime:
    """Return by when work is wanted: the earliest goes first.

    Waiting makes urgent, and so does a deadline that comes near: nothing waits for ever.
    """
    by_age = due_since + PATIENCE[priority]
    return by_age if deadline is None else min(by_age, deadline - LEAD)
