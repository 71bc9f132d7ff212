"""What every ledger promises about jobs that ended by a fault: the list, replays, snapshots owed.

Here: conditional moves and what they leave. Not here: who may be replayed (`stages/test_replay`).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    CREDENTIAL,
    MINUTE,
    NOON,
    SPRING,
    World,
    ending,
)

LATER = NOON + 10 * MINUTE


def dead(world: World, key: str = "one", failure: FailureClass = FailureClass.TRANSIENT) -> Claim:
    """Bring a job into ``dlq``."""
    claim = world.running(key)
    world.ledger.finish(claim, ending(Status.DLQ, failure=failure))
    return claim


def test_the_list_holds_what_is_in_dlq_and_why(ledger_world: World) -> None:
    """With its class; other ends are not in it."""
    claim = dead(ledger_world)
    for status in (Status.REVIEW, Status.FAILED, Status.SUCCEEDED):
        ledger_world.ended(status, status.value)

    (row,) = ledger_world.ledger.dead()

    assert (row.job_id, row.failure) == (claim.job_id, FailureClass.TRANSIENT)


def test_a_replayed_job_waits_in_its_line_until_it_is_due(ledger_world: World) -> None:
    """It counts a replay, its epoch rises, and no trace of its end is left."""
    ledger, claim = ledger_world.ledger, dead(ledger_world)
    (row,) = ledger.dead()

    assert ledger.replay(row, due_at=LATER, said="Replayed.", now=NOON + MINUTE)

    now = ledger_world.row(claim)
    assert (now.status, now.replays, now.epoch) == (Status.QUEUED, 1, row.epoch + 1)
    assert (now.failure, now.ended_at, now.wave, now.not_before) == (None, None, None, LATER)
    assert now.reason == "Replayed."
    assert ledger.dead() == []
    assert ledger.due(CREDENTIAL, ACME, SPRING, now=LATER - MINUTE, most=9) == []
    assert [one.job_id for one in ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=9)] == [
        row.job_id
    ]
    assert ledger_world.outbox()[-1].status is Status.QUEUED
    assert ledger.claim(row.job_id, ACME, "w-2", now=LATER) is not None


def test_of_many_replays_of_one_job_one_wins(ledger_world: World) -> None:
    """Whoever comes second changes nothing."""
    claim = dead(ledger_world)
    (row,) = ledger_world.ledger.dead()

    def again(_: int) -> bool:
        return ledger_world.ledger.replay(row, due_at=LATER, said="Replayed.", now=NOON)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(again, range(8)))

    assert sorted(told) == [False] * 7 + [True]
    assert ledger_world.row(claim).replays == 1


def test_only_what_is_in_dlq_is_replayed(ledger_world: World) -> None:
    """A job that is done, or was run again by hand, stays as it is."""
    ledger, claim = ledger_world.ledger, dead(ledger_world)
    (row,) = ledger.dead()
    assert ledger.reclaim(row.job_id, ACME, "w-2", now=NOON) is not None
    done = ledger_world.row(ledger_world.ended(Status.SUCCEEDED, "done"))

    assert not ledger.replay(row, due_at=LATER, said="Replayed.", now=NOON)
    assert not ledger.replay(done, due_at=LATER, said="Replayed.", now=NOON)
    assert not ledger.replay(
        replace(done, status=Status.DLQ), due_at=LATER, said="Replayed.", now=NOON
    )

    assert ledger_world.row(claim).status is Status.RUNNING


def test_each_fault_owes_a_snapshot_until_it_is_written(ledger_world: World) -> None:
    """Success owes none, and a later fault owes another one."""
    ledger = ledger_world.ledger
    for status in (Status.DLQ, Status.REVIEW, Status.FAILED, Status.SUCCEEDED):
        ledger_world.ended(status, status.value)

    first = ledger.owed(most=10)
    assert {one.row.status for one in first} == {Status.DLQ, Status.REVIEW, Status.FAILED}
    assert len(ledger.owed(most=2)) == 2
    (dlq,) = [one for one in first if one.row.status is Status.DLQ]
    claim = ledger.reclaim(dlq.row.job_id, ACME, "w-2", now=LATER)
    assert claim is not None
    ledger.finish(claim, ending(Status.DLQ, ended_at=LATER))

    assert not ledger.snapped(dlq)
    for one in ledger.owed(most=10):
        assert ledger.snapped(one)
        assert not ledger.snapped(one)
    assert ledger.owed(most=10) == []


def test_a_snapshot_that_is_owed_knows_its_fault_after_a_replay(ledger_world: World) -> None:
    """Whoever is quick to run a job again takes no class or reason out of its snapshot."""
    ledger, claim = ledger_world.ledger, dead(ledger_world)
    (row,) = ledger.dead()
    assert ledger.replay(row, due_at=LATER, said="Replayed.", now=NOON + MINUTE)

    (owed,) = ledger.owed(most=9)

    assert (owed.row.status, owed.row.failure) == (Status.DLQ, FailureClass.TRANSIENT)
    assert owed.row.reason == row.reason
    assert ledger_world.row(claim).failure is None
    assert ledger.snapped(owed)
    assert ledger.owed(most=9) == []


def test_a_replay_that_is_taken_back_leaves_the_job_as_it_was(ledger_world: World) -> None:
    """Same class, reason and time, no replay and no attempt more; it may be replayed again."""
    ledger, claim = ledger_world.ledger, dead(ledger_world)
    (before,) = ledger.dead()
    assert ledger.replay(before, due_at=LATER, said="Replayed.", now=NOON + MINUTE)
    end = ending(Status.DLQ, failure=FailureClass.TRANSIENT)

    assert ledger.take_back(ledger_world.row(claim), end)

    (now,) = ledger.dead()
    assert now == replace(before, epoch=before.epoch + 2, wave=None)
    assert ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=9) == []
    assert not ledger.take_back(now, end)
    assert ledger_world.outbox()[-1].status is Status.DLQ
    assert ledger.replay(now, due_at=LATER, said="Replayed.", now=NOON + MINUTE)


def test_what_a_wave_has_begun_is_not_taken_back(ledger_world: World) -> None:
    """Its calls may be paid for: it goes on, whoever read it before."""
    ledger, claim = ledger_world.ledger, dead(ledger_world)
    (row,) = ledger.dead()
    assert ledger.replay(row, due_at=NOON, said="Replayed.", now=NOON)
    queued = ledger_world.row(claim)
    assert ledger.claim(row.job_id, ACME, "w-2", now=LATER) is not None

    assert not ledger.take_back(queued, ending(Status.DLQ))

    assert ledger_world.row(claim).status is Status.RUNNING
