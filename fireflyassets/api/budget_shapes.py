"""Budgets as the JSON that customers' systems read.

Belongs here: names and forms of their fields. Does not: jobs and campaigns (``shapes.py``), sums.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.shapes import Operations
from fireflyassets.core.budget import Standing
from fireflyassets.stages import notify


class Budget(TypedDict):
    """What one budget has taken of its cap."""

    scope: Annotated[
        str, Field(description="customer, campaign:NAME or tag:KEY=VALUE.", examples=["customer"])
    ]
    cap: Annotated[Operations | None, Field(description="Without any raise; null: none is set.")]
    raisedBy: Annotated[Operations | None, Field(description="On top of the cap, for now.")]
    raisedUntil: notify.Instant | None
    spent: Operations
    reserved: Annotated[
        Operations,
        Field(description="Held for jobs that are open, and what else may have been billed."),
    ]
    left: Operations | None


class Budgets(TypedDict):
    """A month's budgets; a job counts to the month (UTC) in which it was accepted."""

    month: Annotated[str, Field(examples=["2026-11"])]
    budgets: Annotated[list[Budget], Field(description="Empty: none is set; nothing is capped.")]


def budgets(month: str, standings: Iterable[Standing], now: datetime) -> Budgets:
    """Return a month's budgets."""
    return {"month": month, "budgets": [_budget(one, now) for one in standings]}


def _budget(one: Standing, now: datetime) -> Budget:
    raised, left = one.raised(now), one.left(now)
    return {
        "scope": one.counter.scope,
        "cap": str(one.cap.operations) if one.cap else None,
        "raisedBy": str(raised.operations) if raised else None,
        "raisedUntil": notify.instant(raised.until) if raised else None,
        "spent": str(one.counter.spent),
        "reserved": str(one.counter.reserved),
        "left": None if left is None else str(left),
    }
