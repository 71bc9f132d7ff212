"""Budgets in DynamoDB under deaths, lost answers, conflicts and throttling.

Here: every request of a job's life cut short before and after it happened; what the service
refuses for a while. Not here: what a ledger promises (`fireflyassets_tests/contracts`).
"""

import json
from collections.abc import Callable
from decimal import Decimal

import pytest
from botocore.awsrequest import AWSPreparedRequest

from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.core.errors import FactoryError, StoreUnavailable
from fireflyassets.core.money import Cost
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.budgets import Reserved
from fireflyassets.ports.entries import Claim
from fireflyassets_tests.adapters.aws.conftest import WiredLedger
from fireflyassets_tests.contracts.budgets import (
    assert_adds_up,
    block,
    booked,
    cap,
    counter,
    record,
    reserve,
    stands,
)
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, World, ending

pytestmark = pytest.mark.stack

JOBS = 2
COST = Cost(Decimal("1.5"), Decimal("0.5"))
_REQUESTS = 30
"""More than a life takes."""


class Dead(BaseException):
    """The process is gone."""


class Death:
    """Ends a client's process at its *last*-th request: before it is sent, or before its answer."""

    def __init__(self, wired: WiredLedger, last: int, *, heard: bool) -> None:
        self.left, self.on = last, True
        events = wired.client.meta.events
        events.register_last("before-send", self._before if heard else lambda **_: None)
        events.register("after-call", self._after if not heard else lambda **_: None)

    def _before(self, request: AWSPreparedRequest, **_: object) -> None:
        del request
        self._count()

    def _after(self, **_: object) -> None:
        self._count()

    def _count(self) -> None:
        if not self.on:
            return
        if self.left == 0:
            raise Dead
        self.left -= 1


def live(ledger: DynamoLedger) -> None:
    """Lead two jobs from their reservation to an end, one of them by way of ``dlq``."""
    for n in range(JOBS):
        held = block("7", f"b-{n}")
        assert isinstance(ledger.reserve(held, [cap()], now=NOON), Reserved)
        row = booked(f"job-{n}", of=held)
        ledger.record([row], held)
        ledger.give_back(held)
        claim = ledger.claim(row.job_id, ACME, "w-1", now=NOON)
        if claim is None:
            continue
        ledger.finish(claim, ending(Status.DLQ if n else Status.SUCCEEDED, cost=COST))
        again = ledger.reclaim(row.job_id, ACME, "w-2", now=NOON) if n else None
        if isinstance(again, Claim):
            ledger.finish(again, ending(cost=Cost(Decimal(3))))


def mend(world: World) -> None:
    """Do what sweeps and other workers do: blocks lapse, jobs are taken over and ended."""
    ledger = world.ledger
    for held in ledger.lapsed(before=NOON + MINUTE, most=10):
        ledger.give_back(held)
    for row in ledger.campaign_jobs(ACME, "spring"):
        claim: Claim | None = None
        if row.status is Status.QUEUED:
            claim = ledger.claim(row.job_id, ACME, "w-3", now=NOON)
        elif row.status is Status.RUNNING:
            claim = Claim.standing(row)
        if claim is not None:
            ledger.finish(claim, ending(cost=COST))


@pytest.mark.parametrize("heard", [True, False])
def test_a_death_at_any_request_holds_nothing_for_good(wired: WiredLedger, *, heard: bool) -> None:
    """It adds up at the moment of the death already; then everything held is spent or given back.

    *heard*: it dies before its next request; else after one that happened, before the answer.
    """
    died = 0
    for last in range(_REQUESTS):
        death = Death(wired, last, heard=heard)
        try:
            live(wired.ledger)
        except Dead:
            died += 1
        death.on = False
        assert_adds_up(wired.world.ledger)
        mend(wired.world)
        assert_adds_up(wired.world.ledger)
        rows = wired.world.ledger.campaign_jobs(ACME, "spring")
        assert {row.status for row in rows} <= ENDED
        taken = sum((row.booking.taken for row in rows if row.booking), Decimal(0))
        assert counter(wired.world).taken == taken
        _forget(wired)

    assert 10 < died < _REQUESTS


def _forget(wired: WiredLedger) -> None:
    """Empty the tables for the next life."""
    for table, keys in (
        (wired.tables.jobs, ("jobId", "customerId")),
        (wired.tables.budgets, ("budget", "sk")),
    ):
        for item in wired.client.scan(TableName=table)["Items"]:
            wired.client.delete_item(TableName=table, Key={name: item[name] for name in keys})


def test_a_lost_answer_is_heard_the_second_time(wired: WiredLedger) -> None:
    """The client repeats each write with its token, and it counts once."""
    acts: list[tuple[Callable[[], object], Decimal]] = [
        (lambda: reserve(wired.world, "7"), Decimal(7)),
        (lambda: wired.ledger.record([booked("one", of=block())], block("7")), Decimal(7)),
        (lambda: wired.ledger.give_back(block("3.5")), Decimal("3.5")),
    ]
    for act, taken in acts:
        wired.wire.lose_answer("TransactWriteItems")
        sent = wired.wire.sent.count("TransactWriteItems")

        act()

        assert wired.wire.sent.count("TransactWriteItems") == sent + 2
        assert counter(wired.world).taken == taken
        assert_adds_up(wired.world.ledger)


def test_a_settlement_whose_answer_is_lost_counts_once(wired: WiredLedger) -> None:
    """An end that was heard by nobody is the same end."""
    (told,) = record(wired.world, "one")
    claim = wired.ledger.claim(told.row.job_id, ACME, "w-1", now=NOON)
    assert claim is not None
    wired.wire.lose_answer("TransactWriteItems")

    wired.ledger.finish(claim, ending(cost=COST))

    assert stands(wired.world) == (Decimal("0.5"), Decimal("1.5"))


@pytest.mark.parametrize(
    "codes",
    [
        ("None", "TransactionConflict"),
        ("TransactionConflict", "ThrottlingError"),
        ("ProvisionedThroughputExceeded",),
    ],
)
def test_conflicts_and_throttling_are_waited_out(
    wired: WiredLedger, codes: tuple[str, ...]
) -> None:
    """Neither refuses a reservation that fits, nor takes it twice; more patient than for a row."""
    wired.wire.answer("TransactWriteItems", cancelled(*codes), times=12)

    told = reserve(wired.world)

    assert isinstance(told, Reserved)
    assert counter(wired.world).taken == Decimal("3.5")
    assert len(wired.waits.waited) == 12


def test_throttled_requests_are_sent_again_by_the_client(wired: WiredLedger) -> None:
    """The whole request was refused: nothing of it happened."""
    error = {"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slow"}
    wired.wire.answer("TransactWriteItems", json.dumps(error).encode(), times=2)

    assert isinstance(reserve(wired.world), Reserved)
    assert counter(wired.world).taken == Decimal("3.5")


def test_conflicts_without_end_are_an_outage_and_take_nothing(wired: WiredLedger) -> None:
    """The caller is told that it may ask again, not that it has no budget."""
    wired.wire.answer("TransactWriteItems", cancelled("TransactionConflict"), times=100)

    with pytest.raises(StoreUnavailable):
        reserve(wired.world)

    assert issubclass(StoreUnavailable, FactoryError)
    assert counter(wired.world).taken == Decimal(0)


def test_a_reservation_is_two_requests_and_settling_is_none(wired: WiredLedger) -> None:
    """One look and one write for a request's rows; an end settles in the write it makes anyway."""
    wired.ledger.open_waves()
    held = block("7")
    caps = (cap(),)
    asked = wired.wire.count(lambda: wired.ledger.reserve(held, caps, now=NOON))
    rows = [booked(key, of=held) for key in ("one", "two")]
    recorded = wired.wire.count(lambda: wired.ledger.record(rows, held))
    claim = wired.ledger.claim(rows[0].job_id, ACME, "w-1", now=NOON)
    assert claim is not None
    known = Claim.standing(wired.world.row(claim))
    ended = wired.wire.count(lambda: wired.ledger.finish(known, ending(cost=COST)))

    assert (asked, recorded, ended) == (2, 1, 1)


def cancelled(*codes: str) -> bytes:
    """Return the answer of a transaction that was cancelled for these reasons."""
    return json.dumps(
        {
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": "Transaction cancelled",
            "CancellationReasons": [{"Code": code} for code in codes],
        }
    ).encode()
