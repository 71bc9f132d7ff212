"""What every ledger promises about steering, whatever keeps it.

Here: ends and holds of jobs that no wave works on, and campaigns on hold. Not here: whose job it
is to ask (`stages/test_steering`).
"""

from dataclasses import replace

import pytest

from fireflyassets.core.job import CAMPAIGN, Hold
from fireflyassets.core.status import Status
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    CREDENTIAL,
    MINUTE,
    NOON,
    SPRING,
    WAVE,
    World,
    ending,
)

HOLD = Hold("The campaign is on hold.", NOON, "campaign")
LATER = NOON + MINUTE


def due(world: World) -> list[str]:
    rows = world.ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=10)
    return [row.job_id for row in rows]


def test_a_closed_job_has_ended_and_leaves_its_line(ledger_world: World) -> None:
    """Its event is the newest, and no wave gets it any more."""
    row = ledger_world.queued()

    assert ledger_world.ledger.close(row, ending(Status.CANCELLED))

    now = ledger_world.ledger.job(row.job_id)
    assert now is not None
    assert (now.status, now.hold, now.epoch) == (Status.CANCELLED, None, 1)
    assert due(ledger_world) == []
    assert ledger_world.ledger.claim(row.job_id, ACME, WAVE, now=NOON) is None
    assert [event.status for event in ledger_world.outbox()] == [Status.QUEUED, Status.CANCELLED]


def test_a_job_that_has_moved_is_not_closed(ledger_world: World) -> None:
    """Of a claim and a cancel of one row, one wins."""
    row = ledger_world.queued()
    assert ledger_world.ledger.claim(row.job_id, ACME, WAVE, now=NOON) is not None

    assert not ledger_world.ledger.close(row, ending(Status.CANCELLED))

    running = ledger_world.ledger.job(row.job_id)
    assert running is not None
    assert running.status is Status.RUNNING
    assert len(ledger_world.outbox()) == 1
    with pytest.raises(ValueError, match="running"):
        ledger_world.ledger.close(running, ending(Status.CANCELLED))


def test_a_job_in_the_dead_letters_can_be_closed(ledger_world: World) -> None:
    claim = ledger_world.ended(Status.DLQ)

    assert ledger_world.ledger.close(ledger_world.row(claim), ending(Status.CANCELLED))

    assert ledger_world.row(claim).status is Status.CANCELLED
    assert ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON) is None


def test_the_first_hold_of_a_campaign_stands_until_it_is_resumed(ledger_world: World) -> None:
    ledger = ledger_world.ledger
    other = replace(HOLD, since=LATER, reason="Another.")

    assert ledger.campaign_hold(ACME, SPRING) is None
    assert ledger.hold_campaign(ACME, SPRING, HOLD) == HOLD
    assert ledger.hold_campaign(ACME, SPRING, other) == HOLD
    assert ledger.campaign_hold(ACME, SPRING) == HOLD
    assert ledger.campaign_hold("bolt", SPRING) is None
    assert ledger.open_waves() == []

    ledger.resume_campaign(ACME, SPRING)
    ledger.resume_campaign(ACME, SPRING)

    assert ledger.campaign_hold(ACME, SPRING) is None
    assert ledger.hold_campaign(ACME, SPRING, other) == other


def test_a_job_is_held_with_its_campaign_and_lifted(ledger_world: World) -> None:
    """Out of its line while held, back in it when lifted."""
    ledger, row = ledger_world.ledger, ledger_world.queued()
    ledger.hold_campaign(ACME, SPRING, HOLD)

    assert ledger.hold_with_campaign(row, HOLD, now=LATER)

    held = ledger.job(row.job_id)
    assert held is not None
    assert (held.hold, held.status, held.reason) == (HOLD, Status.QUEUED, HOLD.reason)
    assert held.updated_at == LATER  # A hold may be older than what it holds.
    assert due(ledger_world) == []
    assert ledger.claim(row.job_id, ACME, WAVE, now=NOON) is None
    assert ledger.lift(held, now=NOON)
    assert due(ledger_world) == [row.job_id]


def test_no_job_is_held_with_a_campaign_that_was_resumed(ledger_world: World) -> None:
    """A dispatcher that is late leaves nothing behind that nobody would lift."""
    ledger, row = ledger_world.ledger, ledger_world.queued()
    ledger.hold_campaign(ACME, SPRING, HOLD)
    ledger.resume_campaign(ACME, SPRING)

    assert not ledger.hold_with_campaign(row, HOLD, now=LATER)
    ledger.hold_campaign(ACME, SPRING, replace(HOLD, since=LATER))
    assert not ledger.hold_with_campaign(row, HOLD, now=LATER)

    assert due(ledger_world) == [row.job_id]


def test_a_job_that_has_moved_is_not_held(ledger_world: World) -> None:
    ledger, row = ledger_world.ledger, ledger_world.queued()
    ledger.hold_campaign(ACME, SPRING, HOLD)
    assert ledger.claim(row.job_id, ACME, WAVE, now=NOON) is not None

    assert not ledger.hold_with_campaign(row, HOLD, now=LATER)

    running = ledger.job(row.job_id)
    assert running is not None
    assert running.hold is None
    assert not ledger.hold_with_campaign(running, HOLD, now=LATER)


def test_a_hold_takes_the_place_of_another_only_where_that_is_asked(ledger_world: World) -> None:
    """The first one stands, until one is put anew."""
    first, second = (Hold(reason, NOON, CAMPAIGN) for reason in ("first", "second"))
    ledger = ledger_world.ledger
    ledger.hold_campaign(ACME, "spring", first)

    assert ledger.hold_campaign(ACME, "spring", second) == first
    assert ledger.hold_campaign(ACME, "spring", second, anew=True) == second
    assert ledger.campaign_hold(ACME, "spring") == second
