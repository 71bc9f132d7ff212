"""Steering over memory ports. Here: what is cancelled and held, what is left, what it cost."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core import ids
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.core.money import Cause, Cost
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState, Claim, Ending, Operation, Release
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.stages.forming import Lane, form, next_batch
from fireflyassets.stages.steering import CANCELLED, Cancelled, Cancelling, Kept, Steering
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import floor
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, NOON, FrontDoor, asked, front_door

QUARTER = timedelta(days=90)


def steering(door: FrontDoor) -> Steering:
    return Steering(door.ledger, door.clock, lambda _: QUARTER)


def jobs(door: FrontDoor, *keys: str) -> list[JobRow]:
    rows = [asked(key=key) for key in keys]
    door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN)
    known = door.ledger.jobs(CUSTOMER, [ids.job_id(CUSTOMER, key) for key in keys])
    return list(known.values())


def current(door: FrontDoor, row: JobRow) -> JobRow:
    now = door.ledger.job(row.job_id)
    assert now is not None
    return now


def claimed(door: FrontDoor, row: JobRow) -> Claim:
    claim = door.ledger.claim(row.job_id, CUSTOMER, "w-1", now=door.clock.now())
    assert claim is not None
    return claim


def formed(door: FrontDoor, wave_id: str = "w-2") -> list[str]:
    """Dispatch as a tick does; return what went into waves."""
    now = door.clock.now()
    lane = Lane("acme-main", CUSTOMER)
    batch = next_batch(door.ledger, lane, CAMPAIGN, most=10, now=now)
    waves = [
        form(
            door.ledger,
            batch,
            wave_id=wave_id,
            now=now,
            claiming=lambda job_id: door.ledger.claim(job_id, CUSTOMER, wave_id, now=now),
        )
        for batch in [batch]
        if batch
    ]
    return [job_id for wave in waves if wave for job_id in wave.jobs]


def sent(claim: Claim, *, state: AttemptState) -> Attempt:
    return Attempt(
        job_id=claim.job_id,
        step="art",
        generation=1,
        n=1,
        family=Family.FIREFLY,
        organisation="ORG",
        wave_id=claim.wave_id,
        epoch=claim.epoch,
        submitted_at=NOON,
        output_key=None,
        cause=Cause.FIRST_TRY,
        state=state,
    )


def test_a_waiting_job_is_cancelled_with_what_it_cost_so_far() -> None:
    """It ends, says by whom, is kept like any ended job, and a repeat answers the same."""
    door = front_door()
    (row,) = jobs(door, "a")
    claim = claimed(door, row)
    door.ledger.book(
        [
            Operation(
                row.job_id,
                "v-1",
                0,
                "art",
                1,
                1,
                CUSTOMER,
                CAMPAIGN,
                Decimal("0.5"),
                "card",
                Cause.FIRST_TRY,
                NOON,
            )
        ]
    )
    door.ledger.release(claim, Release("parked"), now=NOON)

    told = steering(door).cancel(current(door, row), by="somebody")

    assert isinstance(told, Cancelled)
    assert (told.row.status, told.row.cost_actual) == (Status.CANCELLED, Decimal("0.5"))
    assert told.row.reason == "Cancelled by somebody."
    assert told.row.ttl == NOON + QUARTER
    assert steering(door).cancel(told.row, by="another") == told
    assert formed(door) == []


def test_a_job_in_a_wave_is_ended_by_it() -> None:
    """The wish stands in the row until whoever has the job gives it back; to ask again is safe."""
    door = front_door()
    (row,) = jobs(door, "a")
    claim = claimed(door, row)

    told = [steering(door).cancel(current(door, row), by=by) for by in ("x", "y")]

    assert told == [Cancelling(current(door, row))] * 2
    assert current(door, row).status is Status.RUNNING
    assert current(door, row).reason == "Cancelled by x."
    assert isinstance(steering(door).cancel(row, by="x"), Kept)
    door.ledger.release(claim, Release("parked"), now=NOON)
    assert current(door, row).status is Status.CANCELLED


def test_a_job_with_a_paid_call_in_the_air_is_cancelled_and_stays_unsettled() -> None:
    """Its call is somebody's still: the sweep's, or the operators' who see it on their list."""
    door = front_door()
    (row,) = jobs(door, "a")
    claim = claimed(door, row)
    assert door.ledger.begin_attempt(sent(claim, state=AttemptState.SUBMITTING))
    hold = Hold("The outcome is unknown.", NOON, "fence")
    door.ledger.release(claim, Release("held", hold=hold), now=NOON)

    told = steering(door).cancel(current(door, row), by="x")

    assert isinstance(told, Cancelled)
    assert (told.row.hold, told.row.unsettled) == (None, True)
    assert len(door.ledger.open_attempts(before=NOON + QUARTER, most=5)) == 1


def test_a_finished_picture_keeps_no_job_from_being_cancelled() -> None:
    """Its call has had its answer: what was paid stays booked, the rest is not made."""

    async def scenario() -> None:
        here = floor()
        here.documents.vendor.script += [NotAccepted(Fault(Family.PHOTOSHOP, 402))] * 3
        (job,) = here.order(1)
        await here.work([job])
        assert here.row(job).status is Status.DLQ

        answer = Steering(here.ledger, here.clock, lambda _: QUARTER).cancel(
            here.row(job), by="acme"
        )

        assert isinstance(answer, Cancelled)
        assert (here.row(job).status, here.row(job).cost_actual) == (
            Status.CANCELLED,
            Decimal("0.5"),
        )
        books_agree(here)

    run(scenario)


def test_what_has_ended_is_not_cancelled() -> None:
    door = front_door()
    (row,) = jobs(door, "a")
    claim = claimed(door, row)
    from_the_wave = _ended(door, claim, Status.SUCCEEDED)

    told = steering(door).cancel(from_the_wave, by="x")

    assert isinstance(told, Kept)
    assert "succeeded" in told.reason


def test_a_campaign_on_hold_starts_nothing_until_it_is_resumed() -> None:
    """Not what waits, not what comes in later, not what a wave gives back."""
    door = front_door()
    waiting, working = jobs(door, "a", "b")
    claim = claimed(door, working)
    hold = steering(door).hold(CUSTOMER, CAMPAIGN, reason="wrong price", by="x")
    (later,) = jobs(door, "c")
    door.ledger.release(claim, Release("parked"), now=NOON)

    assert current(door, waiting).hold == hold
    assert formed(door) == []
    assert {current(door, row).hold for row in (waiting, working, later)} == {hold}

    steering(door).resume(CUSTOMER, CAMPAIGN)

    assert sorted(formed(door)) == sorted(row.job_id for row in (waiting, working, later))


def test_resuming_a_campaign_lifts_no_other_hold() -> None:
    """A job whose outcome is unknown goes on waiting for a person."""
    door = front_door()
    (row,) = jobs(door, "a")
    fence = Hold("The outcome is unknown.", NOON, "fence")
    door.ledger.release(claimed(door, row), Release("held", hold=fence), now=NOON)

    steering(door).hold(CUSTOMER, CAMPAIGN, reason="r", by="x")
    steering(door).resume(CUSTOMER, CAMPAIGN)

    assert current(door, row).hold == fence


def test_another_campaign_goes_on() -> None:
    """Held jobs leave their line, so that they stand in nobody's way."""
    door = front_door()
    jobs(door, *(f"k{n}" for n in range(15)))
    rows = [asked(key="theirs")]
    door.intake.accept(rows, customer="bolt", campaign=CAMPAIGN)
    steering(door).hold(CUSTOMER, CAMPAIGN, reason="r", by="x")

    assert formed(door) == []
    assert len(door.ledger.due("acme-main", "bolt", CAMPAIGN, now=door.clock.now(), most=10)) == 1


def test_a_cancelled_campaign_ends_all_that_waits_and_then_the_rest() -> None:
    """What runs at the time is held when it comes back, and a second call ends it."""
    door = front_door()
    waiting, working, dead = jobs(door, "a", "b", "c")
    claim = claimed(door, working)
    _ended(door, claimed(door, dead), Status.DLQ)

    steering(door).cancel_all(CUSTOMER, CAMPAIGN, by="x")

    assert [current(door, row).status for row in (waiting, working, dead)] == [
        Status.CANCELLED,
        Status.RUNNING,
        Status.CANCELLED,
    ]
    door.ledger.release(claim, Release("parked"), now=NOON)
    assert formed(door) == []
    steering(door).cancel_all(CUSTOMER, CAMPAIGN, by="x")
    assert current(door, working).status is Status.CANCELLED


def test_a_dispatcher_that_is_late_holds_nothing_for_good() -> None:
    """It read the hold before the campaign was resumed."""
    door = front_door()
    (row,) = jobs(door, "a")
    hold = steering(door).hold(CUSTOMER, CAMPAIGN, reason="r", by="x")
    steering(door).resume(CUSTOMER, CAMPAIGN)

    assert not door.ledger.hold_with_campaign(current(door, row), hold, now=NOON)
    assert formed(door) == [row.job_id]


def _ended(door: FrontDoor, claim: Claim, status: Status) -> JobRow:
    door.ledger.finish(claim, Ending(status, None, (), Cost(), NOON, None))
    row = door.ledger.job(claim.job_id)
    assert row is not None
    return row


class NeverLifting(MemoryLedger):
    """A ledger in which no campaign's hold is lifted."""

    def resume_campaign(self, customer: str, campaign: str) -> None:
        raise AssertionError("A dispatcher that looks now forms a wave.")


def test_a_cancel_leaves_no_moment_without_a_hold() -> None:
    """The cancel's hold takes the place of the earlier one; the jobs need none of their own."""
    door = front_door()
    strict = replace(door, ledger=NeverLifting())
    strict = replace(strict, intake=replace(door.intake, ledger=strict.ledger))
    (row,) = jobs(strict, "a")
    steering(strict).hold(CUSTOMER, CAMPAIGN, reason="wrong price", by="x")

    steering(strict).cancel_all(CUSTOMER, CAMPAIGN, by="y")

    assert current(strict, row).status is Status.CANCELLED


def test_a_campaign_that_was_on_hold_is_cancelled_in_the_words_of_the_cancel() -> None:
    """Whoever looks at what is sent later learns that it waits behind a cancel, not a hold."""
    door = front_door()
    (row,) = jobs(door, "a")
    steering(door).hold(CUSTOMER, CAMPAIGN, reason="wrong price", by="x")

    steering(door).cancel_all(CUSTOMER, CAMPAIGN, by="y")

    hold = door.ledger.campaign_hold(CUSTOMER, CAMPAIGN)
    assert hold is not None
    assert hold.reason == f"The campaign is on hold (y): {CANCELLED}"
    assert current(door, row).status is Status.CANCELLED
    (later,) = jobs(door, "b")
    assert formed(door) == []
    assert current(door, later).hold == hold
