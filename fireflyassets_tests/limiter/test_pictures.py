"""What a process does with an old picture of an item, or with none.

Here: what is believed, what is asked again, and writes that come late. Not here: interleavings at
large (`test_invariants`), promises that every store keeps (`contracts`).
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest
from botocore.exceptions import ClientError

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.date_clock import JITTER_US, Range
from fireflyassets.limiter.dynamodb import DynamoLimiter
from fireflyassets.limiter.errors import UnknownItem
from fireflyassets.limiter.known import Known, KnownStates
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.port import Parked
from fireflyassets_tests.limiter.strict_dynamo import Request, StrictTable
from fireflyassets_tests.limiter.worlds import StandingClock, granted, per_minute

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ITEM = "organisation#firefly"
STATE = law.initial(per_minute(60), 10**15)
DAY = timedelta(days=1)


def two(rate: int, clock: StandingClock) -> tuple[MemoryLimiter, MemoryLimiter, MemoryStore]:
    """Return two processes over one store, and the store."""
    store = MemoryStore()
    limiters = [MemoryLimiter(now=clock.now, store=store) for _ in range(2)]
    for limiter in limiters:
        limiter.register(ITEM, per_minute(rate, per_day=1000))
    return limiters[0], limiters[1], store


def test_nobody_is_refused_on_an_old_picture() -> None:
    """Before a process says no it looks whether that still holds."""
    clock = StandingClock()
    one, other, _ = two(60, clock)
    one.pause(ITEM, timedelta(minutes=10))
    assert isinstance(one.reserve(ITEM, 1), Parked)
    other.reset(ITEM, by="ada", why="a test")
    clock.advance(2)

    granted(one, ITEM)


def test_an_answer_that_was_overtaken_changes_nothing() -> None:
    """An older state that comes late does not take the place of a newer one."""
    known, newer = KnownStates(), replace(STATE, sequence=9)
    known.learn(ITEM, newer, at=10, before=None)

    known.learn(ITEM, replace(STATE, sequence=8), at=5, before=None)

    assert known.get(ITEM) == Known(newer, 10)


def test_a_store_that_was_emptied_is_believed() -> None:
    """An older state than was known before the question can only be a new item."""
    known = KnownStates()
    before = Known(replace(STATE, sequence=9), 10)
    known.learn(ITEM, before.state, at=before.at, before=None)

    known.learn(ITEM, STATE, at=20, before=before)

    assert known.get(ITEM) == Known(STATE, 20)


def test_an_old_picture_counts_no_ticket_on_the_wrong_day() -> None:
    """The line has reached midnight since: what is taken now counts for tomorrow."""
    clock = StandingClock()
    midnight = clock.at.replace(hour=0) + DAY
    clock.at = midnight - timedelta(seconds=20)
    stale, busy, _ = two(60, clock)
    granted(stale, ITEM)
    granted(busy, ITEM, 15)

    assert granted(stale, ITEM).due_at == (midnight,)

    clock.at = midnight
    assert busy.state(ITEM).used_today == 1


def test_a_short_rest_starts_no_new_grid() -> None:
    """A new grid voids all other pictures, so it is begun only where it saves a second."""
    clock = StandingClock()
    one, _, store = two(600, clock)
    granted(one, ITEM)
    epochs: list[int] = []
    for rest in (0.01, 700):
        clock.advance(rest)
        granted(one, ITEM)
        state = store.read(ITEM)
        assert state is not None
        epochs.append(state.epoch)
    slow_clock = StandingClock()
    slow, _, slow_store = two(4, slow_clock)
    granted(slow, ITEM)
    before = slow_store.read(ITEM)
    slow_clock.advance(700)
    granted(slow, ITEM)
    after = slow_store.read(ITEM)

    assert before is not None
    assert after is not None
    assert epochs[0] == epochs[1]
    assert after.epoch == before.epoch + 1


@dataclass
class Recording(StrictTable):
    """Remembers each update that was asked for."""

    log: list[Request] = field(default_factory=list[Request])

    def update_item(self, **request: object) -> Request:
        """Note the update and apply it."""
        self.log.append(cast("Request", request))
        return super().update_item(**request)


def test_no_late_write_of_a_lost_item_fits_the_one_in_its_place() -> None:
    """Whatever comes again after the item was deleted and made anew is refused."""
    table, clock = Recording(), StandingClock()
    client = cast("DynamoDBClient", table)
    for _ in range(2):
        limiter = DynamoLimiter(client, table="tickets", now=clock.now)
        limiter.register(ITEM, per_minute(60))
        granted(limiter, ITEM, 3)
        limiter.pause(ITEM, timedelta(seconds=2))
        late, table.log = table.log, []
        table.items.clear()
        clock.advance(3600)
    DynamoLimiter(client, table="tickets", now=clock.now).register(ITEM, per_minute(60))
    made = dict(table.items[ITEM])

    for request in late:
        with pytest.raises(ClientError):
            table.apply(request)

    assert table.items[ITEM] == made


def test_an_item_of_an_earlier_layout_is_none() -> None:
    """A process that knows no limits finds nothing there, rather than half a state."""
    table = StrictTable()
    limiter = DynamoLimiter(cast("DynamoDBClient", table), table="tickets", now=StandingClock().now)
    table.items[ITEM] = {"pk": {"S": ITEM}, "nxt": {"N": "7"}, "ep": {"N": "3"}}

    for call in (lambda: limiter.reserve(ITEM, 1), lambda: limiter.state(ITEM)):
        with pytest.raises(UnknownItem):
            call()


def test_a_clock_that_jumped_is_not_averaged() -> None:
    """Two ranges far apart are a jump: the later one holds. A little apart they are two hosts."""
    before, far = Range(0, 10, at=0), Range(10**7, 10**7 + 10, at=5)
    near = Range(10 + JITTER_US, 20 + JITTER_US, at=5)

    assert before.narrowed(far) == far
    assert before.narrowed(near) == Range(0, 10 + JITTER_US, 5)
