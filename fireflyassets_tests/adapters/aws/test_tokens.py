"""What only the DynamoDB token store has to fear. Here: lost answers. Not here: promises."""

from datetime import timedelta

import pytest

from fireflyassets.adapters.aws.tokens import DynamoTokenStore
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets_tests.adapters.aws.conftest import WiredLedger

pytestmark = pytest.mark.stack


def test_lost_answer_does_not_lock_out_the_holder(wired: WiredLedger) -> None:
    """The client repeats the write, finds its own lock in the way and knows it."""
    store = DynamoTokenStore(wired.client, prefix=wired.tables.prefix, clock=FakeClock())
    wired.wire.lose_answer("UpdateItem")

    assert store.lock("entry", life=timedelta(seconds=30))

    assert wired.wire.sent.count("UpdateItem") == 2
    assert not store.lock("entry", life=timedelta(seconds=30))
