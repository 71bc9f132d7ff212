"""Budgets in the memory ledger, and the rows that come in under them.

Belongs here: the budgets' part of the port, and recording. Does not: how counters move
(``memory/book.py``).
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from fireflyassets.adapters.budget_rules import BudgetEvent
from fireflyassets.adapters.ledger_rules import check_new
from fireflyassets.adapters.memory.base import MemoryBase
from fireflyassets.core.budget import Block, Cap, Counter, Raise
from fireflyassets.core.errors import ReservationLapsed
from fireflyassets.core.job import JobRow
from fireflyassets.ports.briefs import BegunBrief
from fireflyassets.ports.budgets import Audited, OverBudget, Reserved
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded, Recording


class MemoryBudgets(MemoryBase):
    """The budgets' part of the ledger. *budget_events* holds them in the order of writing."""

    @property
    def budget_events(self) -> tuple[BudgetEvent, ...]:
        """The events of budgets written so far."""
        with self._lock:
            return tuple(self._book.events)

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        """Write each row unless its id is taken, with its outbox row."""
        check_new(rows)
        with self._lock:
            return [self._record(row, block) for row in rows]

    def _record(self, row: JobRow, block: Block | None) -> Recording:
        known = self._rows.get(row.job_id)
        if known is not None:
            return Duplicate(known) if known.body_hash == row.body_hash else Conflict(known)
        if block is not None and row.booking is not None and row.booking.held:
            if block.block_id not in self._book.blocks:
                raise ReservationLapsed(block.block_id)
            self._book.part(block, row.booking.held)
        self._write(row)
        return Recorded(row)

    def begin_brief(self, brief: BegunBrief) -> None:
        """Note that a brief is being written."""
        with self._lock:
            self._briefs[brief.word] = brief

    def end_brief(self, brief: BegunBrief) -> None:
        """Take the word back."""
        with self._lock:
            self._briefs.pop(brief.word, None)

    def begun_briefs(self, *, before: datetime, most: int) -> list[BegunBrief]:
        """Return up to *most* briefs begun before then and not ended, the oldest first."""
        with self._lock:
            found = [one for one in self._briefs.values() if one.made_at < before]
        return sorted(found, key=lambda one: one.made_at)[:most]

    def reserve(self, block: Block, caps: Sequence[Cap], *, now: datetime) -> Reserved | OverBudget:
        """Take a block out of all its budgets or of none, never above a cap."""
        with self._lock:
            return self._book.reserve(block, caps, now)

    def give_back(self, block: Block) -> Decimal:
        """Give back what no row of the block holds, and return it."""
        with self._lock:
            return self._book.give_back(block)

    def lapsed(self, *, before: datetime, most: int) -> list[Block]:
        """Return up to *most* blocks made before then that still stand, the oldest first."""
        with self._lock:
            found = [one for one in self._book.blocks.values() if one.made_at < before]
        return sorted(found, key=lambda one: (one.made_at, one.block_id))[:most]

    def counters(self, customer: str, month: str) -> list[Counter]:
        """Return a month's counters by scope."""
        with self._lock:
            found = list(self._book.counters.values())
        mine = [one for one in found if (one.customer, one.month) == (customer, month)]
        return sorted(mine, key=lambda one: one.scope)

    def blocks(self, customer: str, month: str) -> list[Block]:
        """Return the month's blocks that stand."""
        with self._lock:
            found = list(self._book.blocks.values())
        mine = [one for one in found if (one.customer, one.month) == (customer, month)]
        return sorted(mine, key=lambda one: one.block_id)

    def raise_cap(self, customer: str, month: str, scope: str, raised: Raise) -> None:
        """Raise a cap for a time, with its audit row."""
        with self._lock:
            self._book.raise_cap(Audited(customer, month, scope, raised))

    def audit(self, customer: str, month: str) -> list[Audited]:
        """Return what was done to a month's budgets, in the order of time."""
        with self._lock:
            found = list(self._book.audited)
        mine = [one for one in found if (one.customer, one.month) == (customer, month)]
        return sorted(mine, key=lambda one: one.raised.at)
