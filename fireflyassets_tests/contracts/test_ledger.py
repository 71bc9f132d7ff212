"""What every ledger promises about a job's row, whatever keeps it.

Here: intake, reading, and each move of a job's status. Not here: waves and paid calls
(`test_ledger_waves`, `test_ledger_calls`), what only shows under threads (`test_ledger_races`).
"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.job import Hold
from fireflyassets.core.status import ENDED, KEPT, Status
from fireflyassets.ports.ledger import Claim, Conflict, Duplicate, Ending, Recorded, Release
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    CREDENTIAL,
    MINUTE,
    NOON,
    SPRING,
    WAVE,
    World,
    ending,
    job,
)

HOLD = Hold("outcome of a paid call is unknown", since=NOON, by="fence")


def test_recorded_row_reads_back_whole(ledger_world: World) -> None:
    """A recorded row is durable and complete, and its event says queued."""
    row = job(hold=HOLD, not_before=NOON + MINUTE, reason="why", cost_estimate=Decimal("0.10"))

    assert ledger_world.ledger.record([row]) == [Recorded(row)]

    assert ledger_world.ledger.job(row.job_id) == row
    (event,) = ledger_world.outbox()
    assert (event.job_id, event.customer, event.campaign) == (row.job_id, ACME, SPRING)
    assert (event.status, event.at, event.version) == (Status.QUEUED, NOON, 1)


def test_unknown_job_is_none(ledger_world: World) -> None:
    assert ledger_world.ledger.job("no-such-job") is None
    assert ledger_world.ledger.claim("no-such-job", ACME, WAVE, now=NOON) is None
    assert ledger_world.ledger.reclaim("no-such-job", ACME, WAVE, now=NOON) is None


def test_same_request_is_a_duplicate_and_another_a_conflict(ledger_world: World) -> None:
    """Of one id the first request stands; the same again changes nothing, another is refused."""
    first = ledger_world.queued()
    claim = ledger_world.ledger.claim(first.job_id, ACME, WAVE, now=NOON)
    assert claim is not None
    standing = ledger_world.row(claim)

    again = ledger_world.ledger.record([job(), job(body_hash="other")])

    assert again == [Duplicate(standing), Conflict(standing)]
    assert ledger_world.row(claim) == standing
    assert len(ledger_world.outbox()) == 2


def test_known_ids_do_not_keep_new_ones_out(ledger_world: World) -> None:
    """In a batch over several transactions, each row gets its own answer, in its own place."""
    known = {key: ledger_world.queued(key) for key in ("7", "55", "56", "119")}
    rows = [job(str(n)) for n in range(120)]
    rows[55] = job("55", body_hash="other")

    answers = ledger_world.ledger.record(rows)

    assert answers[7] == Duplicate(known["7"])
    assert answers[55] == Conflict(known["55"])
    assert [n for n, answer in enumerate(answers) if not isinstance(answer, Recorded)] == [
        7,
        55,
        56,
        119,
    ]
    assert len(ledger_world.ledger.campaign_jobs(ACME, SPRING)) == 120
    assert len(ledger_world.outbox()) == 120


def test_equal_ids_in_one_batch_are_answered_by_the_first(ledger_world: World) -> None:
    """The first of equal ids is recorded; those behind it are its duplicates or conflicts."""
    first = job()

    answers = ledger_world.ledger.record([first, job(), job(body_hash="other"), job("two")])

    assert answers == [Recorded(first), Duplicate(first), Conflict(first), Recorded(job("two"))]
    assert len(ledger_world.outbox()) == 2


def test_nothing_recorded_is_nothing_answered(ledger_world: World) -> None:
    assert ledger_world.ledger.record([]) == []
    assert ledger_world.ledger.jobs(ACME, []) == {}


@pytest.mark.parametrize("changes", [{"status": Status.RUNNING}, {"epoch": 1}, {"wave": WAVE}])
def test_rows_begin_queued(ledger_world: World, changes: dict[str, object]) -> None:
    """No row enters in the middle of its life, and none of its batch is written."""
    with pytest.raises(ValueError, match="begins queued"):
        ledger_world.ledger.record([job("fine"), job("bad", **changes)])

    assert ledger_world.ledger.campaign_jobs(ACME, SPRING) == []


def test_jobs_reads_many_by_id_of_one_customer_only(ledger_world: World) -> None:
    """More ids than one request may hold are all answered; unknown and foreign ones are not."""
    rows = [job(str(n)) for n in range(230)]
    ledger_world.ledger.record(rows)
    wanted = [row.job_id for row in rows]

    found = ledger_world.ledger.jobs(ACME, [*wanted, wanted[0], "unknown"])

    assert found == {row.job_id: row for row in rows}
    assert ledger_world.ledger.jobs("other", wanted[:3]) == {}


def test_campaign_jobs_stand_in_order_of_creation(ledger_world: World) -> None:
    """A campaign's jobs are listed by creation time, those of other campaigns not at all."""
    late = ledger_world.queued("late", created_at=NOON + MINUTE)
    early = ledger_world.queued("early", created_at=NOON - MINUTE)
    ledger_world.queued("foreign", campaign_id="autumn")

    assert ledger_world.ledger.campaign_jobs(ACME, SPRING) == [early, late]


def test_due_are_the_claimable_jobs_whose_time_has_come(ledger_world: World) -> None:
    """Held, parked, claimed and foreign jobs are not due; the longest due come first."""
    later = ledger_world.queued("later", created_at=NOON - MINUTE)
    sooner = ledger_world.queued("sooner", created_at=NOON - 2 * MINUTE)
    ledger_world.queued("held", hold=HOLD)
    ledger_world.queued("parked", not_before=NOON + MINUTE)
    ledger_world.queued("foreign", credential="other")
    ledger_world.running("claimed")

    due = ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON, most=10)

    assert due == [sooner, later]
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON, most=1) == [sooner]
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON, most=0) == []
    assert len(ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON + MINUTE, most=10)) == 3


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
    assert ledger_world.events() == [(Status.QUEUED, 1), (Status.RUNNING, 2)]


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
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON + MINUTE, most=9) == [row, young]


def test_parked_job_is_due_later_but_may_be_claimed_by_name(ledger_world: World) -> None:
    """A park is advice to the dispatcher, not a lock."""
    claim = ledger_world.running()
    later = NOON + timedelta(minutes=5)

    ledger_world.ledger.release(claim, Release("no ticket", not_before=later), now=NOON)

    assert ledger_world.row(claim).not_before == later
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON, most=9) == []
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=later, most=9) == [ledger_world.row(claim)]
    assert ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is not None


@pytest.mark.parametrize("not_before", [None, NOON + MINUTE])
def test_held_job_is_never_due(ledger_world: World, not_before: object) -> None:
    """A hold keeps a released job out of its line until somebody lifts it."""
    claim = ledger_world.running()
    release = Release("outcome unknown", hold=HOLD)

    ledger_world.ledger.release(claim, replace(release, not_before=not_before), now=NOON)

    assert ledger_world.row(claim).hold == HOLD
    assert ledger_world.ledger.due(CREDENTIAL, ACME, now=NOON + 9 * MINUTE, most=9) == []
    assert ledger_world.ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is None


def test_takeover_counts_a_crash_and_raises_the_epoch(ledger_world: World) -> None:
    """After a takeover nothing under the old claim counts, and the crash is no attempt."""
    claim = ledger_world.running()

    ledger_world.ledger.release(claim, Release("run died", crashed=True), now=NOON)

    row = ledger_world.row(claim)
    assert (row.crashes, row.attempts, row.epoch) == (1, 0, 2)
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.finish(claim, ending())
    assert ledger_world.events() == [(Status.QUEUED, 1), (Status.RUNNING, 2), (Status.QUEUED, 5)]


@pytest.mark.parametrize("status", sorted(ENDED))
def test_finished_row_says_all(ledger_world: World, status: Status) -> None:
    """An ended row says how, when, for how much and in which run; a fault counts an attempt."""
    claim = ledger_world.running()
    before = ledger_world.row(claim)
    end = ending(
        status,
        reason="because",
        outputs=("a/1.jpg", "a/2.jpg"),
        cost_actual=Decimal("7.25"),
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
    assert ledger_world.events()[-1] == (Status.RUNNING, 4)


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


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_no_ending_leads_to_work(status: Status) -> None:
    """What does not end a job cannot be written as its end."""
    with pytest.raises(ValueError, match="does not end a job"):
        ending(status)


@pytest.mark.parametrize("status", sorted(KEPT))
def test_kept_rows_never_expire(status: Status) -> None:
    """A row that waits for somebody has no expiry."""
    with pytest.raises(ValueError, match="never expires"):
        Ending(status, None, (), Decimal(1), NOON, NOON + MINUTE)


def _brought_to(world: World, status: Status) -> Claim:
    """Return a claim that was good once, of a job that now stands in *status*."""
    if status in ENDED:
        return world.ended(status)
    claim = world.running()
    if status is Status.QUEUED:
        world.ledger.release(claim, Release("stopped"), now=NOON)
    return claim
