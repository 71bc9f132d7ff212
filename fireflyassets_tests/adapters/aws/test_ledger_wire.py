"""How many requests the DynamoDB ledger sends, and what it makes of bad answers.

Here: counted requests, lost answers, conflicts, keys left over, empty pages. Not here: what a
ledger promises (`fireflyassets_tests/contracts`).
"""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fireflyassets.core.errors import OwnershipLost, StoreUnavailable
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Duplicate, Recorded, Release
from fireflyassets_tests.adapters.aws.conftest import WiredLedger
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    NOON,
    RUN,
    WAVE,
    attempt,
    ending,
    job,
    operation,
    result,
    wave,
)

pytestmark = pytest.mark.stack

ERROR = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"


def test_record_writes_fifty_jobs_a_request(wired: WiredLedger) -> None:
    rows = [job(str(n)) for n in range(51)]

    assert wired.wire.count(lambda: wired.ledger.record(rows[:50])) == 1
    assert wired.wire.count(lambda: wired.ledger.record(rows)) == 3


def test_moves_of_a_job_are_one_request_each(wired: WiredLedger) -> None:
    """In a formed wave no claim, release or end needs a read."""
    wired.ledger.form(wave())
    rows = [wired.world.queued(key) for key in ("one", "two")]
    claims: list[Claim | None] = []

    counts = [
        wired.wire.count(
            lambda row=row: claims.append(wired.ledger.claim(row.job_id, ACME, WAVE, now=NOON))
        )
        for row in rows
    ]
    first, second = (claim for claim in claims if claim is not None)
    wired.ledger.begin_attempt(attempt(first))
    counts.append(wired.wire.count(lambda: wired.ledger.bind(first, result(first), [])))
    counts.append(wired.wire.count(lambda: wired.ledger.finish(first, ending())))
    counts.append(wired.wire.count(lambda: wired.ledger.release(second, Release("x"), now=NOON)))

    assert counts == [1, 1, 1, 1, 1]


def test_claim_costs_a_second_request_at_most(wired: WiredLedger) -> None:
    """A job that was claimed before hands its epoch back with the refusal."""
    wired.ledger.form(wave())
    claim = wired.world.running()
    wired.ledger.release(claim, Release("x"), now=NOON)

    count = wired.wire.count(lambda: wired.ledger.claim(claim.job_id, ACME, WAVE, now=NOON))

    assert count == 2
    assert wired.world.row(claim).epoch == 2


def test_claim_of_a_taken_job_is_given_up_at_once(wired: WiredLedger) -> None:
    """The refusal says that the job is another wave's; asking on would not help."""
    wired.ledger.form(wave())
    claim = wired.world.running()

    count = wired.wire.count(lambda: wired.ledger.claim(claim.job_id, ACME, WAVE, now=NOON))

    assert count == 1


def test_another_process_reads_a_wave_s_campaign_once(wired: WiredLedger) -> None:
    """A run that starts its wave needs no read for the ends of its jobs."""
    wired.ledger.form(wave())
    claims = [wired.world.running(str(n)) for n in range(3)]
    wired.ledger.formed(WAVE, ["a"])
    other = type(wired.ledger)(wired.client, prefix=wired.tables.prefix)

    cold = wired.wire.count(lambda: other.finish(claims[0], ending()))
    warm = wired.wire.count(lambda: other.finish(claims[1], ending()))
    third = type(wired.ledger)(wired.client, prefix=wired.tables.prefix)
    third.start(WAVE, RUN, lease_until=NOON)
    started = wired.wire.count(lambda: third.finish(claims[2], ending()))

    assert (cold, warm, started) == (2, 1, 1)
    assert {event.campaign for event in wired.world.outbox()} == {"spring"}


def test_paid_call_is_one_request_before_and_one_after(wired: WiredLedger) -> None:
    claim = wired.world.running()
    sent = attempt(claim)

    before = wired.wire.count(lambda: wired.ledger.begin_attempt(sent))
    after = wired.wire.count(
        lambda: wired.ledger.accept_attempt(
            sent, vendor_id="u", status_url="s", cancel_url=None, operations=[]
        )
    )

    assert (before, after) == (1, 1)


def test_conflicts_are_waited_out(wired: WiredLedger) -> None:
    """A transaction that met another one is sent again after a growing wait, and once it counts."""
    claim = wired.world.running()
    wired.wire.answer("TransactWriteItems", _cancelled("TransactionConflict", "None"), times=2)
    wired.wire.answer("TransactWriteItems", _cancelled("None", "ThrottlingError"), times=1)

    wired.ledger.finish(claim, ending())

    assert wired.world.row(claim).status is Status.SUCCEEDED
    assert len(wired.world.outbox()) == 2
    assert len(wired.waits.waited) == 3
    assert wired.waits.waited == sorted(wired.waits.waited)


def test_conflicts_without_end_are_an_error(wired: WiredLedger) -> None:
    """After nine sends the caller hears of it, and nothing was written."""
    claim = wired.world.running()
    wired.wire.answer("TransactWriteItems", _cancelled("TransactionConflict", "None"), times=99)

    with pytest.raises(StoreUnavailable, match="conflict"):
        wired.ledger.finish(claim, ending())

    assert wired.world.row(claim).status is Status.RUNNING
    assert len(wired.waits.waited) == 8


def test_failed_condition_is_not_waited_out(wired: WiredLedger) -> None:
    """A lost job is lost, whatever else was the matter with its transaction."""
    claim = wired.world.running()
    wired.wire.answer(
        "TransactWriteItems", _cancelled("ConditionalCheckFailed", "TransactionConflict"), times=1
    )

    with pytest.raises(OwnershipLost):
        wired.ledger.finish(claim, ending())

    assert wired.waits.waited == []


def test_faulty_transaction_is_not_repeated(wired: WiredLedger) -> None:
    """What another try can't mend is an error at once."""
    wired.wire.answer("TransactWriteItems", _cancelled("ValidationError", "None"), times=99)

    with pytest.raises(ClientError, match="TransactionCanceled"):
        wired.ledger.record([job()])

    assert wired.waits.waited == []


def test_refusal_without_the_standing_row_is_an_error(wired: WiredLedger) -> None:
    """Nothing is told Recorded on the word of an answer that does not say what stands there."""
    wired.wire.answer("TransactWriteItems", _cancelled("ConditionalCheckFailed", "None"), times=1)

    with pytest.raises(LookupError):
        wired.ledger.record([job()])


def test_lost_answer_of_an_attempt_does_not_cost_the_step(wired: WiredLedger) -> None:
    """The client repeats the write, finds its own row in the way and knows it."""
    claim = wired.world.running()
    wired.wire.lose_answer("PutItem")

    assert wired.ledger.begin_attempt(attempt(claim))

    assert wired.wire.sent.count("PutItem") == 2
    assert not wired.ledger.begin_attempt(attempt(claim))


def test_lost_answer_of_a_claim_claims_once(wired: WiredLedger) -> None:
    """A claim that is sent again finds itself and knows it; one of somebody else does not."""
    row = wired.world.queued()
    wired.wire.lose_answer("UpdateItem")

    claim = wired.ledger.claim(row.job_id, ACME, WAVE, now=NOON)

    assert claim == Claim(row.job_id, ACME, WAVE, 1)
    assert wired.wire.sent.count("UpdateItem") == 2
    assert wired.ledger.claim(row.job_id, ACME, WAVE, now=NOON) is None


def test_lost_answer_of_a_recording_is_still_recorded(wired: WiredLedger) -> None:
    wired.wire.lose_answer("TransactWriteItems")

    (answer,) = wired.ledger.record([job()])

    assert answer == Recorded(job())
    assert wired.ledger.record([job()]) == [Duplicate(job())]


def test_lost_answer_of_a_start_is_the_run_s_own(wired: WiredLedger) -> None:
    wired.ledger.form(wave())
    wired.ledger.formed(WAVE, ["a"])
    wired.wire.lose_answer("UpdateItem")

    assert wired.ledger.start(WAVE, RUN, lease_until=NOON) is not None


def test_unprocessed_keys_are_asked_for_again(wired: WiredLedger) -> None:
    """A read that the service cut short is completed."""
    rows = [wired.world.queued(str(n)) for n in range(9)]

    def cut_short(answer: dict[str, Any]) -> None:
        found = answer["Responses"][wired.tables.jobs]
        left = [{key: item[key] for key in ("jobId", "customerId")} for item in found[4:]]
        del found[4:]
        answer["UnprocessedKeys"] = {wired.tables.jobs: {"Keys": left, "ConsistentRead": True}}

    wired.wire.rewrite("BatchGetItem", cut_short)

    found = wired.ledger.jobs(ACME, [row.job_id for row in rows])

    assert found == {row.job_id: row for row in rows}
    assert len(wired.waits.waited) == 1


def test_keys_that_stay_unprocessed_are_an_error(wired: WiredLedger) -> None:
    """A read that can't be completed is never passed off as whole."""
    row = wired.world.queued()
    key = {"jobId": {"S": row.job_id}, "customerId": {"S": ACME}}
    nothing = {"Responses": {}, "UnprocessedKeys": {wired.tables.jobs: {"Keys": [key]}}}
    wired.wire.answer("BatchGetItem", json.dumps(nothing).encode(), times=99, status=200)

    with pytest.raises(StoreUnavailable, match="1 keys"):
        wired.ledger.jobs(ACME, [row.job_id])


def test_empty_page_is_not_the_end(wired: WiredLedger) -> None:
    """A query goes on after a page that filled with nothing."""
    claim = wired.world.running()
    wired.ledger.bind(claim, result(claim), [operation(claim)])

    def emptied(answer: dict[str, Any]) -> None:
        answer["Items"] = []
        answer["LastEvaluatedKey"] = {"jobId": {"S": claim.job_id}, "sk": {"S": "a"}}

    wired.wire.rewrite("Query", emptied)

    history = wired.ledger.history(claim.job_id)

    assert len(history.steps) == len(history.operations) == 1


def _cancelled(*codes: str) -> bytes:
    reasons = [{"Code": code} for code in codes]
    said = {"__type": ERROR, "Message": "Cancelled", "CancellationReasons": reasons}
    return json.dumps(said).encode()
