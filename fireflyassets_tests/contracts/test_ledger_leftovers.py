"""What every ledger promises about what the dead left behind, whatever keeps it.

Here: open sends, decisions on them, results nobody's wave collected, jobs under ended waves. Not
here: what a wave writes (`test_ledger_calls`, `test_ledger_turns`).
"""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.job import Hold, JobRow
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    Decision,
    Release,
    Resumed,
    Verdict,
)
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    CREDENTIAL,
    MINUTE,
    NOON,
    SPRING,
    WAVE,
    World,
    attempt,
    ending,
    operation,
    result,
    wave,
)

LATER = NOON + 60 * MINUTE
HOLD = Hold("an outcome is unknown", NOON, "fence")


def opened(world: World) -> list[tuple[str, int]]:
    """Return step and number of all open sends."""
    return [(one.step, one.n) for one in world.ledger.open_attempts(before=LATER, most=100)]


def held(world: World, **changes: object) -> tuple[JobRow, Attempt]:
    """Return a job that is held for one send without an answer, and that send."""
    claim = world.running()
    sent = attempt(claim, **changes)
    world.ledger.begin_attempt(sent)
    world.ledger.release(claim, Release("unknown", hold=HOLD), now=NOON)
    return world.row(claim), sent


def accept(world: World, sent: Attempt) -> None:
    """Note that the vendor took a send."""
    world.ledger.accept_attempt(
        sent, vendor_id="urn:1", status_url="https://s", cancel_url=None, operations=[]
    )


def decision(verdict: Verdict) -> Decision:
    """Return a verdict of today."""
    return Decision(verdict, by="ops", at=NOON + MINUTE, why="it is in the report")


def test_sends_are_open_until_they_are_bound_or_closed(ledger_world: World) -> None:
    """Begun, accepted and lost sends are found; refused, failed, orphaned, bound ones are not."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    sends = [attempt(claim, n=n) for n in range(1, 8)]
    for sent in sends:
        ledger.begin_attempt(sent)
    accept(ledger_world, sends[1])
    accept(ledger_world, sends[2])
    for sent, state in zip(
        sends[3:],
        [
            AttemptState.LOST,
            AttemptState.REFUSED,
            AttemptState.FAILED,
            AttemptState.ORPHANED,
        ],
        strict=True,
    ):
        ledger.close_attempt(sent, state, fault="x", counts=True)

    ledger.bind(claim, result(claim, n=3), [operation(claim, n=3)])

    assert opened(ledger_world) == [("hero", 1), ("hero", 2), ("hero", 4)]


def test_open_sends_come_oldest_first_between_bounds(ledger_world: World) -> None:
    """A slice starts after the last one and ends before the sends that are too young."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    for n in range(1, 6):
        ledger.begin_attempt(attempt(claim, n=n, submitted_at=NOON + n * MINUTE))

    first = ledger.open_attempts(before=NOON + 5 * MINUTE, most=2)
    rest = ledger.open_attempts(before=NOON + 5 * MINUTE, after=first[-1].submitted_at, most=10)

    assert [one.n for one in first] == [1, 2]
    assert [one.n for one in rest] == [3, 4]


def test_late_id_opens_a_closed_send_again(ledger_world: World) -> None:
    """What turns out to be paid is found again, whatever was thought of it."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    ledger_world.ledger.close_attempt(sent, AttemptState.FAILED, fault="x", counts=True)
    assert opened(ledger_world) == []

    accept(ledger_world, sent)

    assert opened(ledger_world) == [("hero", 1)]


def test_second_result_of_a_step_closes_its_send(ledger_world: World) -> None:
    """A send whose result came second is booked and owed nothing more."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    for n in (1, 2):
        ledger.begin_attempt(attempt(claim, n=n))
        ledger.bind(claim, result(claim, n=n), [operation(claim, f"urn:{n}", n=n)])

    assert opened(ledger_world) == []


def test_result_is_adopted_by_a_job_without_a_wave(ledger_world: World) -> None:
    """What a dead worker paid for becomes the step's result while the job waits."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    sent = attempt(claim)
    ledger.begin_attempt(sent)
    ledger.release(claim, Release("died", crashed=True), now=NOON)
    accept(ledger_world, sent)
    row = ledger_world.row(claim)

    assert ledger.adopt(row, result(claim), [operation(claim)])
    assert ledger.adopt(row, result(claim), [operation(claim)])

    history = ledger.history(claim.job_id)
    assert history.steps == {("hero", 1): result(claim)}
    assert history.operations == (operation(claim),)
    assert opened(ledger_world) == []


def test_result_is_not_adopted_once_a_wave_has_the_job(ledger_world: World) -> None:
    """Of the sweep and a wave only one binds."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    ledger.release(claim, Release("died", crashed=True), now=NOON)
    row = ledger_world.row(claim)
    assert ledger.claim(claim.job_id, ACME, "w-2", now=NOON) is not None

    assert not ledger.adopt(row, result(claim), [operation(claim)])

    history = ledger.history(claim.job_id)
    assert (dict(history.steps), history.operations) == ({}, ())
    with pytest.raises(ValueError, match="running"):
        ledger.adopt(ledger_world.row(claim), result(claim), [])


def test_resubmit_lifts_the_hold_and_is_remembered(ledger_world: World) -> None:
    """The job is due again, and the send says who took the risk, and when."""
    row, sent = held(ledger_world)
    said = decision(Verdict.RESUBMIT)
    booked = operation(
        Claim(row.job_id, ACME, WAVE, 1), "send:hero#1#1", cause=Cause.POSSIBLE_DUPLICATE
    )

    assert ledger_world.ledger.decide(row, sent, said, Resumed(said.at), [booked])

    history = ledger_world.ledger.history(row.job_id)
    assert history.attempts == (replace(sent, decision=said),)
    assert history.operations == (booked,)
    assert opened(ledger_world) == []
    due = ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=5)
    assert [(one.job_id, one.hold, one.reason) for one in due] == [(row.job_id, None, None)]
    assert ledger_world.ledger.claim(row.job_id, ACME, "w-2", now=LATER) is not None


def test_drop_closes_the_job_in_its_newest_event(ledger_world: World) -> None:
    """The end of a held job is told as every end is."""
    row, sent = held(ledger_world)

    assert ledger_world.ledger.decide(
        row, sent, decision(Verdict.DROP), ending(Status.FAILED, reason="given up"), []
    )

    now = ledger_world.ledger.job(row.job_id)
    assert now is not None
    assert (now.status, now.hold, now.reason) == (Status.FAILED, None, "given up")
    assert ledger_world.events()[-1] == (Status.FAILED, 2 * (row.epoch + 1) + 1)
    assert ledger_world.ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=5) == []
    assert ledger_world.ledger.claim(row.job_id, ACME, "w-2", now=LATER) is None


def test_billed_send_with_an_id_is_collected_again(ledger_world: World) -> None:
    """A send that the vendor denied, and its report shows, is asked for once more."""
    row, sent = held(ledger_world)
    accept(ledger_world, sent)
    ledger_world.ledger.close_attempt(sent, AttemptState.LOST, fault="404", counts=True)
    (known,) = ledger_world.ledger.history(row.job_id).attempts

    assert ledger_world.ledger.decide(
        row, known, decision(Verdict.BILLED), Resumed(NOON + MINUTE), []
    )

    (now,) = ledger_world.ledger.history(row.job_id).attempts
    assert (now.state, now.vendor_id) == (AttemptState.ACCEPTED, "urn:1")
    assert opened(ledger_world) == [("hero", 1)]


def test_billed_send_without_an_id_has_made_nothing(ledger_world: World) -> None:
    row, sent = held(ledger_world)

    assert ledger_world.ledger.decide(
        row, sent, decision(Verdict.BILLED), ending(Status.REVIEW, reason="billed"), []
    )

    (now,) = ledger_world.ledger.history(row.job_id).attempts
    assert now.state is AttemptState.FAILED
    assert opened(ledger_world) == []


@pytest.mark.parametrize("moved", ["late id", "decided", "lifted"])
def test_decision_on_what_has_moved_writes_nothing(ledger_world: World, moved: str) -> None:
    """A late id, another's decision or a lifted hold makes a decision void, as a whole."""
    row, sent = held(ledger_world)
    ledger = ledger_world.ledger
    if moved == "late id":
        accept(ledger_world, sent)
    elif moved == "decided":
        assert ledger.decide(row, sent, decision(Verdict.RESUBMIT), None, [])
    else:
        assert ledger.lift(row, now=NOON)
    before = (ledger.job(row.job_id), ledger.history(row.job_id))
    booked = operation(Claim(row.job_id, ACME, WAVE, 1), operations=Decimal(9))

    assert not ledger.decide(row, sent, decision(Verdict.DROP), ending(Status.FAILED), [booked])

    assert (ledger.job(row.job_id), ledger.history(row.job_id)) == before


def test_decision_leaves_a_running_job_to_its_wave(ledger_world: World) -> None:
    """A wave may decide by its campaign's rule and go on with the job."""
    claim, ledger = ledger_world.running(), ledger_world.ledger
    sent = attempt(claim)
    ledger.begin_attempt(sent)
    row = ledger_world.row(claim)

    assert ledger.decide(row, sent, decision(Verdict.RESUBMIT), None, [operation(claim)])

    assert ledger_world.row(claim) == row
    assert opened(ledger_world) == []


def test_late_id_after_a_decision_is_open_again(ledger_world: World) -> None:
    """The send that was resubmitted turns out to be paid: it is an orphan to be collected."""
    row, sent = held(ledger_world)
    ledger_world.ledger.decide(row, sent, decision(Verdict.RESUBMIT), Resumed(NOON), [])

    accept(ledger_world, sent)

    (now,) = ledger_world.ledger.history(row.job_id).attempts
    assert now.decision == decision(Verdict.RESUBMIT)
    assert opened(ledger_world) == [("hero", 1)]


def test_lifted_hold_makes_the_job_due_once(ledger_world: World) -> None:
    row, _ = held(ledger_world)
    ledger = ledger_world.ledger

    assert ledger.lift(row, now=NOON)
    assert not ledger.lift(row, now=NOON)

    due = ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=5)
    assert [one.hold for one in due] == [None]
    assert not ledger.lift(due[0], now=NOON)


def test_a_person_who_lifts_a_hold_is_named_and_counts_a_replay(ledger_world: World) -> None:
    crashed = ledger_world.running()
    ledger = ledger_world.ledger
    ledger.release(crashed, Release("crashed", crashed=True, hold=HOLD), now=NOON)
    row = ledger_world.row(crashed)

    assert ledger.lift(row, now=NOON, said="Resumed by ann: it is mended")
    assert not ledger.lift(row, now=NOON, said="Resumed by bob: so it is")

    (due,) = ledger.due(CREDENTIAL, ACME, SPRING, now=LATER, most=5)
    assert due == replace(
        row,
        hold=None,
        not_before=NOON,
        updated_at=NOON,
        reason="Resumed by ann: it is mended",
        replays=1,
        crashes=0,
        unsettled=False,
    )


def test_jobs_under_an_ended_wave_are_stranded(ledger_world: World) -> None:
    """Running rows whose wave ended or never was are found; those of open waves are not."""
    ledger = ledger_world.ledger
    for wave_id in ("w-1", "w-2"):
        ledger.form(wave(wave_id))
    left = [ledger_world.running(f"left-{n}", "w-1") for n in range(3)]
    ledger_world.running("alive", "w-2")
    nowhere = ledger_world.running("nowhere", "w-3")
    done = ledger_world.running("done", "w-1")
    ledger.finish(done, ending())
    ledger.end("w-1")

    found = ledger.stranded(most=10)

    assert {row.job_id for row in found} == {*(one.job_id for one in left), nowhere.job_id}
    assert len(ledger.stranded(most=2)) == 2
    for row in found:
        claim = Claim(row.job_id, row.customer_id, row.wave or "", row.epoch)
        ledger.release(claim, Release("stranded"), now=NOON)
    assert ledger.stranded(most=10) == []
