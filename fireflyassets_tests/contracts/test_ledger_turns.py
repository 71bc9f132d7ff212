"""What every ledger promises about a job's turns in waves, whatever keeps it.

Here: each move of a job's status, legal and not. Not here: intake and reading (`test_ledger`),
waves and paid calls (`_waves`, `_calls`), what only shows under threads (`_races`).
"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.core.cause import HeldBy
from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.job import Hold
from fireflyassets.core.money import Cost
from fireflyassets.core.status import ENDED, KEPT, Status
from fireflyassets.ports.entries import Claim, Ending, Release
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

HOLD = Hold("outcome of a paid call is unknown", since=NOON, by="fence")


def test_claim_moves_a_queued_job_into_the_wave(ledger_world: World) -> None:
    """A claimed job runs in the wave, one epoch up, and no longer says why it waited."""
    row = ledger_world.queued(reason="parked", not_before=NOON + MINUTE)

    claim = ledger_world.ledger.claim(row.job_id, ACME, WAVE, now=NOON + MINUTE)

    assert claim == Claim(row.job_id, ACME, WAVE, epoch=1)
    assert ledger_world.ledger.job(row.job_id) == replace(
        row,
        status=Status.RUNNING,
        wave=WAVE,
        epoch=1,
        reason=None,
        not_before=None,
        updated_at=NOON + MINUTE,
    )
    assert ledger_world.events() == [(Status.QUEUED, 1)]


def test_claim_of_a_job_that_ran_before_goes_on_counting(ledger_world: World) -> None:
    """Epochs only rise, also in a wave whose first jobs were never claimed before."""
    again = ledger_world.running("again")
    ledger_world.ledger.release(again, Release("stopped"), now=NOON)
    ledger_world.running("fresh", wave_id="w-2")

    claim = ledger_world.ledger.claim(again.job_id, ACME, "w-2", now=NOON)

    assert claim == Claim(again.job_id, ACME, "w-2", epoch=2)


def test_claim_of_a_held_job_is_refused(ledger_world: World) -> None:
    row = ledger_world.queued(hold=HOLD)

    assert ledger_world.ledger.claim(row.job_id, ACME, WAVE, now=NOON) is None
    assert ledger_world.ledger.job(row.job_id) == row


def test_claim_by_another_customer_is_refused(ledger_world: World) -> None:
    row = ledger_world.queued()

    assert ledger_world.ledger.claim(row.job_id, "other", WAVE, now=NOON) is None
    assert ledger_world.ledger.job(row.job_id) == row


def test_released_job_takes_its_place_in_line_again(ledger_world: World) -> None:
    """A job given back is due at once, before younger ones, with its reason and no crash."""
    claim = ledger_world.running("old", created_at=NOON - MINUTE)
    young = ledger_world.queued("young")

    ledger_world.ledger.release(claim, Release("wave stopped"), now=NOON + MINUTE)

    row = ledger_world.row(claim)
    assert (row.status, row.wave, row.epoch) == (Status.QUEUED, None, 1)
    assert (row.reason, row.crashes, row.attempts) == ("wave stopped", 0, 0)
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON + MINUTE, most=9) == [
        row,
        young,
    ]


def test_parked_job_keeps_what_its_reason_is_about_until_it_is_claimed(
    ledger_world: World,
) -> None:
    """Told as data beside the sentence, by the row and by every list; a later release says anew."""
    claim = ledger_world.running()
    later = NOON + timedelta(minutes=5)
    parked = Release("no ticket", not_before=later, held_by=HeldBy.SHARE)

    ledger_world.ledger.release(claim, parked, now=NOON)
    told = [ledger_world.row(claim), *ledger_world.ledger.campaign_jobs(ACME, SPRING)]
    again = ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON)

    assert [row.parked_for for row in told] == [HeldBy.SHARE, HeldBy.SHARE]
    assert again is not None
    assert ledger_world.row(claim).parked_for is None


def test_parked_job_is_due_later_but_may_be_claimed_by_name(ledger_world: World) -> None:
    """A park is advice to the dispatcher, not a lock."""
    claim = ledger_world.running()
    later = NOON + timedelta(minutes=5)

    ledger_world.ledger.release(claim, Release("no ticket", not_before=later), now=NOON)

    assert ledger_world.row(claim).not_before == later
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON, most=9) == []
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=later, most=9) == [
        ledger_world.row(claim)
    ]
    assert ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is not None


@pytest.mark.parametrize("not_before", [None, NOON + MINUTE])
def test_held_job_is_never_due(ledger_world: World, not_before: object) -> None:
    """A hold keeps a released job out of its line until somebody lifts it."""
    claim = ledger_world.running()
    release = Release("outcome unknown", hold=HOLD)

    ledger_world.ledger.release(claim, replace(release, not_before=not_before), now=NOON)

    assert ledger_world.row(claim).hold == HOLD
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON + 9 * MINUTE, most=9) == []
    assert ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is None


def test_takeover_counts_a_crash_and_raises_the_epoch(ledger_world: World) -> None:
    """After a takeover nothing under the old claim counts, and the crash is no attempt."""
    claim = ledger_world.running()

    ledger_world.ledger.release(claim, Release("run died", crashed=True), now=NOON)

    row = ledger_world.row(claim)
    assert (row.crashes, row.attempts, row.epoch) == (1, 0, 2)
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.finish(claim, ending())
    assert ledger_world.events() == [(Status.QUEUED, 1), (Status.QUEUED, 5)]


@pytest.mark.parametrize("status", sorted(ENDED))
def test_finished_row_says_all(ledger_world: World, status: Status) -> None:
    """An ended row says how, when, for how much and in which run; a fault counts an attempt."""
    claim = ledger_world.running()
    before = ledger_world.row(claim)
    end = ending(
        status,
        reason="because",
        outputs=("a/1.jpg", "a/2.jpg"),
        cost=Cost(Decimal("7.25"), Decimal("0.5")),
        ttl=None if status in KEPT else NOON + timedelta(days=90),
        run_id="run-9",
    )

    ledger_world.ledger.finish(claim, end)

    assert ledger_world.row(claim) == replace(
        before,
        status=status,
        reason="because",
        outputs=("a/1.jpg", "a/2.jpg"),
        cost_actual=Decimal("7.25"),
        cost_possible=Decimal("0.5"),
        ended_at=end.ended_at,
        updated_at=end.ended_at,
        ttl=end.ttl,
        run_id="run-9",
        attempts=int(status in {Status.FAILED, Status.DLQ, Status.REVIEW}),
    )
    assert ledger_world.events()[-1] == (status, 3)


def test_reclaim_of_a_dead_job_is_a_replay(ledger_world: World) -> None:
    """A replay leaves nothing of the end on the row and counts itself."""
    ended = ledger_world.ended(Status.DLQ)
    assert ledger_world.row(ended).ended_at is not None

    claim = ledger_world.ledger.reclaim(ended.job_id, ACME, "w-2", now=NOON + 2 * MINUTE)

    assert claim == Claim(ended.job_id, ACME, "w-2", epoch=2)
    row = ledger_world.row(ended)
    assert (row.status, row.wave, row.replays) == (Status.RUNNING, "w-2", 1)
    assert (row.ended_at, row.ttl, row.reason) == (None, None, None)
    assert ledger_world.events()[-1] == (Status.DLQ, 3)


def test_a_replay_forgives_crashes(ledger_world: World) -> None:
    """A poisoned job that a person runs again is not ended by its next crash."""
    first = ledger_world.running()
    ledger_world.ledger.release(first, Release("run died", crashed=True), now=NOON)
    again = ledger_world.ledger.claim(first.job_id, ACME, "w-2", now=NOON)
    assert again is not None
    ending = Ending(Status.DLQ, "poison", (), Cost(), NOON, None)
    ledger_world.ledger.finish(again, ending)
    assert ledger_world.row(again).crashes == 1

    ledger_world.ledger.reclaim(first.job_id, ACME, "w-3", now=NOON)

    assert ledger_world.row(first).crashes == 0


@pytest.mark.parametrize("status", sorted({Status.RUNNING, *ENDED}))
def test_only_queued_jobs_are_claimed(ledger_world: World, status: Status) -> None:
    """No other state leads to running by a claim."""
    claim = _brought_to(ledger_world, status)
    before = ledger_world.row(claim)

    assert ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is None
    assert ledger_world.row(claim) == before


@pytest.mark.parametrize("status", sorted({Status.QUEUED, Status.RUNNING, *ENDED} - {Status.DLQ}))
def test_only_dead_jobs_are_reclaimed(ledger_world: World, status: Status) -> None:
    """No other state leads to running by a reclaim."""
    claim = _brought_to(ledger_world, status)
    before = ledger_world.row(claim)

    assert ledger_world.ledger.reclaim(claim.job_id, ACME, "w-2", now=NOON) is None
    assert ledger_world.row(claim) == before


@pytest.mark.parametrize("status", sorted({Status.QUEUED, *ENDED}))
def test_only_running_jobs_are_released_or_finished(ledger_world: World, status: Status) -> None:
    """A claim that is over moves nothing, and neither row nor outbox shows that it tried."""
    claim = _brought_to(ledger_world, status)
    before, events = ledger_world.row(claim), ledger_world.outbox()

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.release(claim, Release("late"), now=NOON)
    for target in ENDED:
        with pytest.raises(OwnershipLost):
            ledger_world.ledger.finish(claim, ending(target))

    assert ledger_world.row(claim) == before
    assert ledger_world.outbox() == events


@pytest.mark.parametrize("field", ["customer", "wave_id", "epoch"])
def test_moves_name_the_whole_claim(ledger_world: World, field: str) -> None:
    """A claim of another customer, wave or epoch moves nothing."""
    claim = ledger_world.running()
    foreign = replace(claim, **{field: 9 if field == "epoch" else "other"})
    before, events = ledger_world.row(claim), ledger_world.outbox()

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.finish(foreign, ending())
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.release(foreign, Release("late"), now=NOON)

    assert ledger_world.row(claim) == before
    assert ledger_world.outbox() == events


@pytest.mark.parametrize(
    "release",
    [
        Release("rebound", credential="other"),
        Release("rebound", not_before=NOON, credential="other"),
    ],
)
def test_released_job_changes_its_line_for_good(ledger_world: World, release: Release) -> None:
    """Under another credential it waits in that one's line, also after its next turn."""
    ledger = ledger_world.ledger
    claim = ledger_world.running()
    assert ledger.lines() == set()

    ledger.release(claim, release, now=NOON)

    assert ledger.lines() == {("other", ACME, SPRING)}
    assert ledger.due(CREDENTIAL, ACME, SPRING, now=NOON + MINUTE, most=5) == []
    (row,) = ledger.due("other", ACME, SPRING, now=NOON + MINUTE, most=5)
    assert row.credential == "other"
    again = ledger.claim(row.job_id, ACME, "w-2", now=NOON)
    assert again is not None
    ledger.release(again, Release("stopped"), now=NOON)
    assert [one.wave for one in ledger.due("other", ACME, SPRING, now=NOON + MINUTE, most=5)] == [
        None
    ]


def test_held_job_changes_its_line_too(ledger_world: World) -> None:
    """It stands in no line while it is held, and in the new one afterwards."""
    ledger = ledger_world.ledger
    claim = ledger_world.running()

    ledger.release(claim, Release("rebound", hold=HOLD, credential="other"), now=NOON)

    assert ledger.lines() == set()
    assert ledger.lift(ledger_world.row(claim), now=NOON)
    assert ledger.lines() == {("other", ACME, SPRING)}


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_no_ending_leads_to_work(status: Status) -> None:
    """What does not end a job cannot be written as its end."""
    with pytest.raises(ValueError, match="does not end a job"):
        ending(status)


@pytest.mark.parametrize("status", sorted(KEPT))
def test_kept_rows_never_expire(status: Status) -> None:
    """A row that waits for somebody has no expiry."""
    with pytest.raises(ValueError, match="never expires"):
        Ending(status, None, (), Cost(), NOON, NOON + MINUTE)


def _brought_to(world: World, status: Status) -> Claim:
    """Return a claim that was good once, of a job that now stands in *status*."""
    if status in ENDED:
        return world.ended(status)
    claim = world.running()
    if status is Status.QUEUED:
        world.ledger.release(claim, Release("stopped"), now=NOON)
    return claim
