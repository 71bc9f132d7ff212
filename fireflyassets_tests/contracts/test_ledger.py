"""What every ledger promises about rows that come in and are read, whatever keeps them.

Here: intake, reading, and what is due. Not here: moves of a job, waves and paid calls
(`test_ledger_turns`, `_waves`, `_calls`), what only shows under threads (`_races`).
"""

from decimal import Decimal

import pytest

from fireflyassets.core.job import Hold, JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Conflict, Duplicate, Place, Recorded
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    CREDENTIAL,
    MINUTE,
    NOON,
    SPRING,
    WAVE,
    World,
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


def test_pages_of_a_campaign_join_to_the_whole(ledger_world: World) -> None:
    """In the order of creation, equal instants by id; a filter leaves no page short."""
    ledger = ledger_world.ledger
    rows = [ledger_world.queued(f"job-{n}", created_at=NOON + MINUTE * (n // 3)) for n in range(20)]
    ledger_world.queued("elsewhere", campaign_id="summer")
    for row in rows[12::4]:
        assert ledger.claim(row.job_id, ACME, WAVE, now=NOON) is not None
    whole = ledger.campaign_jobs(ACME, SPRING)

    for status in (None, Status.RUNNING, Status.QUEUED, Status.DLQ):
        read: list[JobRow] = []
        after = None
        while True:
            page = ledger.campaign_page(ACME, SPRING, after=after, status=status, most=3)
            read += page
            if len(page) < 3:
                break
            after = Place(page[-1].created_at, page[-1].job_id)
        assert read == [row for row in whole if status in {None, row.status}]
        newest: list[JobRow] = []
        after = None
        while page := ledger.campaign_page(
            ACME, SPRING, after=after, status=status, most=3, newest_first=True
        ):
            newest += page
            after = Place(page[-1].created_at, page[-1].job_id)
        assert newest == read[::-1]

    assert sorted((row.created_at, row.job_id) for row in whole) == [
        (row.created_at, row.job_id) for row in whole
    ]


def test_held_jobs_are_found_among_others(ledger_world: World) -> None:
    """Page by page like all, whatever their status is."""
    ledger = ledger_world.ledger
    rows = [ledger_world.queued(f"job-{n}", created_at=NOON + MINUTE * n) for n in range(9)]
    hold = ledger.hold_campaign(ACME, SPRING, Hold("look", NOON, "ann"))
    for row in rows[1::3]:
        assert ledger.hold_with_campaign(row, hold, now=NOON)

    first = ledger.campaign_page(ACME, SPRING, after=None, is_held=True, most=2)
    place = Place(first[-1].created_at, first[-1].job_id)
    rest = ledger.campaign_page(ACME, SPRING, after=place, is_held=True, most=2)

    assert [row.job_id for row in [*first, *rest]] == [row.job_id for row in rows[1::3]]
    assert {row.hold for row in [*first, *rest]} == {hold}


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
    assert len(ledger_world.outbox()) == 1


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

    due = ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON, most=10)

    assert due == [sooner, later]
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON, most=1) == [sooner]
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON, most=0) == []
    assert len(ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=NOON + MINUTE, most=10)) == 3
