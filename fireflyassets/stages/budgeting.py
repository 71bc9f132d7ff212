"""Budgeting: what jobs may cost is held before their rows are written, and proven every night.

In: new rows with their estimates, the customer's caps. Out: rows that say what they take of which
budgets; blocks given back. Spends: nothing.

A request holds one block for all its rows. Each row takes its part over in its own write, so that
whatever dies in between leaves a block that shows what no row holds. Such a block lapses.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Final

from fireflyassets.core.budget import Block, Booking, drawn_on, month_of
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.ports.budgets import BudgetLedger, OverBudget, Reserved
from fireflyassets.ports.catalogue import Catalogue

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
        return Problem("", "budget", str(self.over), fix, row)


@dataclass(frozen=True, slots=True)
class Held:
    """What of a request may be recorded, under which block, and what does not fit."""

    rows: tuple[JobRow, ...]
    block: Block | None = None
    """None where the customer has no budget for this, and nothing is counted."""
    refused: Mapping[str, Unaffordable] = field(default_factory=dict[str, Unaffordable])
    """Job id -> why not."""


def hold(
    ledger: BudgetLedger,
    catalogue: Catalogue,
    campaign: Campaign,
    rows: Sequence[JobRow],
    *,
    block_id: str,
    now: datetime,
    partial: bool,
) -> Held:
    """Hold what *rows* are estimated at: all of it, or with *partial* the first that fit.

    Raises:
        BudgetsUnreadable: The customer's budgets can't be read.
    """
    config = campaign.config
    caps = catalogue.caps(config.customer, now.date())
    caps = drawn_on(caps, config.campaign, config.cost_tags)
    if not caps or not rows:
        return Held(tuple(rows))
    scopes, month = tuple(cap.scope for cap in caps), month_of(now)
    wanted: Sequence[JobRow] = rows
    refused: dict[str, Unaffordable] = {}
    while wanted:
        left = sum((row.cost_estimate for row in wanted), Decimal(0))
        block = Block(block_id, config.customer, config.campaign, month, scopes, left, now)
        told = ledger.reserve(block, caps, now=now)
        if isinstance(told, Reserved):
            _tell(told)
            booked = (_booked(row, month, scopes) for row in wanted)
            return Held(tuple(booked), block, refused)
        _log.warning("%s of %s: %s", config.campaign, config.customer, told)
        kept = _fitting(wanted, told.room) if partial else 0
        refused |= {row.job_id: Unaffordable(row.job_id, told) for row in wanted[kept:]}
        wanted = wanted[:kept]
    return Held((), None, refused)


def _fitting(rows: Sequence[JobRow], room: Decimal) -> int:
    """Return how many of the first rows fit into *room* together, which is too small for all."""
    sums = accumulate(row.cost_estimate for row in rows)
    return min(len(rows) - 1, sum(total <= room for total in sums))


def _booked(row: JobRow, month: str, scopes: tuple[str, ...]) -> JobRow:
    return replace(row, booking=Booking(month, scopes, held=row.cost_estimate))


def _tell(told: Reserved) -> None:
    for one in told.alerts:
        _log.warning(
            "Budget %s of %s, %s: %d %% of %s operations are taken (%s).",
            *(one.scope, one.customer, one.month, one.percent, one.cap, one.taken),
        )


def give_back(ledger: BudgetLedger, block: Block) -> None:
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
