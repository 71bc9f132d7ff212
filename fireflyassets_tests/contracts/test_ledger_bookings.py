"""What every ledger promises about operation rows: one for each output of a call, stated truly.

Here: how a row appears with the vendor's id and is restated later. Not here: attempts and results
(`test_ledger_calls`), jobs' moves (`test_ledger_turns`).
"""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.money import Cause, Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Attempt, AttemptState, Operation, Release
from fireflyassets_tests.contracts.ledgers import NOON, World, attempt, operation, result


def accept(world: World, sent: Attempt, *rows: Operation) -> None:
    """Note that the vendor took a send under the id ``urn:1``."""
    world.ledger.accept_attempt(
        sent, vendor_id="urn:1", status_url="https://s", cancel_url=None, operations=rows
    )


def test_id_and_its_rows_appear_together(ledger_world: World) -> None:
    """From the vendor's id on a call is booked, whoever owns the job and whatever happens next."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    ledger_world.ledger.release(claim, Release("run died", crashed=True), now=NOON)
    rows = [operation(claim, output=n, cause=Cause.ACCEPTED_BUT_FAILED) for n in range(3)]

    accept(ledger_world, sent, *rows)
    accept(ledger_world, sent, *rows)

    history = ledger_world.ledger.history(claim.job_id)
    assert history.operations == tuple(rows)
    assert [one.vendor_id for one in history.attempts] == ["urn:1"]


def test_late_id_takes_the_place_of_what_stood_for_its_send(ledger_world: World) -> None:
    """A call is never booked twice: once by its send and once more by its id."""
    claim = ledger_world.running()
    sent = attempt(claim)
    ledger_world.ledger.begin_attempt(sent)
    nameless = operation(claim, "send:hero#1#1", cause=Cause.POSSIBLE_DUPLICATE)
    other = operation(claim, "send:hero#1#2", n=2, cause=Cause.POSSIBLE_COST)
    ledger_world.ledger.book([nameless, other])
    row = operation(claim, cause=Cause.ACCEPTED_BUT_FAILED)

    accept(ledger_world, sent, row)

    assert ledger_world.ledger.history(claim.job_id).operations == (other, row)


def test_bind_restates_and_a_late_id_does_not_state_back(ledger_world: World) -> None:
    """The outputs that came say why they were spent; one that did not come stays as it was."""
    claim = ledger_world.running()
    sent = attempt(claim)
    taken = [operation(claim, output=n, cause=Cause.ACCEPTED_BUT_FAILED) for n in range(3)]
    accept(ledger_world, sent, *taken)
    came = [
        operation(claim, cause=Cause.RETRY),
        operation(claim, output=1, cause=Cause.EXTRA_VARIANT),
    ]

    ledger_world.ledger.bind(claim, result(claim), came)
    accept(ledger_world, sent, *taken)
    ledger_world.ledger.book([replace(came[0], cause=Cause.ORPHANED)])

    assert ledger_world.ledger.history(claim.job_id).operations == (*came, taken[2])


def test_adopted_result_of_another_send_is_orphaned(ledger_world: World) -> None:
    """Of two sends of one step that both arrive, one is the result, and both are named truly."""
    claim = ledger_world.running()
    ledger_world.ledger.release(claim, Release("stopped"), now=NOON)
    row = ledger_world.row(claim)
    first = operation(claim)
    second = operation(claim, "urn:2", n=2, cause=Cause.RETRY)

    assert ledger_world.ledger.adopt(row, result(claim), [first])
    assert ledger_world.ledger.adopt(row, result(claim, n=2), [second])

    history = ledger_world.ledger.history(claim.job_id)
    assert history.operations == (first, replace(second, cause=Cause.ORPHANED))
    assert [one.n for one in history.steps.values()] == [1]


def test_end_of_a_send_and_its_row_are_one_write(ledger_world: World) -> None:
    """What a closed send may have cost is booked with its end; a row of a better cause stays."""
    claim = ledger_world.running()
    close = ledger_world.ledger.close_attempt
    maybe = operation(claim, "send:hero#1#1", cause=Cause.POSSIBLE_COST)
    kept = operation(claim, n=2, cause=Cause.ORPHANED)
    ledger_world.ledger.book([kept])

    close(attempt(claim), AttemptState.REFUSED, fault="503", counts=True, operations=[maybe])
    late = replace(kept, cause=Cause.ACCEPTED_BUT_FAILED)
    close(attempt(claim, n=2), AttemptState.FAILED, fault="x", counts=True, operations=[late])

    history = ledger_world.ledger.history(claim.job_id)
    assert history.operations == (maybe, kept)
    assert [one.state for one in history.attempts] == [AttemptState.REFUSED, AttemptState.FAILED]


@pytest.mark.parametrize("moved", [True, False])
def test_costs_of_an_ended_job_are_told_anew(ledger_world: World, *, moved: bool) -> None:
    """What turns out after the end changes the sums and nothing else, unless the job has moved."""
    claim = ledger_world.ended(Status.DLQ)
    row = ledger_world.row(claim)
    if moved:
        assert ledger_world.ledger.reclaim(row.job_id, claim.customer, "w-2", now=NOON) is not None
    before = ledger_world.row(claim)

    assert ledger_world.ledger.recost(row, Cost(Decimal(7), Decimal("0.5"))) is not moved

    told = {} if moved else {"cost_actual": Decimal(7), "cost_possible": Decimal("0.5")}
    assert ledger_world.row(claim) == replace(before, **told)
