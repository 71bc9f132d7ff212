"""The ledger counts what it has written, once for each write, and nothing that was refused."""

from typing import TYPE_CHECKING

import pytest

from fireflyassets.adapters.aws.counted_ledger import CountedLedger
from fireflyassets.adapters.aws.provision import provision_tables
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.core.tally import Tally
from fireflyassets.ports.entries import AttemptState
from fireflyassets_tests.contracts import ledgers, stores

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def total(tally: Tally, name: str) -> float:
    """Return one metric's sum over all labels."""
    return sum(
        value * times
        for one in tally.totals()
        if one.metric.name == name
        for value, times in one.values.items()
    )


@pytest.mark.stack
def test_new_jobs_and_booked_operations_are_counted(dynamodb: "DynamoDBClient") -> None:
    """A repeated job is none; what was booked with its id is not counted again at its end."""
    prefix, tally = stores.unique("counted"), Tally()
    provision_tables(dynamodb, Tables(prefix))
    ledger = CountedLedger(dynamodb, prefix=prefix, tally=tally)
    world = ledgers.World(ledger, list, list)
    claim = world.running("one")
    ledger.record([ledgers.job("one"), ledgers.job("two")])
    assert total(tally, "jobs_accepted") == 2

    sent, refused = ledgers.attempt(claim, n=1), ledgers.attempt(claim, n=2)
    price = ledgers.operation(claim)
    for one in (sent, refused):
        assert ledger.begin_attempt(one)
    ledger.accept_attempt(
        sent, vendor_id="urn:1", status_url="https://x/1", cancel_url=None, operations=[price]
    )
    assert total(tally, "operations") == float(price.operations)

    doubtful = ledgers.operation(claim, "send:hero#1#2")
    ledger.close_attempt(
        refused, AttemptState.REFUSED, fault="503", counts=True, operations=[doubtful]
    )
    assert total(tally, "operations") == 2 * float(price.operations)
