"""What every ledger says to a reservation, whatever it is kept in.

Belongs here: whether it fits, which alerts it reaches, the events of budgets. Does not: writes,
whose conditions each ledger states for itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from fireflyassets.core.budget import Alert, Booking, Cap, Counter, steps_between
from fireflyassets.core.job import JobRow
from fireflyassets.ports.budgets import OverBudget


class EventKind(StrEnum):
    """What an outbox row tells about a budget."""

    SOFT = "campaign.budget.soft"
    """A step of the ladder was reached."""
    OVERRUN = "campaign.budget.overrun"
    """A job took more than was held for it."""


@dataclass(frozen=True, slots=True)
class BudgetEvent:
    """One thing to tell about a budget; its id is the same however often it is written."""

    event_id: str
    kind: EventKind
    customer: str
    month: str
    at: datetime
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """A reservation before one of its budgets. Nothing *wanted*: the budget as it stands."""

    cap: Cap
    counter: Counter
    wanted: Decimal
    now: datetime

    @property
    def most(self) -> Decimal:
        """Return the most that may be taken before it, so that it fits."""
        return self.counter.bound(self.cap.operations, self.now) - self.wanted

    @property
    def fits(self) -> bool:
        """Say whether it fits."""
        return self.counter.taken <= self.most

    @property
    def alerted(self) -> int:
        """Return the highest alert that is told once it is held."""
        return max(self.counter.alerted, self.cap.step_at(self.counter.taken + self.wanted))

    @property
    def next_step(self) -> int | None:
        """Return the lowest alert that is not reached by it."""
        return next((one for one in self.cap.alerts if one > self.alerted), None)

    def alerts(self) -> tuple[Alert, ...]:
        """Return the alerts that it is the first to reach."""
        was, taken = self.counter, self.counter.taken + self.wanted
        return tuple(
            Alert(was.customer, was.month, was.scope, step, taken, self.cap.operations, self.now)
            for step in steps_between(self.cap, was.alerted, taken)
        )

    def after(self, campaign: str) -> Counter:
        """Return the counter once it is held."""
        return replace(
            self.counter,
            taken=self.counter.taken + self.wanted,
            cap=self.cap.operations,
            alerted=self.alerted,
            campaigns=self.counter.campaigns | {campaign},
            moved_at=self.now,
        )


def refused(standings: Iterable[Asking]) -> OverBudget | None:
    """Return the budget that has the least room, if a reservation does not fit into one."""
    tight = [
        OverBudget(
            scope=one.cap.scope,
            month=one.counter.month,
            cap=one.counter.bound(one.cap.operations, one.now),
            spent=one.counter.spent,
            reserved=one.counter.reserved,
            wanted=one.wanted,
        )
        for one in standings
        if not one.fits
    ]
    return min(tight, key=lambda one: (one.room, one.scope), default=None)


def soft_event(alert: Alert) -> BudgetEvent:
    """Return the event of an alert."""
    return BudgetEvent(
        event_id=f"budget#{alert.customer}#{alert.month}#{alert.scope}#{alert.percent}",
        kind=EventKind.SOFT,
        customer=alert.customer,
        month=alert.month,
        at=alert.at,
        facts=(
            ("scope", alert.scope),
            ("percent", str(alert.percent)),
            ("taken", str(alert.taken)),
            ("cap", str(alert.cap)),
        ),
    )


def overrun_event(
    job_id: str, customer: str, before: Booking, after: Booking, at: datetime
) -> BudgetEvent | None:
    """Return the event of a job that takes more than was held for it; None: it does not."""
    if after.taken <= before.taken:
        return None
    return BudgetEvent(
        event_id=f"overrun#{job_id}#{after.taken}",
        kind=EventKind.OVERRUN,
        customer=customer,
        month=after.month,
        at=at,
        facts=(
            ("jobId", job_id),
            ("held", str(before.taken)),
            ("taken", str(after.taken)),
        ),
    )


def replays(row: JobRow, counters: Iterable[Counter], now: datetime) -> list[Asking]:
    """Return what an ended job that is run again asks of its budgets, by the caps held against."""
    if row.booking is None:
        return []
    wanted = row.booking.still_to_come(row.cost_estimate)
    return [
        Asking(Cap(one.scope, one.cap, (), ""), one, wanted, now)
        for one in counters
        if one.cap is not None and wanted
    ]
