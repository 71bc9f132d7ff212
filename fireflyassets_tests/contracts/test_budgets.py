"""What every ledger promises of budgets: all of them or none, never above a cap, given back once.

Here: reserving, recording under a block, giving back, raises and alerts. Not here: what jobs do to
budgets once they are in (`test_bookings`), many at once (`test_budget_races`).
"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.budget_rules import EventKind
from fireflyassets.core.budget import CUSTOMER, Raise
from fireflyassets.core.errors import ReservationLapsed
from fireflyassets.ports.budgets import Audited, OverBudget, Reserved
from fireflyassets.ports.entries import Duplicate, Recorded
from fireflyassets_tests.contracts.budgets import (
    MONTH,
    PRICE,
    assert_adds_up,
    block,
    booked,
    cap,
    counter,
    record,
    reserve,
    stands,
)
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, World

BRAND = "tag:brand=tea"


def test_a_block_is_held_in_every_budget_or_in_none(ledger_world: World) -> None:
    """Where one budget has no room, the others are as they were; the one is named."""
    wide, tight = cap("100"), cap("5", BRAND)

    held = reserve(ledger_world, "4", "b-1", wide, tight)
    refused = reserve(ledger_world, "2", "b-2", wide, tight)

    assert isinstance(held, Reserved)
    assert isinstance(refused, OverBudget)
    assert refused.room == Decimal(1)
    assert refused == OverBudget(
        scope=BRAND,
        month=MONTH,
        cap=Decimal(5),
        spent=Decimal(0),
        reserved=Decimal(4),
        wanted=Decimal(2),
    )
    assert stands(ledger_world) == stands(ledger_world, BRAND) == (Decimal(4), Decimal(0))
    assert [one.block_id for one in ledger_world.ledger.blocks(ACME, MONTH)] == ["b-1"]
    assert_adds_up(ledger_world.ledger)


@pytest.mark.parametrize(
    ("wanted", "told"), [("100", Reserved), ("100.01", OverBudget), ("0", Reserved)]
)
def test_the_cap_itself_may_be_taken_and_no_hundredth_more(
    ledger_world: World, wanted: str, told: type
) -> None:
    """Decimals are exact all the way."""
    assert isinstance(reserve(ledger_world, wanted, "b-1", cap("100")), told)
    assert counter(ledger_world).taken == (Decimal(wanted) if told is Reserved else 0)


def test_eighty_one_fractions_add_up(ledger_world: World) -> None:
    """No sum passes through a binary fraction."""
    for n in range(81):
        reserve(ledger_world, "0.2849", f"b-{n}")

    assert counter(ledger_world).taken == Decimal("23.0769")


def test_the_same_block_again_takes_nothing_more(ledger_world: World) -> None:
    """Whoever lost the answer may ask again."""
    first, again = reserve(ledger_world), reserve(ledger_world)

    assert isinstance(first, Reserved)
    assert isinstance(again, Reserved)
    assert stands(ledger_world) == (Decimal("3.5"), Decimal(0))


def test_months_customers_and_scopes_are_apart(ledger_world: World) -> None:
    """What one takes, no other has less of."""
    ledger = ledger_world.ledger
    reserve(ledger_world, "100", "b-1", cap("100"))
    for other in (
        replace(block("100", "b-2"), month="2026-04"),
        replace(block("100", "b-3"), customer="bolt"),
    ):
        told = ledger.reserve(other, (cap("100"),), now=NOON)
        assert isinstance(told, Reserved)

    assert counter(ledger_world).taken == Decimal(100)
    assert [one.taken for one in ledger.counters("bolt", MONTH)] == [Decimal(100)]
    assert ledger.blocks(ACME, "2026-04")[0].block_id == "b-2"


def test_rows_take_their_parts_over_and_the_block_is_gone(ledger_world: World) -> None:
    """The counter does not move by it, since it was held before."""
    told = record(ledger_world, "one", "two")

    assert all(isinstance(one, Recorded) for one in told)
    assert stands(ledger_world) == (Decimal(7), Decimal(0))
    assert ledger_world.ledger.blocks(ACME, MONTH) == []
    stored = ledger_world.ledger.job(told[0].row.job_id)
    assert stored == told[0].row
    assert_adds_up(ledger_world.ledger)


@pytest.mark.parametrize("count", [49, 50, 120])
def test_a_block_serves_any_number_of_rows(ledger_world: World, count: int) -> None:
    """In as many writes as that takes."""
    told = record(ledger_world, *(f"job-{n}" for n in range(count)))

    assert len(told) == count
    assert counter(ledger_world).taken == count * Decimal("3.5")
    assert ledger_world.ledger.blocks(ACME, MONTH) == []
    assert_adds_up(ledger_world.ledger)


@pytest.mark.parametrize("priced", [0, 1, 60])
def test_rows_that_cost_nothing_need_no_block(ledger_world: World, priced: int) -> None:
    """A free step is estimated at nothing: such rows come in before and behind what is paid."""
    held = block(str(PRICE * priced))
    ledger_world.ledger.reserve(held, (cap(),), now=NOON)
    free = [booked(f"free-{n}", of=held, price=Decimal(0)) for n in range(120)]
    paid = [booked(f"paid-{n}", of=held) for n in range(priced)]

    told = ledger_world.ledger.record([*free[:60], *paid, *free[60:]], held)

    assert all(isinstance(one, Recorded) for one in told)
    assert stands(ledger_world) == (PRICE * priced, Decimal(0))
    ledger_world.ledger.give_back(held)
    assert ledger_world.ledger.blocks(ACME, MONTH) == []
    assert_adds_up(ledger_world.ledger)


def test_what_duplicates_did_not_take_is_given_back_once(ledger_world: World) -> None:
    """A row that is known holds its own part already."""
    record(ledger_world, "known")
    held = block("7", "b-2")
    reserve(ledger_world, "7", "b-2")

    told = ledger_world.ledger.record([booked("known", of=held), booked("new", of=held)], held)

    assert [type(one) for one in told] == [Duplicate, Recorded]
    assert stands(ledger_world) == (Decimal("10.5"), Decimal(0))
    assert ledger_world.ledger.give_back(held) == Decimal("3.5")
    assert ledger_world.ledger.give_back(held) == Decimal(0)
    assert stands(ledger_world) == (Decimal(7), Decimal(0))
    assert_adds_up(ledger_world.ledger)


def test_no_row_comes_in_under_a_block_that_is_gone(ledger_world: World) -> None:
    """Else it would hold what somebody else has been given."""
    held = block()
    reserve(ledger_world)
    ledger_world.ledger.give_back(held)

    with pytest.raises(ReservationLapsed):
        ledger_world.ledger.record([booked("late", of=held)], held)

    assert ledger_world.ledger.job(booked("late", of=held).job_id) is None
    assert stands(ledger_world) == (Decimal(0), Decimal(0))


def test_blocks_lapse_by_age(ledger_world: World) -> None:
    """Only those that still stand, the oldest first."""
    for minutes, name in ((3, "old"), (1, "oldest"), (20, "young"), (2, "gone")):
        reserve(ledger_world, "1", name, now=NOON + minutes * MINUTE)
    ledger_world.ledger.give_back(block("1", "gone"))

    lapsed = ledger_world.ledger.lapsed(before=NOON + 10 * MINUTE, most=5)

    assert [one.block_id for one in lapsed] == ["oldest", "old"]
    assert len(ledger_world.ledger.lapsed(before=NOON + 60 * MINUTE, most=2)) == 2


def test_a_raise_makes_room_until_it_ends(ledger_world: World) -> None:
    """It is on top of the cap, the last one counts, and each is in the audit."""
    raised = Raise(Decimal(10), NOON + MINUTE, "Ann", "a rush", NOON)
    ledger_world.ledger.raise_cap(ACME, MONTH, CUSTOMER, raised)
    more = replace(raised, operations=Decimal(20), at=NOON + timedelta(seconds=1))
    ledger_world.ledger.raise_cap(ACME, MONTH, CUSTOMER, more)

    assert isinstance(reserve(ledger_world, "120", "b-1", cap("100")), Reserved)
    over = reserve(ledger_world, "1", "b-2", cap("100"), now=NOON + MINUTE)

    assert isinstance(over, OverBudget)
    assert (over.cap, over.reserved, over.room) == (Decimal(100), Decimal(120), Decimal(0))
    assert counter(ledger_world).raised == more
    assert ledger_world.ledger.audit(ACME, MONTH) == [
        Audited(ACME, MONTH, CUSTOMER, raised),
        Audited(ACME, MONTH, CUSTOMER, more),
    ]
    assert ledger_world.ledger.audit(ACME, "2026-04") == []


def test_each_step_of_the_ladder_is_told_once_a_month(ledger_world: World) -> None:
    """With the reservation that reaches it, whatever is given back and taken again."""
    ladder = cap("100", CUSTOMER, 50, 80, 100)
    told: list[tuple[int, ...]] = []
    for n, wanted in enumerate(("49.9", "0.1", "35", "14", "1")):
        held = reserve(ledger_world, wanted, f"b-{n}", ladder)
        assert isinstance(held, Reserved)
        told.append(tuple(one.percent for one in held.alerts))
    ledger_world.ledger.give_back(block("35", "b-2", (ladder,)))
    again = reserve(ledger_world, "35", "b-9", ladder)

    assert told == [(), (50,), (80,), (), (100,)]
    assert isinstance(again, Reserved)
    assert again.alerts == ()
    events = ledger_world.budget_outbox()
    assert [dict(one.facts)["percent"] for one in events] == ["100", "50", "80"]
    assert {(one.kind, one.customer, one.month) for one in events} == {
        (EventKind.SOFT, ACME, MONTH)
    }
    assert dict(events[1].facts) == {
        "scope": CUSTOMER,
        "percent": "50",
        "taken": "50.0",
        "cap": "100",
    }


def test_one_reservation_may_reach_several_steps(ledger_world: World) -> None:
    """Each has its own event; another budget's ladder is its own."""
    told = reserve(
        ledger_world, "90", "b-1", cap("100", CUSTOMER, 50, 80, 100), cap("1000", BRAND, 5, 10)
    )

    assert isinstance(told, Reserved)
    assert [(one.scope, one.percent) for one in told.alerts] == [
        (CUSTOMER, 50),
        (CUSTOMER, 80),
        (BRAND, 5),
    ]
    assert len(ledger_world.budget_outbox()) == 3


def test_a_cap_that_is_lowered_refuses_and_takes_nothing_away(ledger_world: World) -> None:
    """What was held under the old one stays held."""
    reserve(ledger_world, "60")

    over = reserve(ledger_world, "1", "b-2", cap("50"))

    assert isinstance(over, OverBudget)
    assert over.room == Decimal(0)
    assert stands(ledger_world) == (Decimal(60), Decimal(0))
