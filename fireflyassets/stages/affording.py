"""Affording: how much of a replay's plan goes within a budget of its own.

In: a plan, what it may cost. Out: the plan with what is not paid for set back. Spends: nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from fireflyassets.core.priority import Order
from fireflyassets.stages.replay import Dead, cut


@dataclass(frozen=True, slots=True)
class Within:
    """What one replay may cost at most, and in which order it is spent."""

    operations: Decimal
    order: Order = Order.OLDEST


def afforded(plan: Sequence[Dead], within: Within) -> list[Dead]:
    """Return a plan of which no more goes than is paid for; it is in the order of spending."""
    ordered = sorted(plan, key=lambda one: one.price) if within.order is Order.CHEAPEST else plan
    why = "This replay's budget is used up."
    return cut(ordered, within.operations, lambda one: one.price, why=why)
