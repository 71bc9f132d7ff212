"""The proof of budgets: every counter of a month is the sum of what holds and spends of it.

In: a month's counters, blocks and rows. Out: what does not add up, named. Spends: nothing.

It mends nothing either: a difference is somebody's fault and must be found, not covered.

Nothing stands still for it. A difference counts once the counters were the same before and after
the rows were read, and nothing was reserved in the last minute: an index may be that late.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from fireflyassets.core.budget import Counter, end_of, first_of, month_of
from fireflyassets.core.job import JobRow
from fireflyassets.ports.entries import Place
from fireflyassets.ports.ledger import JobLedger

LOOKS: Final = 3
LATE: Final = timedelta(minutes=1)
"""How far behind the index of a campaign's rows may be."""
_PAGE: Final = 500
_EARLY: Final = timedelta(hours=1)
"""Rows of one request are created a millisecond apart, backwards."""


class Proof(StrEnum):
    """What one look at a counter showed."""

    PROVEN = "proven"
    MOVING = "moving"
    """It does not add up yet, and it was being drawn on: look again."""
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Proven:
    """A counter beside the sum of its month's blocks and rows."""

    counter: Counter
    taken: Decimal
    spent: Decimal
    verdict: Proof

    def sentence(self) -> str:
        """Return the counter and what stands beside it in one line."""
        one = self.counter
        said = f"{one.customer} {one.month} {one.scope}: {self.verdict}"
        if self.verdict is Proof.PROVEN:
            return f"{said}, taken {one.taken}, spent {one.spent}"
        return (
            f"{said}; the counter says taken {one.taken}, spent {one.spent}, "
            f"its rows and blocks taken {self.taken}, spent {self.spent}"
        )


def prove_all(
    ledger: JobLedger, customers: Iterable[str], *, now: Callable[[], datetime]
) -> list[Proven]:
    """Prove this month and the one before, in which jobs may still end."""
    first = first_of(month_of(now()))
    months = (month_of(first - timedelta(days=1)), month_of(first))
    return [
        one
        for customer in sorted(set(customers))
        for month in months
        for one in prove(ledger, customer, month, now=now)
    ]


def prove(
    ledger: JobLedger, customer: str, month: str, *, now: Callable[[], datetime]
) -> list[Proven]:
    """Compare each counter of a month with its rows and blocks."""
    looked: list[Proven] = []
    for _ in range(LOOKS):
        looked = _look(ledger, customer, month, now=now)
        if all(one.verdict is Proof.PROVEN for one in looked):
            break
    return looked


def _look(
    ledger: JobLedger, customer: str, month: str, *, now: Callable[[], datetime]
) -> list[Proven]:
    before = ledger.counters(customer, month)
    taken: defaultdict[str, Decimal] = defaultdict(Decimal)
    spent: defaultdict[str, Decimal] = defaultdict(Decimal)
    for block in ledger.blocks(customer, month):
        for scope in block.scopes:
            taken[scope] += block.left
    names = frozenset[str]().union(*(one.campaigns for one in before))
    for row in _rows(ledger, customer, names, month):
        if row.booking is not None and row.booking.month == month:
            for scope in row.booking.scopes:
                taken[scope] += row.booking.taken
                spent[scope] += row.booking.spent
    after = {one.scope: one for one in ledger.counters(customer, month)}
    at = (customer, month)
    missing = [Counter(*at, scope) for scope in taken if scope not in after]
    looked = [
        Proven(after[one.scope], taken[one.scope], spent[one.scope], Proof.DIFFERS)
        for one in before
    ]
    looked += [Proven(one, taken[one.scope], spent[one.scope], Proof.DIFFERS) for one in missing]
    quiet = before == list(after.values()) and all(
        one.moved_at is None or one.moved_at < now() - LATE for one in before
    )
    return [replace(one, verdict=_verdict(one, quiet=quiet)) for one in looked]


def _verdict(one: Proven, *, quiet: bool) -> Proof:
    if (one.counter.taken, one.counter.spent) == (one.taken, one.spent):
        return Proof.PROVEN
    return Proof.DIFFERS if quiet else Proof.MOVING


def _rows(
    ledger: JobLedger, customer: str, campaigns: frozenset[str], month: str
) -> Iterator[JobRow]:
    """Yield the rows of campaigns since a month's beginning, as they are, not as the index has."""
    for campaign in sorted(campaigns):
        after = Place(first_of(month) - _EARLY, "")
        while True:
            page = ledger.campaign_page(customer, campaign, after=after, most=_PAGE)
            yield from ledger.jobs(customer, [row.job_id for row in page]).values()
            if len(page) < _PAGE or page[-1].created_at >= end_of(month):
                break
            after = Place(page[-1].created_at, page[-1].job_id)
