"""What every ledger promises about rows that an open call or a wish to cancel may still move."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.job import CAMPAIGN, FACTORY, FENCE, Cancel, Hold
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Release
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, World, ending

OPEN = Cost(Decimal(1), Decimal(2), open=True)


def listed(world: World) -> list[str]:
    """Return the jobs that are unsettled."""
    return [row.job_id for row in world.ledger.unsettled(after=None, most=100)]


def held(world: World, by: str, key: str = "one") -> Claim:
    """Return the last claim of a job that somebody holds."""
    claim = world.running(key)
    world.ledger.release(claim, Release("held", hold=Hold("held", NOON, by)), now=NOON)
    return claim


def ended(world: World, status: Status = Status.DLQ, key: str = "one") -> Claim:
    """Return the claim of a job that ended while a call of it was open."""
    claim = world.running(key)
    world.ledger.finish(claim, replace(ending(status), cost=OPEN))
    return claim


def test_jobs_held_by_the_fence_or_ended_with_an_open_call_are_listed(ledger_world: World) -> None:
    """No other hold and no other end is, nor a job that a wave works on."""
    mine = [held(ledger_world, FENCE, "held"), ended(ledger_world, key="ended")]
    held(ledger_world, FACTORY, "look")
    held(ledger_world, CAMPAIGN, "campaign")
    ledger_world.ended(Status.DLQ, "settled")
    ledger_world.running("running")

    assert listed(ledger_world) == sorted(one.job_id for one in mine)
    assert all(ledger_world.row(one).unsettled for one in mine)


def test_unsettled_rows_come_by_job_id_in_slices(ledger_world: World) -> None:
    jobs = sorted(held(ledger_world, FENCE, f"job-{n}").job_id for n in range(5))
    ledger = ledger_world.ledger

    first = ledger.unsettled(after=None, most=2)
    rest = ledger.unsettled(after=first[-1].job_id, most=10)

    assert [row.job_id for row in first] == jobs[:2]
    assert [row.job_id for row in rest] == jobs[2:]


def test_lifted_hold_leaves_the_list(ledger_world: World) -> None:
    claim = held(ledger_world, FENCE)

    assert ledger_world.ledger.lift(ledger_world.row(claim), now=NOON)

    assert listed(ledger_world) == []
    assert not ledger_world.row(claim).unsettled


def test_job_that_is_run_again_leaves_the_list(ledger_world: World) -> None:
    """Its wave says anew how it ends."""
    claim = ended(ledger_world)

    again = ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON)

    assert again is not None
    assert listed(ledger_world) == []


def test_held_job_that_is_closed_stays_as_long_as_a_call_is_open(ledger_world: World) -> None:
    claim = held(ledger_world, FENCE)
    end = replace(ending(Status.CANCELLED), cost=OPEN)

    assert ledger_world.ledger.close(ledger_world.row(claim), end)

    row = ledger_world.row(claim)
    assert (row.cost, row.unsettled) == (OPEN, True)
    assert ledger_world.ledger.recost(row, Cost(Decimal(3)))
    assert listed(ledger_world) == []


def test_costs_are_told_by_whoever_looked_last(ledger_world: World) -> None:
    """Who read the row before another told its cost changes nothing any more."""
    claim = ended(ledger_world)
    row = ledger_world.row(claim)

    assert ledger_world.ledger.recost(row, Cost(Decimal(3)))
    assert not ledger_world.ledger.recost(row, OPEN)

    settled = ledger_world.row(claim)
    assert (settled.cost, settled.unsettled) == (Cost(Decimal(3)), False)
    assert ledger_world.ledger.recost(settled, OPEN)
    assert listed(ledger_world) == [claim.job_id]


CANCEL = Cancel("acme", 60 * MINUTE)


def asked(world: World) -> Claim:
    """Return the claim of a running job that is to be cancelled."""
    claim = world.running()
    assert world.ledger.ask_cancel(world.row(claim), CANCEL)
    return claim


def test_job_that_is_to_be_cancelled_ends_instead_of_being_queued(ledger_world: World) -> None:
    """Whoever gives it back, and whatever for; its cost is looked at again."""
    claim = asked(ledger_world)
    assert ledger_world.row(claim).cancel == CANCEL
    assert ledger_world.row(claim).status is Status.RUNNING

    hold = Hold("held", NOON, FENCE)
    status = ledger_world.ledger.release(claim, Release("held", hold=hold), now=NOON)

    row = ledger_world.row(claim)
    assert status is row.status is Status.CANCELLED
    assert (row.reason, row.hold, row.cancel) == ("Cancelled by acme.", None, None)
    assert (row.ended_at, row.ttl) == (NOON, NOON + 60 * MINUTE)
    assert listed(ledger_world) == [claim.job_id]
    assert ledger_world.events()[-1][0] is Status.CANCELLED
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.release(claim, Release("again"), now=NOON)


@pytest.mark.parametrize("status", [Status.DLQ, Status.REVIEW, Status.SUCCEEDED])
def test_job_that_is_to_be_cancelled_ends_so_unless_it_is_done(
    ledger_world: World, status: Status
) -> None:
    claim = asked(ledger_world)

    ended_as = ledger_world.ledger.finish(claim, ending(status))

    row = ledger_world.row(claim)
    done = status is Status.SUCCEEDED
    assert ended_as is row.status is (status if done else Status.CANCELLED)
    assert (row.cancel, row.unsettled) == (None, not done)


def test_a_wish_to_cancel_is_noted_on_the_row_that_was_seen(ledger_world: World) -> None:
    """Not on a job that no wave has, nor on one that has moved."""
    claim = ledger_world.running()
    seen = ledger_world.row(claim)
    ledger_world.ledger.release(claim, Release("parked"), now=NOON)

    assert not ledger_world.ledger.ask_cancel(seen, CANCEL)
    assert not ledger_world.ledger.ask_cancel(ledger_world.row(claim), CANCEL)
    assert ledger_world.row(claim).cancel is None
