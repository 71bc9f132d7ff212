"""The budgets' book of the memory ledger: counters, blocks and what people did.

Belongs here: the dictionaries and how they move. Does not: locking, which the ledger does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from fireflyassets.adapters.budget_rules import Asking, BudgetEvent, refused, replays, soft_event
from fireflyassets.core.budget import Alert, Block, Booking, Cap, Counter
from fireflyassets.core.job import JobRow
from fireflyassets.ports.budgets import Audited, OverBudget, Reserved


class MemoryBook:
    """What each month has taken, by customer, month and scope."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.audited: list[Audited] = []
        self.counters: dict[tuple[str, str, str], Counter] = {}
        self.events: list[BudgetEvent] = []

    def counter(self, customer: str, month: str, scope: str) -> Counter:
        """Return a counter, at nothing where nothing was taken."""
        return self.counters.get((customer, month, scope), Counter(customer, month, scope))

    def keep(self, counter: Counter) -> None:
        """Keep a counter as it is now."""
        self.counters[counter.customer, counter.month, counter.scope] = counter

    def move(
        self, customer: str, month: str, scopes: Iterable[str], taken: Decimal, spent: Decimal
    ) -> None:
        """Add to what scopes have taken and spent."""
        for scope in scopes:
            was = self.counter(customer, month, scope)
            self.keep(replace(was, taken=was.taken + taken, spent=was.spent + spent))

    def rebook(self, customer: str, before: Booking | None, after: Booking | None) -> None:
        """Move the counters from what a job took to what it takes."""
        for sign, booking in ((-1, before), (1, after)):
            if booking is not None:
                taken, spent = sign * booking.taken, sign * booking.spent
                self.move(customer, booking.month, booking.scopes, taken, spent)

    def reserve(self, block: Block, caps: Sequence[Cap], now: datetime) -> Reserved | OverBudget:
        """Take a block out of all its budgets, or of none."""
        if block.block_id in self.blocks:
            return Reserved(self.blocks[block.block_id])
        standings = self._standings(block, caps, block.left, now)
        over = refused(standings)
        if over is not None:
            # What ended meanwhile may have passed a step: that is told to the one who is refused.
            self._hold(self._standings(block, caps, Decimal(0), now), block.campaign)
            return over
        self.blocks[block.block_id] = block
        return Reserved(block, self._hold(standings, block.campaign))

    def _standings(
        self, block: Block, caps: Sequence[Cap], wanted: Decimal, now: datetime
    ) -> list[Asking]:
        at = (block.customer, block.month)
        return [Asking(cap, self.counter(*at, cap.scope), wanted, now) for cap in caps]

    def _hold(self, standings: Sequence[Asking], campaign: str) -> tuple[Alert, ...]:
        alerts = tuple(alert for one in standings for alert in one.alerts())
        self.events += map(soft_event, alerts)
        for one in standings:
            self.keep(one.after(campaign))
        return alerts

    def give_back(self, block: Block) -> Decimal:
        """Give back what no row of the block holds."""
        stood = self.blocks.pop(block.block_id, None)
        if stood is None:
            return Decimal(0)
        self.move(stood.customer, stood.month, stood.scopes, -stood.left, Decimal(0))
        return stood.left

    def part(self, block: Block, held: Decimal) -> None:
        """Let a block's part go over to a row; an empty block is gone."""
        stood = self.blocks[block.block_id]
        self.blocks[block.block_id] = replace(stood, left=stood.left - held)
        # The row adds the same.
        self.move(stood.customer, stood.month, stood.scopes, -held, Decimal(0))
        if stood.left == held:
            del self.blocks[block.block_id]

    def raise_cap(self, audited: Audited) -> None:
        """Raise a cap for a time, in place of an earlier raise."""
        was = self.counter(audited.customer, audited.month, audited.scope)
        self.keep(replace(was, raised=audited.raised))
        self.audited.append(audited)

    def refusal(self, row: JobRow, now: datetime) -> OverBudget | None:
        """Return why an ended job can't be run again, if a budget has no room for what it needs."""
        if row.booking is None:
            return None
        at = (row.customer_id, row.booking.month)
        return refused(replays(row, [self.counter(*at, one) for one in row.booking.scopes], now))
