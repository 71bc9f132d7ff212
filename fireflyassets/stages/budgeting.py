"""Budgeting: what jobs may cost is held before their rows are written, and proven every night.

In: new rows with their estimates, the customer's caps. Out: rows that say what they take of which
budgets; blocks given back. Spends: nothing.

A request holds one block for all its rows. Each row takes its part over in its own write, so that
whatever dies in between leaves a block that shows what no row holds. Such a block lapses.
"""

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Final
from uuid import uuid4

from fireflyassets.core.budget import Block, Booking, Cap, Counter, drawn_on, month_of
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.ports.budgets import BudgetLedger, OverBudget, Reserved
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.entries import Recorded, Recording
from fireflyassets.ports.ledger import JobLedger

_log: Final = logging.getLogger(__name__)

LASTS: Final = timedelta(minutes=15)
"""How long rows may be written under a block: ten times what the largest brief takes."""


@dataclass(frozen=True, slots=True)
class Unaffordable:
    """The request is fine, and a budget has no room for it; nothing of it was written."""

    job_id: str
    over: OverBudget

    def problem(self, row: int | None = None) -> Problem:
        """Return it as a problem of the request."""
        fix = "Ask for a higher cap, send fewer jobs, or wait for the next month."
        return Problem("", "over-budget", str(self.over), fix, row)


@dataclass(frozen=True, slots=True)
class Hold:
    """How the new rows of one request are held and recorded, under one block."""

    catalogue: Catalogue
    campaign: Campaign
    now: datetime
    partial: bool
    """Whether the first rows that fit are taken where not all of them do."""
    block_id: str = field(default_factory=lambda: uuid4().hex)

    def record(
        self, ledger: JobLedger, rows: Sequence[JobRow]
    ) -> dict[str, Recording | Unaffordable]:
        """Hold what *rows* are estimated at, record those that fit, and answer each by its id.

        Raises:
            BudgetsUnreadable: The customer's budgets can't be read.
        """
        caps = self._caps()
        if not caps:
            told = ledger.record(rows)
            return {row.job_id: one for row, one in zip(rows, told, strict=True)}
        block, refused = self._reserve(rows, caps, functools.partial(ledger.reserve, now=self.now))
        if block is None:
            return {**refused}
        booked = [_booked(row, block) for row in rows if row.job_id not in refused]
        return {**refused, **_recorded(ledger, booked, block)}

    def look(self, ledger: JobLedger, rows: Sequence[JobRow]) -> dict[str, Unaffordable]:
        """Return which of *rows* do not fit just now, by id; nothing is held.

        Raises:
            BudgetsUnreadable: The customer's budgets can't be read.
        """
        caps = self._caps()
        if not caps or not rows:
            return {}
        found = ledger.counters(self.campaign.config.customer, month_of(self.now))
        counters = {one.scope: one for one in found}
        _, refused = self._reserve(rows, caps, functools.partial(self._fits, counters))
        return refused

    def _caps(self) -> Sequence[Cap]:
        config = self.campaign.config
        caps = self.catalogue.caps(config.customer, self.now.date())
        return drawn_on(caps, config.campaign, config.cost_tags)

    def _fits(
        self, counters: Mapping[str, Counter], block: Block, caps: Sequence[Cap]
    ) -> Reserved | OverBudget:
        """Say what a reservation would be answered."""
        tight: list[OverBudget] = []
        for cap in caps:
            one = counters.get(cap.scope, Counter(block.customer, block.month, cap.scope))
            bound = one.bound(cap.operations, self.now)
            if one.taken + block.left > bound:
                stands = (cap.scope, block.month, bound, one.spent, one.reserved)
                tight.append(OverBudget(*stands, wanted=block.left))
        return min(tight, key=lambda one: (one.room, one.scope), default=Reserved(block))

    def _reserve(
        self,
        rows: Sequence[JobRow],
        caps: Sequence[Cap],
        reserve: Callable[[Block, Sequence[Cap]], Reserved | OverBudget],
    ) -> tuple[Block | None, dict[str, Unaffordable]]:
        """Return the block of the rows that fit, and why the others do not, by job id."""
        wanted, refused = rows, dict[str, Unaffordable]()
        while wanted:
            block = self._block(wanted, caps)
            told = reserve(block, caps)
            if isinstance(told, Reserved):
                _tell(told)
                return block, refused
            _log.warning("%s: %s", self.campaign.slug, told)
            kept = _fitting(wanted, told.room) if self.partial else 0
            refused |= {row.job_id: Unaffordable(row.job_id, told) for row in wanted[kept:]}
            wanted = wanted[:kept]
        return None, refused

    def _block(self, rows: Sequence[JobRow], caps: Sequence[Cap]) -> Block:
        config = self.campaign.config
        return Block(
            block_id=self.block_id,
            customer=config.customer,
            campaign=config.campaign,
            month=month_of(self.now),
            scopes=tuple(cap.scope for cap in caps),
            left=sum((row.cost_estimate for row in rows), Decimal(0)),
            made_at=self.now,
        )


def _recorded(ledger: JobLedger, rows: Sequence[JobRow], block: Block) -> dict[str, Recording]:
    """Record rows under their block, and give back what no row took over, whatever happens."""
    whole = False
    try:
        told = ledger.record(rows, block)
        # The last row that holds something takes the block away; of free rows none does.
        whole = bool(block.left) and all(isinstance(one, Recorded) for one in told)
    finally:
        if not whole:
            _give_back(ledger, block)
    return {row.job_id: one for row, one in zip(rows, told, strict=True)}


def _fitting(rows: Sequence[JobRow], room: Decimal) -> int:
    """Return how many of the first rows fit into *room* together, which is too small for all."""
    sums = accumulate(row.cost_estimate for row in rows)
    return min(len(rows) - 1, sum(total <= room for total in sums))


def _booked(row: JobRow, block: Block) -> JobRow:
    return replace(row, booking=Booking(block.month, block.scopes, held=row.cost_estimate))


def _tell(told: Reserved) -> None:
    for one in told.alerts:
        _log.warning(
            "Budget %s of %s, %s: %d %% of %s operations are taken (%s).",
            *(one.scope, one.customer, one.month, one.percent, one.cap, one.taken),
        )


def _give_back(ledger: BudgetLedger, block: Block) -> None:
    """Give back what no row of a block holds; where that fails, the block lapses."""
    try:
        ledger.give_back(block)
    except StoreUnavailable:
        _log.warning("Block %s was not given back; it lapses.", block.block_id, exc_info=True)


def expire(ledger: BudgetLedger, *, now: datetime, most: int) -> int:
    """Give back blocks whose makers died; return how many."""
    lapsed = ledger.lapsed(before=now - LASTS, most=most)
    for block in lapsed:
        left = ledger.give_back(block)
        _log.warning("Block %s of %s lapsed: %s given back.", block.block_id, block.customer, left)
    return len(lapsed)
