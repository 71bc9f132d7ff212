"""What every ledger promises of jobs and their budgets: settled once, to the month they came in.

Here: each way in which a job ends or goes on, and what its budgets have taken then. Not here:
reservations (`test_budgets`), many at once (`test_budget_races`).
"""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.adapters.budget_rules import EventKind
from fireflyassets.core.budget import CUSTOMER, Raise
from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.job import Hold
from fireflyassets.core.money import Cost
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.budgets import OverBudget, Reserved
from fireflyassets.ports.entries import Claim, Decision, Release, Resumed, Verdict
from fireflyassets_tests.contracts.budgets import (
    MONTH,
    assert_adds_up,
    block,
    booked,
    cap,
    claimed,
    counter,
    record,
    reserve,
    stands,
)
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    MINUTE,
    NOON,
    World,
    attempt,
    ending,
)

NOTHING = Decimal(0)
HELD = Decimal("3.5")


def cost(certain: str, possible: str = "0") -> Cost:
    return Cost(Decimal(certain), Decimal(possible))


@pytest.mark.parametrize("status", sorted(ENDED))
@pytest.mark.parametrize("knows", [True, False])
def test_an_end_gives_back_what_was_not_spent(
    ledger_world: World, status: Status, *, knows: bool
) -> None:
    """What may have been billed stays held. The claim need not know of the booking."""
    claim = claimed(ledger_world, "one")
    told = Claim.standing(ledger_world.row(claim)) if knows else claim

    ledger_world.ledger.finish(told, ending(status, cost=cost("1.5", "0.5")))

    assert stands(ledger_world) == (Decimal("0.5"), Decimal("1.5"))
    booking = ledger_world.row(claim).booking
    assert booking is not None
    assert (booking.held, booking.spent) == (Decimal("0.5"), Decimal("1.5"))
    assert ledger_world.budget_outbox() == []
    assert_adds_up(ledger_world.ledger)


def test_an_end_counts_once(ledger_world: World) -> None:
    """A second end of one claim is refused, and moves nothing."""
    claim = claimed(ledger_world, "one")
    ledger_world.ledger.finish(claim, ending(cost=cost("3.5")))

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.finish(claim, ending(cost=cost("3.5")))

    assert stands(ledger_world) == (NOTHING, HELD)


def test_an_end_of_another_s_claim_moves_nothing(ledger_world: World) -> None:
    claim = claimed(ledger_world, "one")

    for foreign in (replace(claim, epoch=7), replace(claim, wave_id="w-9")):
        with pytest.raises(OwnershipLost):
            ledger_world.ledger.finish(foreign, ending(cost=cost("3.5")))

    assert stands(ledger_world) == (HELD, NOTHING)


def test_an_overrun_is_booked_and_told(ledger_world: World) -> None:
    """Above the cap too: it is paid. The next reservation is refused, and told the steps passed."""
    ladder = cap("4", CUSTOMER, 50, 100)
    held = block("3.5", "b-1", (ladder,))
    reserve(ledger_world, "3.5", "b-1", ladder)
    ledger_world.ledger.record([booked("one", of=held)], held)
    claim = ledger_world.ledger.claim(booked("one", of=held).job_id, ACME, "w-1", now=NOON)
    assert claim is not None

    ledger_world.ledger.finish(claim, ending(cost=cost("6", "1")))
    over = reserve(ledger_world, "0.5", "b-2", ladder)

    assert isinstance(over, OverBudget)
    assert (over.spent, over.reserved, over.room) == (Decimal(6), Decimal(1), NOTHING)
    assert stands(ledger_world) == (Decimal(1), Decimal(6))
    events = {one.kind: dict(one.facts) for one in ledger_world.budget_outbox()}
    assert events[EventKind.OVERRUN] == {"jobId": claim.job_id, "held": "3.5", "taken": "7"}
    steps = [
        dict(one.facts)["percent"]
        for one in ledger_world.budget_outbox()
        if one.kind is EventKind.SOFT
    ]
    assert sorted(steps) == ["100", "50"]
    assert_adds_up(ledger_world.ledger)


def test_a_job_that_goes_on_keeps_what_is_held(ledger_world: World) -> None:
    """Parked, held, taken over, resumed: nothing of that moves a budget."""
    claim = claimed(ledger_world, "one")
    hold = Hold("look", NOON, "factory")
    ledger_world.ledger.release(claim, Release("dead", crashed=True), now=NOON)
    again = ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON)
    assert again is not None
    ledger_world.ledger.release(again, Release("held", hold=hold), now=NOON)
    assert ledger_world.ledger.lift(ledger_world.row(claim), now=NOON + MINUTE)

    assert stands(ledger_world) == (HELD, NOTHING)
    assert_adds_up(ledger_world.ledger)


def test_a_queued_job_that_is_cancelled_gives_all_back(ledger_world: World) -> None:
    """Once, however often it is asked."""
    (told,) = record(ledger_world, "one")

    assert ledger_world.ledger.close(told.row, ending(Status.CANCELLED, cost=Cost()))
    assert not ledger_world.ledger.close(told.row, ending(Status.CANCELLED, cost=Cost()))

    assert stands(ledger_world) == (NOTHING, NOTHING)
    assert_adds_up(ledger_world.ledger)


def test_a_decision_that_ends_a_job_settles_it(ledger_world: World) -> None:
    """One that lets it go on does not."""
    for key, move in (("goes-on", Resumed(NOON)), ("ends", None)):
        claim = claimed(ledger_world, key)
        sent = attempt(claim)
        ledger_world.ledger.begin_attempt(sent)
        ledger_world.ledger.release(
            claim, Release("unknown", hold=Hold("unknown", NOON, "fence")), now=NOON
        )
        end = ending(Status.FAILED, cost=cost("0.5", "1"))
        verdict = Verdict.RESUBMIT if move else Verdict.DROP
        said = Decision(verdict, by="Ann", at=NOON, why="seen")
        row = ledger_world.row(claim)
        assert ledger_world.ledger.decide(row, sent, said, move or end, [])

    assert stands(ledger_world) == (HELD + 1, Decimal("0.5"))
    assert_adds_up(ledger_world.ledger)


def test_a_replay_reserves_anew_what_is_still_to_come(ledger_world: World) -> None:
    """Of the month it came in; it ends once more, and is settled once more."""
    claim = claimed(ledger_world, "one")
    ledger_world.ledger.finish(claim, ending(Status.DLQ, cost=cost("1.5", "0.5")))

    again = ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON)

    assert isinstance(again, Claim)
    assert stands(ledger_world) == (Decimal("2.5"), Decimal("1.5"))
    assert_adds_up(ledger_world.ledger)
    ledger_world.ledger.finish(again, ending(cost=cost("3.5", "0.5")))
    assert stands(ledger_world) == (Decimal("0.5"), HELD)
    assert ledger_world.budget_outbox() == []
    assert_adds_up(ledger_world.ledger)


def test_a_replay_that_no_budget_has_room_for_stays_where_it_is(ledger_world: World) -> None:
    """And says why; a raise lets it go."""
    tight = cap("4")
    held = block("3.5", "b-1", (tight,))
    reserve(ledger_world, "3.5", "b-1", tight)
    (told,) = ledger_world.ledger.record([booked("one", of=held)], held)
    claim = ledger_world.ledger.claim(told.row.job_id, ACME, "w-1", now=NOON)
    assert claim is not None
    ledger_world.ledger.finish(claim, ending(Status.DLQ, cost=Cost()))
    assert isinstance(reserve(ledger_world, "2", "b-2", tight), Reserved)

    over = ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON)

    assert isinstance(over, OverBudget)
    assert (over.cap, over.wanted, over.reserved) == (Decimal(4), HELD, Decimal(2))
    assert ledger_world.row(claim).status is Status.DLQ
    assert stands(ledger_world) == (Decimal(2), NOTHING)
    raised = Raise(Decimal(10), NOON + MINUTE, "Ann", "a replay", NOON)
    ledger_world.ledger.raise_cap(ACME, MONTH, CUSTOMER, raised)
    assert isinstance(ledger_world.ledger.reclaim(claim.job_id, ACME, "w-3", now=NOON), Claim)


def test_a_replay_that_has_nothing_more_to_pay_passes_a_full_budget(ledger_world: World) -> None:
    """What is paid is to be delivered."""
    tight = cap("3.5")
    held = block("3.5", "b-1", (tight,))
    reserve(ledger_world, "3.5", "b-1", tight)
    (told,) = ledger_world.ledger.record([booked("one", of=held)], held)
    claim = ledger_world.ledger.claim(told.row.job_id, ACME, "w-1", now=NOON)
    assert claim is not None
    ledger_world.ledger.finish(claim, ending(Status.DLQ, cost=cost("4")))

    assert isinstance(ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON), Claim)
    assert counter(ledger_world).taken == Decimal(4)


def test_what_turns_out_later_moves_the_budgets_once(ledger_world: World) -> None:
    """Two sweeps that saw the same row tell it once."""
    claim = claimed(ledger_world, "one")
    ledger_world.ledger.finish(claim, ending(cost=cost("1.5", "2")))
    seen = ledger_world.row(claim)

    first = ledger_world.ledger.recost(seen, cost("3.5"))
    second = ledger_world.ledger.recost(seen, cost("3.5"))

    assert (first, second) == (True, False)
    assert stands(ledger_world) == (NOTHING, HELD)
    assert_adds_up(ledger_world.ledger)


def test_a_job_is_settled_to_the_month_it_came_in(ledger_world: World) -> None:
    """Whatever the day is when it ends."""
    claim = claimed(ledger_world, "one")

    ledger_world.ledger.finish(claim, ending(cost=cost("3"), ended_at=NOON + 60 * 24 * 40 * MINUTE))

    assert stands(ledger_world) == (NOTHING, Decimal(3))
    assert ledger_world.ledger.counters(ACME, "2026-04") == []


def test_a_job_without_a_budget_moves_none(ledger_world: World) -> None:
    """It was accepted before there was one."""
    claim = ledger_world.running()
    reserve(ledger_world)

    ledger_world.ledger.finish(claim, ending(Status.DLQ))
    again = ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON)

    assert isinstance(again, Claim)
    assert ledger_world.row(claim).booking is None
    assert stands(ledger_world) == (HELD, NOTHING)
