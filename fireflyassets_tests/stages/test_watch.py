"""The watch, minute by minute in virtual time: gauges, standstill, and the brake on refusals."""

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.backlog import MemoryBacklog
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import alarm
from fireflyassets.core.budget import CUSTOMER, Block, BudgetFile, CapEntry, Raise, month_of
from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.core.tally import Tally
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import item_key
from fireflyassets.ports.catalogue import PACED
from fireflyassets.ports.entries import Release
from fireflyassets.stages.watch import BRAKE, BRAKED_FOR, Memory, Watch
from fireflyassets_tests.contracts import ledgers
from fireflyassets_tests.contracts.ledgers import NOON
from fireflyassets_tests.front_door import FixedCatalogue, config

MINUTE = timedelta(minutes=1)
FIREFLY = item_key("ORG", Family.FIREFLY)


def limits(_organisation: str, _family: Family) -> Limits:
    return Limits(60, source="a test", as_of=date(2026, 1, 1))


@dataclass
class Scene:
    """A watch over everything in memory, with what it remembers."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(NOON))
    world: ledgers.World = field(default_factory=ledgers.memory_world)
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        assert isinstance(self.world.ledger, MemoryLedger)
        self.tally = Tally()
        self.queue = MemoryQueue(self.clock)
        self.limiter = MemoryLimiter(now=self.clock.now)
        self.catalogue = FixedCatalogue(config())
        for family in PACED:
            self.limiter.register(item_key("ORG", family), limits("ORG", family))
        self.watch = Watch(
            backlog=MemoryBacklog(self.world.ledger),
            budgets=self.world.ledger,
            queue=self.queue,
            limiter=self.limiter,
            catalogue=self.catalogue,
            limits=limits,
            tally=self.tally,
        )

    def minute(self, *, calls: int = 0, refused: int = 0) -> None:
        """Take tickets, be refused, let a minute pass, and look."""
        for _ in range(calls):
            self.limiter.reserve(FIREFLY, 1)
        for _ in range(refused):
            self.limiter.pause(FIREFLY, timedelta(seconds=1))
        self.clock.jump(MINUTE)
        self.look()

    def look(self) -> None:
        """Look, by a memory that was written and read."""
        before = Memory.read(self.memory.write())
        assert before == self.memory
        self.memory = self.watch.look(before, now=self.clock.now())

    def gauge(self, name: str, *labels: str) -> float:
        """Return how a gauge stands."""
        (found,) = (
            one
            for one in self.tally.totals()
            if one.metric.name == name and tuple(one.labels.values()) == labels
        )
        return next(iter(found.values))


def test_what_waits_is_told() -> None:
    """Messages and rows, dead letters of both kinds, and the oldest job that is due."""
    scene = Scene()
    for key in ("one", "two", "three"):
        scene.world.queued(key)
    scene.world.ended(Status.DLQ, "dead")
    scene.queue.send(["a message", "another"])
    (message,) = scene.queue.receive(most=1)
    scene.queue.quarantine(message, reason="unreadable")

    scene.minute()

    assert scene.gauge("queue_depth") == 4
    assert scene.gauge("queue_depth_per_rpm") == 4 / 60
    assert scene.gauge("jobs_queued", "acme", "acme-main") == 3
    assert scene.gauge("dlq_depth") == 2
    assert scene.gauge("oldest_due") == 60
    assert scene.gauge("limiter_rate", FIREFLY) == pytest.approx(48)


def test_a_line_that_has_emptied_is_told_as_empty() -> None:
    """A gauge that stood at three does not stay there once nothing waits."""
    scene = Scene()
    row = scene.world.queued("one")
    scene.minute()
    scene.world.ledger.claim(row.job_id, "acme", "w-1", now=NOON)
    scene.minute()

    assert scene.gauge("jobs_queued", "acme", "acme-main") == 0
    assert (scene.gauge("queue_depth"), scene.gauge("oldest_due")) == (0, 0)


def test_headroom_is_what_the_last_minute_left() -> None:
    """Of 48 paced calls a minute, 12 leave three quarters."""
    scene = Scene()
    scene.minute()
    scene.minute(calls=12)

    assert scene.gauge("limiter_headroom", FIREFLY) == pytest.approx(75)


def test_a_standstill_grows_and_ends_with_the_first_ticket() -> None:
    """Due work, free tickets and no call: the time since then; a call sets it to nothing."""
    scene = Scene()
    scene.world.queued("one")
    stalled = []
    for calls in (0, 0, 0, 1, 0):
        scene.minute(calls=calls)
        stalled.append(scene.gauge("stalled"))

    assert stalled == [0, 60, 120, 0, 0]


def test_ten_minutes_without_a_call_page_somebody() -> None:
    """Gauge and alarm together fire between nine and ten minutes after the last call."""
    scene = Scene()
    scene.world.queued("one")
    numbers: list[float | None] = []
    while not alarm.NO_PROGRESS.fires([0.0] * alarm.NO_PROGRESS.of + numbers):
        scene.minute()
        numbers.append(scene.gauge("stalled"))

    assert len(numbers) - 1 == 10


def test_an_open_breaker_calls_somebody_until_it_is_closed() -> None:
    """The wait that opened it need not have ended any job, and nothing stands still by it."""
    scene = Scene()
    scene.limiter.pause(FIREFLY, timedelta(hours=1))
    told: list[float | None] = []
    for _ in range(5):
        scene.minute()
        told.append(scene.gauge("breakers_open"))
    assert alarm.OPEN_BREAKER.fires(told)
    assert not alarm.OPEN_BREAKER.fires(told[1:])
    assert scene.gauge("stalled") == 0

    scene.limiter.reset(FIREFLY, by="ann", why="mended")
    scene.minute()

    assert scene.gauge("breakers_open") == 0


def test_who_may_not_call_does_not_stand_still() -> None:
    """A pause of the service, a day's quota that is used up, or nothing due is no standstill."""
    paused, parked = Scene(), Scene()
    paused.world.queued("one")
    parked.world.ledger.release(
        parked.world.running("one"), Release("later", NOON + timedelta(hours=1)), now=NOON
    )
    for _ in range(4):
        paused.limiter.pause(FIREFLY, timedelta(minutes=2))
        paused.minute()
        parked.minute()

    assert paused.gauge("stalled") == 0
    assert parked.gauge("stalled") == 0


def test_a_limiter_that_nobody_can_ask_is_a_standstill() -> None:
    """Where no item is known, nothing is sent: due work then counts as standing still."""
    scene = Scene()
    scene.limiter = MemoryLimiter(now=scene.clock.now)
    scene.watch = Watch(
        scene.watch.backlog,
        scene.watch.budgets,
        scene.queue,
        scene.limiter,
        scene.watch.catalogue,
        limits,
        scene.tally,
    )
    scene.world.queued("one")
    scene.minute()
    scene.minute()

    assert scene.gauge("stalled") == 60


def capped(operations: int, tagged: int | None = None) -> BudgetFile:
    """Return budgets of a customer, and perhaps of one tag."""
    wide, narrow = (
        (CapEntry(valid_from=date(2026, 1, 1), source="a test", operations=Decimal(n or 0)),)
        for n in (operations, tagged)
    )
    return BudgetFile(customer=wide, tags={} if tagged is None else {"season=spring": narrow})


def test_the_budget_that_is_nearest_its_end_is_told() -> None:
    """Reserved and spent count alike; a raise counts, and a cap of nothing is used up."""
    scene, tag, month = Scene(), "tag:season=spring", month_of(NOON)
    budgets = capped(100, tagged=20)
    scene.catalogue.budgets["acme"] = budgets
    block = Block("b-1", "acme", "spring", month, (CUSTOMER, tag), Decimal(15), NOON)
    scene.world.ledger.reserve(block, budgets.caps(NOON.date()), now=NOON)
    scene.look()
    assert scene.gauge("budget_used") == 75

    more = Raise(Decimal(40), until=NOON + timedelta(days=1), by="ada", why="launch", at=NOON)
    scene.world.ledger.raise_cap("acme", month, tag, more)
    scene.look()
    assert scene.gauge("budget_used") == 25

    scene.catalogue.budgets["acme"] = capped(0)
    scene.look()
    assert scene.gauge("budget_used") == 100


def test_five_minutes_of_refusals_brake_and_four_do_not() -> None:
    """The rate is capped at half the contract's for a time, and no sooner than the alarm fires."""
    scene = Scene()
    scene.minute()
    for _ in range(4):
        scene.minute(calls=20, refused=1)
    assert scene.limiter.state(FIREFLY).override is None

    scene.minute(calls=20, refused=1)

    override = scene.limiter.state(FIREFLY).override
    assert override is not None
    assert override.by == BRAKE
    assert override.until - override.since == BRAKED_FOR
    assert override.rate_per_minute <= 24
    other = scene.limiter.state(item_key("ORG", Family.PHOTOSHOP))
    assert other.override is None


def test_looking_more_often_brakes_no_sooner() -> None:
    """Looks of every ten seconds judge whole minutes, as looks of every minute do."""
    scene = Scene()
    scene.look()
    braked = []
    for look in range(36):
        scene.limiter.reserve(FIREFLY, 3)
        if look % 6 == 0:
            scene.limiter.pause(FIREFLY, timedelta(seconds=1))
        scene.clock.jump(timedelta(seconds=10))
        scene.look()
        braked.append(scene.limiter.state(FIREFLY).override is not None)

    assert 24 <= braked.index(True) <= 30
    assert len(scene.memory.samples[FIREFLY]) == 6


def test_the_brake_never_lifts_a_rate_that_refusals_have_lowered_further() -> None:
    """Braking caps: it sets no higher rate than the one in force."""
    scene = Scene()
    scene.minute()
    for _ in range(5):
        for _ in range(8):
            scene.limiter.pause(FIREFLY, timedelta(seconds=1))
            scene.clock.jump(timedelta(seconds=6))
        scene.limiter.reserve(FIREFLY, 4)
        scene.clock.jump(timedelta(seconds=10))
        before = scene.limiter.state(FIREFLY).rate_per_minute
        scene.look()

    assert before < 24
    override = scene.limiter.state(FIREFLY).override
    assert override is not None
    assert override.rate_per_minute <= before
    assert scene.limiter.state(FIREFLY).rate_per_minute <= before


def test_an_operators_rate_stays() -> None:
    """Whoever set a rate by hand knows better: it is neither replaced nor ended."""
    scene = Scene()
    scene.limiter.override(
        FIREFLY, 40, duration=timedelta(hours=1), by="ada", why="the contract was raised"
    )
    scene.minute()
    for _ in range(6):
        scene.minute(calls=20, refused=1)

    override = scene.limiter.state(FIREFLY).override
    assert override is not None
    assert override.by == "ada"


def test_who_only_looks_brakes_nothing() -> None:
    """A scraper's look sets gauges and leaves the limiter alone."""
    scene = Scene()
    scene.watch = replace(scene.watch, brakes=False)
    scene.minute()
    for _ in range(6):
        scene.minute(calls=20, refused=1)

    assert scene.limiter.state(FIREFLY).override is None


def test_a_gap_between_looks_brakes_nothing() -> None:
    """Looks that were left out tell nothing of single minutes: they count as good ones."""
    scene = Scene()
    scene.minute()
    for minute in range(7):
        if minute % 3 == 2:
            scene.clock.jump(timedelta(minutes=5))
        scene.minute(calls=20, refused=1)

    assert scene.limiter.state(FIREFLY).override is None


def test_midnight_is_no_refusal() -> None:
    """Counts that begin anew with the day are counted from nothing."""
    scene = Scene(clock=FakeClock(NOON + timedelta(hours=11, minutes=57)))
    for _ in range(6):
        scene.minute(calls=20)

    assert scene.limiter.state(FIREFLY).override is None
    assert scene.gauge("limiter_headroom", FIREFLY) == pytest.approx(100 * (1 - 20 / 48))
