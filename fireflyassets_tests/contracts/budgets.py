"""Budgets to check promises on: caps, blocks and booked rows with legal defaults.

Here: those, and the one equation that always holds. Not here: promises.
"""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from fireflyassets.core import budget
from fireflyassets.core.budget import Block, Booking, Cap, Counter
from fireflyassets.core.job import JobRow
from fireflyassets.ports.budgets import OverBudget, Reserved
from fireflyassets.ports.entries import Claim, Recording
from fireflyassets.ports.ledger import JobLedger
from fireflyassets_tests.contracts.ledgers import ACME, NOON, SPRING, World, job

MONTH = "2026-03"
PRICE = Decimal("3.5")


def cap(operations: str = "1000", scope: str = budget.CUSTOMER, *alerts: int) -> Cap:
    """Return a cap, without a ladder unless *alerts* are given."""
    return Cap(scope, Decimal(operations), alerts, "a test")


def block(
    left: str = "3.5", name: str = "b-1", caps: tuple[Cap, ...] = (), **more: object
) -> Block:
    """Return a block over the scopes of *caps*."""
    scopes = tuple(one.scope for one in caps or (cap(),))
    return replace(Block(name, ACME, SPRING, MONTH, scopes, Decimal(left), NOON), **more)


def booked(key: str, *, of: Block, price: Decimal = PRICE) -> JobRow:
    """Return a new row that takes its part of a block."""
    return job(key, cost_estimate=price, booking=Booking(of.month, of.scopes, held=price))


def reserve(
    world: World,
    left: str = "3.5",
    name: str = "b-1",
    *caps: Cap,
    now: datetime = NOON,
) -> Reserved | OverBudget:
    """Reserve a block under *caps*, or under one of 100."""
    caps = caps or (cap(),)
    return world.ledger.reserve(block(left, name, caps, made_at=now), caps, now=now)


def record(world: World, *keys: str, caps: tuple[Cap, ...] = ()) -> list[Recording]:
    """Reserve for some jobs and record them, as intake does."""
    caps = caps or (cap(),)
    held = block(str(PRICE * len(keys)), f"b-{'-'.join(keys)}", caps)
    assert isinstance(world.ledger.reserve(held, caps, now=NOON), Reserved)
    return world.ledger.record([booked(key, of=held) for key in keys], held)


def claimed(world: World, key: str, wave_id: str = "w-1") -> Claim:
    """Reserve for one job, record and claim it, and return the claim."""
    (recording,) = record(world, key)
    claim = world.ledger.claim(recording.row.job_id, ACME, wave_id, now=NOON)
    assert claim is not None
    return claim


def counter(world: World, scope: str = budget.CUSTOMER) -> Counter:
    """Return a counter of the month; one that was never moved is at nothing."""
    found = {one.scope: one for one in world.ledger.counters(ACME, MONTH)}
    return found.get(scope, Counter(ACME, MONTH, scope))


def stands(world: World, scope: str = budget.CUSTOMER) -> tuple[Decimal, Decimal]:
    """Return (reserved, spent) of a counter."""
    one = counter(world, scope)
    return one.reserved, one.spent


def assert_adds_up(ledger: JobLedger) -> None:
    """Each counter is the sum of the blocks that stand and of what rows take."""
    known = [row.job_id for row in ledger.campaign_jobs(ACME, SPRING)]
    rows = [row.booking for row in ledger.jobs(ACME, known).values() if row.booking]
    blocks = ledger.blocks(ACME, MONTH)
    for one in ledger.counters(ACME, MONTH):
        left = sum((each.left for each in blocks if one.scope in each.scopes), Decimal(0))
        taken = sum((each.taken for each in rows if one.scope in each.scopes), Decimal(0))
        spent = sum((each.spent for each in rows if one.scope in each.scopes), Decimal(0))
        assert (one.taken, one.spent) == (left + taken, spent), one.scope
