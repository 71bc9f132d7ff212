"""What every ledger promises about paid calls, whatever keeps it.

Here: attempts, results and operations, one caller at a time. Not here: jobs and waves
(`test_ledger`, `test_ledger_waves`), what only shows under threads (`test_ledger_races`).
"""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Attempt, AttemptState, Claim, Release
from fireflyassets_tests.contracts.ledgers import (
    NOON,
    World,
    attempt,
    ending,
    operation,
    result,
)


def test_history_of_a_job_without_calls_is_empty(ledger_world: World) -> None:
    claim = ledger_world.running()

    history = ledger_world.ledger.history(claim.job_id)

    assert (dict(history.steps), history.attempts, history.operations) == ({}, (), ())


def test_attempts_read_back_in_order(ledger_world: World) -> None:
    """Every send of a job is kept, in the order of step, generation and number."""
    claim = ledger_world.running()
    sends = [
        attempt(claim, step, n, generation=generation, output_key="_tmp/x", replay=2)
        for step in ("hero", "layout.1080x1080")
        for generation in (1, 2)
        for n in (1, 2, 10)
    ]
    for send in reversed(sends):
        assert ledger_world.ledger.begin_attempt(send)
    assert ledger_world.ledger.begin_attempt(attempt(ledger_world.running("other")))

    assert ledger_world.ledger.history(claim.job_id).attempts == tuple(sends)


def test_attempt_begins_once(ledger_world: World) -> None:
    """The same row again, by whomever, says that somebody else owns the step."""
    claim = ledger_world.running()
    first = attempt(claim)

    assert ledger_world.ledger.begin_attempt(first)
    assert not ledger_world.ledger.begin_attempt(first)
    assert not ledger_world.ledger.begin_attempt(replace(first, wave_id="w-2", epoch=2))

    assert _only_attempt(ledger_world, claim) == first


def test_accepted_attempt_is_stored_whoever_owns_the_job(ledger_world: World) -> None:
    """What was paid is never forgotten: not after a takeover, not after another wave ended it."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    ledger_world.ledger.release(claim, Release("run died", crashed=True), now=NOON)
    taken = ledger_world.ledger.claim(claim.job_id, claim.customer, "w-2", now=NOON)
    assert taken is not None
    ledger_world.ledger.finish(taken, ending())

    _accept(ledger_world, sent)

    assert _only_attempt(ledger_world, claim) == _accepted(sent)


def test_accepted_attempt_is_stored_even_without_its_row(ledger_world: World) -> None:
    """A vendor's id is kept though nobody wrote the attempt before."""
    claim = ledger_world.running()

    _accept(ledger_world, attempt(claim))

    assert _only_attempt(ledger_world, claim) == _accepted(attempt(claim))


def test_attempt_without_cancel_url_is_accepted_too(ledger_world: World) -> None:
    claim = ledger_world.running()
    ledger_world.ledger.begin_attempt(attempt(claim))

    ledger_world.ledger.accept_attempt(
        attempt(claim), vendor_id="urn:1", status_url="https://s", cancel_url=None, operations=[]
    )

    assert _only_attempt(ledger_world, claim).cancel_url is None


def test_closed_attempt_says_why_and_whether_it_counts(ledger_world: World) -> None:
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)

    ledger_world.ledger.close_attempt(sent, AttemptState.REFUSED, fault="429", counts=False)

    closed = replace(sent, state=AttemptState.REFUSED, fault="429", counts=False)
    assert _only_attempt(ledger_world, claim) == closed


def test_closing_an_accepted_attempt_keeps_the_vendors_id(ledger_world: World) -> None:
    """A caller that closes from what it knew before the answer loses no paid id."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    _accept(ledger_world, sent)

    ledger_world.ledger.close_attempt(sent, AttemptState.FAILED, fault="408", counts=True)

    closed = replace(_accepted(sent), state=AttemptState.FAILED, fault="408")
    assert _only_attempt(ledger_world, claim) == closed


def test_late_id_opens_a_lost_attempt_again(ledger_world: World) -> None:
    """An id that comes after the send was given up is worth more than the giving up."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    ledger_world.ledger.close_attempt(sent, AttemptState.LOST, fault="timeout", counts=True)

    _accept(ledger_world, sent)

    assert _only_attempt(ledger_world, claim) == replace(_accepted(sent), fault="timeout")


def test_bound_result_and_its_operations_read_back(ledger_world: World) -> None:
    """A step's result and what it cost appear together, exact to the last digit."""
    claim = ledger_world.running()
    made = result(claim, operations=Decimal("0.30"), ignored_words=True)
    bare = result(claim, "plain", model=None, seed=None, facts={})
    costs = [operation(claim, output=n, operations=Decimal("0.15")) for n in range(2)]

    ledger_world.ledger.bind(claim, made, costs)
    ledger_world.ledger.bind(claim, bare, [])

    history = ledger_world.ledger.history(claim.job_id)
    assert history.steps == {("hero", 1): made, ("plain", 1): bare}
    assert history.operations == tuple(costs)


def test_bind_after_a_takeover_writes_nothing(ledger_world: World) -> None:
    """A worker that lost its lease binds nothing, and is told so."""
    claim = ledger_world.running()
    ledger_world.ledger.release(claim, Release("run died", crashed=True), now=NOON)

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.bind(claim, result(claim), [operation(claim)])
    taken = ledger_world.ledger.claim(claim.job_id, claim.customer, claim.wave_id, now=NOON)
    assert taken is not None
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.bind(claim, result(claim), [operation(claim)])

    history = ledger_world.ledger.history(claim.job_id)
    assert (dict(history.steps), history.operations) == ({}, ())


def test_bind_after_the_end_writes_nothing(ledger_world: World) -> None:
    claim = ledger_world.ended(Status.FAILED)

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.bind(claim, result(claim), [operation(claim)])

    assert dict(ledger_world.ledger.history(claim.job_id).steps) == {}


def test_first_result_stays_and_every_cost_is_booked(ledger_world: World) -> None:
    """A step that was paid twice has one result and two costs."""
    claim = ledger_world.running()
    first = result(claim)
    ledger_world.ledger.bind(claim, first, [operation(claim)])

    ledger_world.ledger.bind(
        claim, replace(first, n=2, seed=8), [operation(claim), operation(claim, "urn:2", n=2)]
    )

    history = ledger_world.ledger.history(claim.job_id)
    assert history.steps == {("hero", 1): first}
    orphan = operation(claim, "urn:2", n=2, cause=Cause.ORPHANED)
    assert history.operations == (operation(claim), orphan)


def test_booked_operations_need_no_owner_and_stay(ledger_world: World) -> None:
    """Orphans are booked by anyone, once for each output of a vendor's job."""
    claim = ledger_world.ended(Status.FAILED)
    first = operation(claim)
    costs = [operation(claim, f"a:{n:03d}", n=n + 2) for n in range(120)]

    ledger_world.ledger.book([])
    ledger_world.ledger.book([first])
    ledger_world.ledger.book([replace(first, cause=Cause.POSSIBLE_COST), *costs])

    assert ledger_world.ledger.history(claim.job_id).operations == (*costs, first)


def test_history_reads_all_pages(ledger_world: World) -> None:
    """A job with more than a megabyte of history is read to the end."""
    claim = ledger_world.running()
    for n in range(30):
        sent = attempt(claim, n=n + 1)
        ledger_world.ledger.close_attempt(sent, AttemptState.LOST, fault="x" * 50_000, counts=False)
    ledger_world.ledger.bind(claim, result(claim), [operation(claim)])

    history = ledger_world.ledger.history(claim.job_id)

    assert [sent.n for sent in history.attempts] == list(range(1, 31))
    assert len(history.steps) == len(history.operations) == 1


def _accept(world: World, sent: Attempt) -> None:
    world.ledger.accept_attempt(
        sent, vendor_id="urn:1", status_url="https://s", cancel_url="https://c", operations=[]
    )


def _accepted(sent: Attempt) -> Attempt:
    return replace(
        sent,
        state=AttemptState.ACCEPTED,
        vendor_id="urn:1",
        status_url="https://s",
        cancel_url="https://c",
    )


def _only_attempt(world: World, claim: Claim) -> Attempt:
    (sent,) = world.ledger.history(claim.job_id).attempts
    return sent
