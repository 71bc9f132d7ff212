"""Telling customers. Here: real transitions of a ledger in memory, scripted couriers, a clock.

Not here: the rules of one try (``core/test_endpoint.py``), sockets (``adapters/test_couriers.py``).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.endpoint import Attempt, Delivery, Endpoint, Kind, Outcome, State
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.event import Event, EventType
from fireflyassets.core.status import Status
from fireflyassets.core.tally import Tally
from fireflyassets.ports.clock import P, T
from fireflyassets.ports.webhooks import Announcer, Chosen, Courier
from fireflyassets.stages.relay import LEASE, Relay
from fireflyassets.stages.telling import WAITING, Telling
from fireflyassets_tests.contracts import ledgers, webhooks
from fireflyassets_tests.contracts.ledgers import ACME, NOON

MINUTE = timedelta(minutes=1)
Says = Callable[[Endpoint, datetime], int | None]


async def at_once(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call here: nothing in memory blocks."""
    await asyncio.sleep(0)
    return call(*args, **kwargs)


@dataclass
class ScriptedCourier(Courier):
    """Answers as its script says; None hangs until it is let go."""

    clock: FakeClock
    says: Says = lambda _, __: 204
    brought: list[Delivery] = field(default_factory=list)
    side_by_side: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def bring(self, delivery: Delivery, endpoint: Endpoint) -> Attempt:
        name = endpoint.endpoint_id
        self.brought.append(delivery)
        self.side_by_side[name] = self.side_by_side.get(name, 0) + 1
        self.most[name] = max(self.most.get(name, 0), self.side_by_side[name])
        at = self.clock.now()
        status = self.says(endpoint, at)
        if status is None:
            await self.let_go.wait()
        await asyncio.sleep(0)
        self.side_by_side[name] -= 1
        return Attempt(at, status, timedelta(0), "said")


@dataclass
class KeptAnnouncer(Announcer):
    """Remembers what our own side was told; away while it is told to be."""

    told: list[tuple[Event, str]] = field(default_factory=list)
    is_away: bool = False

    def announce(self, event: Event, body: str) -> None:
        if self.is_away:
            raise StoreUnavailable("EventBridge", "away")
        self.told.append((event, body))


class Office:
    """A ledger whose jobs end, and what tells of it."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON)
        self.world = ledgers.memory_world()
        # The campaign is never done: nothing but ends of jobs is told.
        self.world.running("open")
        assert isinstance(self.world.ledger, MemoryLedger)
        self.store = webhooks.over(self.world.ledger)
        self.courier = ScriptedCourier(self.clock)
        self.announcer = KeptAnnouncer()
        self.tally = Tally()
        self.telling = self.process()

    def process(self) -> Telling:
        """Return a process that tells, as a fresh start has it."""
        relay = Relay(
            self.store,
            self.world.ledger,
            self.clock,
            api_url="https://assets.example",
            announcer=self.announcer,
        )
        kinds = dict.fromkeys(Kind, self.courier)
        return Telling(
            self.store, relay, kinds, self.clock, at_once, tally=self.tally, chance=lambda: 0.5
        )

    def ends(self, *keys: str) -> None:
        """End jobs well."""
        for key in keys:
            self.world.ended(Status.SUCCEEDED, key)

    def log(self) -> list[Delivery]:
        """Return all deliveries of the customer, the oldest first."""
        return self.store.deliveries(Chosen(ACME), most=10_000)[::-1]

    async def turns(self, times: int = 3, *, process: Telling | None = None) -> None:
        """Take so many turns, with time for what they began."""
        for _ in range(times):
            await (process or self.telling).turn()
            for _ in range(30):
                await asyncio.sleep(0)

    def endpoint(self, name: str = "ep_1") -> Endpoint:
        """Return an endpoint as it is kept."""
        found = self.store.endpoint(ACME, name)
        assert found is not None
        return found


@pytest.fixture
def office() -> Office:
    made = Office()
    made.store.add_endpoint(webhooks.endpoint())
    return made


def test_an_end_is_told_to_whoever_wants_it(office: Office) -> None:
    """Other customers, and endpoints that chose other events, hear nothing of it."""
    office.store.add_endpoint(webhooks.endpoint("ep_2"))
    office.store.add_endpoint(webhooks.endpoint("ep_3", types=frozenset({EventType.JOB_FAILED})))
    office.store.add_endpoint(webhooks.endpoint("ep_4", "bolt"))
    office.ends("one")

    asyncio.run(office.turns())

    assert [one.endpoint_id for one in office.courier.brought] == ["ep_1", "ep_2"]
    assert {one.outcome for one in office.log()} == {Outcome.DELIVERED}
    (series,) = (one for one in office.tally.totals() if one.metric.name == "webhook_end_to_end")
    assert series.labels == {"customer": ACME}


def test_a_failure_is_tried_again_with_the_same_id_and_body(office: Office) -> None:
    said = iter([500, None, 204])
    office.courier.says = lambda _, __: next(said) or 503
    office.ends("one")

    async def run() -> None:
        await office.turns()
        for _ in range(2):
            office.clock.jump(5 * MINUTE)
            await office.turns()

    asyncio.run(run())

    first, *others = office.courier.brought
    assert len(others) == 2
    assert {(one.webhook_id, one.body) for one in others} == {(first.webhook_id, first.body)}
    (done,) = office.log()
    assert [one.status for one in done.attempts] == [500, 503, 204]
    assert done.outcome is Outcome.DELIVERED


def test_what_hangs_holds_up_no_other(office: Office) -> None:
    """Its lane is its own: two tries, however many wait; the others get all of theirs."""
    office.store.add_endpoint(webhooks.endpoint("ep_hangs"))
    hangs: Says = lambda to, _: None if to.endpoint_id == "ep_hangs" else 200  # noqa: E731
    office.courier.says = hangs
    office.ends(*(f"k{n}" for n in range(40)))

    async def run() -> None:
        await office.turns(8)
        delivered = [one for one in office.log() if one.outcome is Outcome.DELIVERED]
        assert len(delivered) == 40
        assert {one.endpoint_id for one in delivered} == {"ep_1"}
        assert office.courier.most["ep_hangs"] == 2
        office.courier.let_go.set()
        await office.telling.landed()

    asyncio.run(run())


def test_a_failing_endpoint_has_a_budget(office: Office) -> None:
    """A minute of forty events is a handful of tries, not forty times as many."""
    office.courier.says = lambda _, __: 500
    office.ends(*(f"k{n}" for n in range(40)))

    async def run() -> None:
        for _ in range(60):
            await office.turns(1)
            office.clock.jump(timedelta(seconds=1))

    asyncio.run(run())

    assert 5 <= len(office.courier.brought) <= 10
    assert office.endpoint().health.is_probed


def test_a_poisonous_delivery_does_not_pause_the_others(office: Office) -> None:
    """One that is always refused waits for itself; between others' successes nothing is paused."""
    office.ends(*(f"k{n}" for n in range(20)))
    office.store.fan_out(office.store.pending(most=1)[0], [])
    poison = office.store.pending(most=1)[0].webhook_id
    refuses: list[str] = []

    class Refusing(ScriptedCourier):
        async def bring(self, delivery: Delivery, endpoint: Endpoint) -> Attempt:
            self.says = lambda _, __: 400 if delivery.webhook_id == poison else 200
            refuses.append(delivery.webhook_id)
            return await super().bring(delivery, endpoint)

    office.courier = Refusing(office.clock)
    office.telling = office.process()

    asyncio.run(office.turns(10))

    waiting = [one for one in office.log() if one.outcome is Outcome.WAITING]
    assert [one.webhook_id for one in waiting] == [poison]
    assert office.endpoint().health.state is State.ACTIVE


def test_an_hour_down_is_polling_told_once_and_back_by_itself(office: Office) -> None:
    """The contact hears it once, and what waited comes when a probe gets through."""
    office.courier.says = lambda _, at: 200 if at >= NOON + timedelta(hours=3) else 503
    office.ends("one", "two", "three")

    async def run() -> None:
        for _ in range(170):
            await office.turns(1)
            office.clock.jump(MINUTE)
        assert office.endpoint().health.state is State.POLLING
        for _ in range(30):
            await office.turns(2)
            office.clock.jump(MINUTE)

    asyncio.run(run())

    told = [event for event, _ in office.announcer.told]
    (trouble,) = (one for one in told if one.type is EventType.ENDPOINT_DISABLED)
    assert trouble.facts["reason"] == "down"
    assert trouble.facts["lastError"] == "HTTP 503"
    assert office.endpoint().health.state is State.ACTIVE
    assert {one.outcome for one in office.log()} == {Outcome.DELIVERED}
    probes = [one for one in office.courier.brought if one]
    assert len(probes) < 70


def test_gone_ends_it_and_the_customers_other_endpoint_hears_of_it(office: Office) -> None:
    office.store.add_endpoint(webhooks.endpoint("ep_2"))
    office.courier.says = lambda to, _: 410 if to.endpoint_id == "ep_1" else 200
    office.ends("one")

    async def run() -> None:
        await office.turns()
        office.clock.jump(timedelta(seconds=6))
        office.ends("two")
        await office.turns()

    asyncio.run(run())

    assert office.endpoint().health.state is State.DISABLED
    heard = [one.type for one in office.courier.brought if one.endpoint_id == "ep_2"]
    assert heard.count(EventType.ENDPOINT_DISABLED) == 1
    assert len([one for one in office.courier.brought if one.endpoint_id == "ep_1"]) == 1


def test_a_death_loses_nothing(office: Office) -> None:
    """What a process held is another's once its lease is over, under the same ids."""
    office.courier.says = lambda _, __: None
    office.ends(*(f"k{n}" for n in range(WAITING + 20)))

    async def run() -> None:
        await office.turns()
        held = {one.webhook_id for one in office.courier.brought}
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        office.courier = ScriptedCourier(office.clock)
        successor = office.process()
        for _ in range(8):
            office.clock.jump(LEASE)
            await office.turns(5, process=successor)
        again = {one.webhook_id for one in office.courier.brought}
        assert held <= again

    asyncio.run(run())

    assert len(office.log()) == WAITING + 20
    assert {one.outcome for one in office.log()} == {Outcome.DELIVERED}


def test_two_processes_share_the_work(office: Office) -> None:
    """Each delivery is tried by one of them."""
    office.ends(*(f"k{n}" for n in range(30)))
    second = office.process()

    async def run() -> None:
        for _ in range(5):
            await asyncio.gather(office.turns(1), office.turns(1, process=second))

    asyncio.run(run())

    ids = [one.webhook_id for one in office.courier.brought]
    assert len(ids) == len(set(ids)) == 30


def test_what_our_own_side_can_not_be_told_stays_pending(office: Office) -> None:
    office.ends("one")
    office.announcer.is_away = True

    with pytest.raises(StoreUnavailable):
        asyncio.run(office.turns(1))
    assert len(office.store.pending(most=9)) == 1

    office.announcer.is_away = False
    asyncio.run(office.turns())
    assert len(office.announcer.told) == 1
    assert [one.outcome for one in office.log()] == [Outcome.DELIVERED]


def test_a_bug_in_one_try_ends_no_other(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    def says(_: Endpoint, __: datetime) -> int:
        if len(office.courier.brought) == 1:
            raise LookupError
        return 200

    office.courier.says = says
    office.ends("one", "two")

    with caplog.at_level(logging.ERROR):
        asyncio.run(office.turns())

    assert sorted(one.outcome.value for one in office.log()) == ["delivered", "waiting"]
    assert "failed on our side" in caplog.text


def test_an_event_that_can_not_be_told_holds_up_no_other(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays pending and is told to the log once; nothing is lost without a word."""
    huge = Event("huge", EventType.CAMPAIGN_HALTED, ACME, NOON, facts={"reason": "x" * 30_000})
    office.store.change_endpoint(office.endpoint(), huge)
    office.ends("one")

    with caplog.at_level(logging.ERROR):
        asyncio.run(office.turns(5))

    assert [one.outcome for one in office.log()] == [Outcome.DELIVERED]
    assert office.store.pending(most=9) == [huge]
    assert len(caplog.records) == 1


def test_it_stops_when_it_is_told_to(office: Office) -> None:
    """What is under way is brought to its end and written."""
    office.ends("one")

    async def run() -> None:
        over = asyncio.Event()
        office.courier.says = lambda _, __: over.set() or 200  # pyright: ignore[reportAssignmentType]
        await asyncio.wait_for(office.telling.run(over), timeout=10)

    asyncio.run(run())

    assert [one.outcome for one in office.log()] == [Outcome.DELIVERED]
