"""Replays over memory ports: what may go, at what price, in which order, and that it goes once."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.budget import CUSTOMER, Raise
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import REPLAYS, FailureClass, Replay
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.ports.entries import AttemptState
from fireflyassets.stages.causes import Causes
from fireflyassets.stages.replay import Choice, Dead, Replays, State, sums
from fireflyassets_tests.contracts import ledgers
from fireflyassets_tests.contracts.budgets import MONTH, block, booked, cap, reserve
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, World, ending, job, memory_world
from fireflyassets_tests.front_door import NOON, FakeClock, FixedCatalogue, config

STALE = FailureClass.STALE_REFERENCE
DOWN = FailureClass.TRANSIENT
HOUR = timedelta(hours=1)


@dataclass
class Morgue:
    """A ledger with jobs in ``dlq``, and the use case over it."""

    world: World = field(default_factory=memory_world)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOON + HOUR))
    obstacle: Callable[[JobRow], str | None] = lambda _: None

    @property
    def replays(self) -> Replays:
        """The use case, which lets a job go three times."""
        return Replays(self.world.ledger, self.objects, self.clock, self.obstacle, 3)

    def dead(self, key: str, failure: FailureClass = STALE, **changes: object) -> JobRow:
        """Bring a job into ``dlq``."""
        claim = self.world.running(key, **changes)
        self.world.ledger.finish(claim, ending(Status.DLQ, failure=failure, ended_at=NOON))
        return self.world.row(claim)

    def states(self, choice: Choice | None = None, *, mended: bool = False) -> dict[str, State]:
        """Return key -> state of a plan."""
        plan = self.replays.plan(choice or Choice(), mended=mended)
        return {one.row.idempotency_key: one.state for one in plan}

    def go(self, plan: list[Dead], **said: timedelta) -> list[str]:
        """Replay and return the ids that went."""
        moves = self.replays.go(plan, by="ann", why="it is mended", **said)
        return [one.job_id for one in moves if one.done]

    def row(self, row: JobRow) -> JobRow:
        """Return a row as it stands."""
        now = self.world.ledger.job(row.job_id)
        assert now is not None
        return now

    def succeed(self, row: JobRow) -> None:
        """Let a queued job succeed an hour later."""
        self.clock.jump(HOUR)
        claim = self.world.ledger.claim(row.job_id, ACME, "w-again", now=self.clock.now())
        assert claim is not None
        self.world.ledger.finish(claim, ending(ended_at=self.clock.now()))


@pytest.mark.parametrize("failure", FailureClass)
def test_only_recoverable_classes_go(failure: FailureClass) -> None:
    """What a replay would only spend more on stays, whatever anybody says."""
    here = Morgue()
    here.dead("one", failure)
    rule = REPLAYS[failure]

    may = here.states(mended=True)["one"]

    assert (may is State.READY) is (rule is not Replay.NEVER)
    assert (here.states()["one"] is State.WAITS) is (rule is Replay.AFTER_MENDING)


def test_a_job_that_nobody_classed_stays() -> None:
    """A row of before classes were kept is unknown, and nobody guesses."""
    here = Morgue()
    claim = here.world.ended(Status.DLQ, "old")

    assert here.states(mended=True) == {"old": State.NEVER}
    assert here.go(here.replays.plan(Choice(), mended=True)) == []
    assert here.world.row(claim).status is Status.DLQ


def test_a_plan_moves_and_writes_nothing_and_names_the_price() -> None:
    """What is finished is not paid for again."""
    here = Morgue()
    claim = here.world.running("half")
    done = ledgers.result(claim, operations=Decimal("1.5"))
    here.world.ledger.bind(claim, done, [])
    here.world.ledger.finish(claim, ending(Status.DLQ, failure=STALE, ended_at=NOON))
    here.dead("whole")
    before = here.world.ledger.dead()

    plan = here.replays.plan(Choice())

    assert sorted(one.price for one in plan) == [Decimal("2.0"), Decimal("3.5")]
    (told,) = sums(plan)
    assert (told.jobs, told.goes, told.price, told.oldest) == (2, 2, Decimal("5.5"), NOON)
    assert here.world.ledger.dead() == before
    assert here.objects.objects == {}


def test_a_choice_by_class_campaign_credential_and_time() -> None:
    here = Morgue()
    here.dead("a")
    here.dead("b", FailureClass.THROTTLED)
    here.dead("c", campaign_id="summer")
    here.dead("d", credential="other")

    def keys(**said: object) -> set[str]:
        return set(here.states(Choice(**said)))  # pyright: ignore[reportArgumentType]

    assert keys(failures=frozenset({STALE})) == {"a", "c", "d"}
    assert keys(campaign="acme/summer") == {"c"}
    assert keys(credential="other") == {"d"}
    assert keys(customer="bolt") == set()
    assert keys(since=NOON + MINUTE) == set()
    assert keys(since=NOON, until=NOON) == {"a", "b", "c", "d"}


def test_jobs_become_due_evenly_and_the_replay_is_on_record() -> None:
    """Who, why, the price and which: before the first moves, and again at the end."""
    here = Morgue()
    rows = [here.dead(f"job-{n}") for n in range(4)]

    went = here.go(here.replays.plan(Choice()), spread=HOUR)

    due = sorted(here.row(row).not_before or NOON for row in rows)
    assert [at - here.clock.now() for at in due] == [MINUTE * 15 * n for n in range(4)]
    assert {here.row(row).reason for row in rows} == {"Replayed by ann: it is mended"}
    (key,) = here.objects.keys("replays/2")
    said = json.loads(here.objects.get(key) or b"")
    assert (said["by"], said["why"], said["operations"]) == ("ann", "it is mended", "14.0")
    assert said["planned"] == said["moved"] == went


def test_who_stops_half_way_leaves_the_rest_where_it_is() -> None:
    """What has gone goes on, and the record says which."""
    here = Morgue()
    for n in range(3):
        here.dead(f"job-{n}")
    moves = here.replays.go(here.replays.plan(Choice()), by="ann", why="a try")

    first = next(moves.steps)
    moves.close()

    assert len(here.world.ledger.dead()) == 2
    (key,) = here.objects.keys("replays/2")
    assert json.loads(here.objects.get(key) or b"")["moved"] == [first.job_id]


def test_two_replays_at_once_move_each_job_once() -> None:
    """Both have planned all; what one has moved the other leaves."""
    here = Morgue()
    rows = [here.dead(f"job-{n}") for n in range(5)]
    one, two = here.replays.plan(Choice()), here.replays.plan(Choice())

    went = here.go(one), here.go(two)

    assert [len(jobs) for jobs in went] == [5, 0]
    assert {here.row(row).replays for row in rows} == {1}


def test_a_job_that_is_done_meanwhile_is_left_alone() -> None:
    here = Morgue()
    row = here.dead("one")
    plan = here.replays.plan(Choice())
    claim = here.world.ledger.reclaim(row.job_id, ACME, "w-2", now=NOON)
    assert claim is not None
    here.world.ledger.finish(claim, ending())  # pyright: ignore[reportArgumentType]

    assert here.go(plan) == []
    assert here.row(row).status is Status.SUCCEEDED


def test_a_job_goes_so_often_and_no_further() -> None:
    """A fault that comes back each time is somebody's to look into."""
    here = Morgue()
    row = here.dead("one", replays=3)

    assert here.states(mended=True) == {"one": State.NEVER}
    assert "3 times" in here.replays.plan(Choice())[0].why
    assert here.row(row).status is Status.DLQ


def test_a_call_without_an_outcome_is_decided_first() -> None:
    """A replay would wait for it anyway; nothing is sent blindly."""
    here = Morgue()
    claim = here.world.running("one")
    sent = ledgers.attempt(claim)
    assert here.world.ledger.begin_attempt(sent)
    here.world.ledger.close_attempt(sent, AttemptState.LOST, fault="lost", counts=True)
    here.world.ledger.finish(claim, ending(Status.DLQ, failure=STALE, ended_at=NOON))

    assert here.states(mended=True) == {"one": State.WAITS}


def test_where_a_service_was_down_one_job_goes_first() -> None:
    """The others go once it has succeeded; what failed later needs a probe of its own."""
    here = Morgue()
    rows = [here.dead(f"job-{n}", DOWN) for n in range(3)]
    assert sorted(here.states().values()) == [State.PROBE, State.WAITS, State.WAITS]

    (probe,) = here.go(here.replays.plan(Choice()))
    assert set(here.states().values()) == {State.WAITS}

    here.succeed(next(row for row in rows if row.job_id == probe))
    assert set(here.states().values()) == {State.READY}
    claim = here.world.running("late")
    late = ending(Status.DLQ, failure=DOWN, ended_at=here.clock.now() + MINUTE)
    here.world.ledger.finish(claim, late)
    assert here.states()["late"] is State.PROBE


def test_a_probe_that_fails_lets_nobody_through() -> None:
    here = Morgue()
    for n in range(3):
        here.dead(f"job-{n}", DOWN)
    (probe,) = here.go(here.replays.plan(Choice()))
    claim = here.world.ledger.claim(probe, ACME, "w-2", now=here.clock.now())
    assert claim is not None
    later = here.clock.now() + MINUTE
    here.world.ledger.finish(claim, ending(Status.DLQ, failure=DOWN, ended_at=later))

    assert sorted(here.states().values()) == [State.PROBE, State.WAITS, State.WAITS]


def test_an_operator_s_word_needs_no_probe() -> None:
    here = Morgue()
    for n in range(3):
        here.dead(f"job-{n}", DOWN)

    assert len(here.go(here.replays.plan(Choice(), mended=True))) == 3


def test_a_replay_during_an_outage_waits() -> None:
    """A breaker that is open, or a campaign out of service, lets nothing go."""
    here = Morgue(obstacle=lambda _: "The breaker of org#firefly is open.")
    here.dead("one")

    (one,) = here.replays.plan(Choice(), mended=True)

    assert (one.state, one.why) == (State.WAITS, "The breaker of org#firefly is open.")
    assert here.go([one]) == []


class Down(MemoryObjects):
    """A bucket that is not there."""

    def put(self, key: str, content: bytes, **_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise StoreUnavailable("S3", key[:7])


def test_what_can_not_be_put_on_record_does_not_go() -> None:
    here = Morgue(objects=Down())
    here.dead("one")

    with pytest.raises(StoreUnavailable):
        here.go(here.replays.plan(Choice()))

    assert len(here.world.ledger.dead()) == 1


def test_no_more_go_than_asked_for() -> None:
    here = Morgue()
    for n in range(5):
        here.dead(f"job-{n}")

    assert len(here.go(here.replays.plan(Choice(), most=2))) == 2
    assert len(here.go(here.replays.plan(Choice(), most=0))) == 0


def test_policy_runs_its_classes_again_after_a_wait_that_doubles() -> None:
    """Nothing by default, never what waits for a person, and each time later."""
    here = Morgue(clock=FakeClock(NOON + 9 * MINUTE))
    row = here.dead("one")
    here.dead("two", FailureClass.QUOTA)
    here.dead("three", FailureClass.UNSAFE_CONTENT)
    every = frozenset(FailureClass)

    assert here.replays.by_policy(frozenset(), most=9) == 0
    assert here.replays.by_policy(every, most=9) == 0
    here.clock.jump(MINUTE)
    assert here.replays.by_policy(every, most=9) == 1
    assert here.row(row).reason == "Replayed by policy: its class is run again by itself"

    claim = here.world.ledger.claim(row.job_id, ACME, "w-2", now=here.clock.now())
    assert claim is not None
    again = ending(Status.DLQ, failure=STALE, ended_at=here.clock.now())
    here.world.ledger.finish(claim, again)
    here.clock.jump(19 * MINUTE)
    assert here.replays.by_policy(every, most=9) == 0
    here.clock.jump(MINUTE)
    assert here.replays.by_policy(every, most=9) == 1


def test_a_full_budget_holds_the_policy_back_without_a_record() -> None:
    """Nothing is planned that could not go, however often it is looked at; a raise lets it go."""
    here = Morgue()
    tight = cap("4")
    held = block("3.5", "b-1", (tight,))
    reserve(here.world, "3.5", "b-1", tight)
    here.world.ledger.record([booked("one", of=held)], held)
    claim = here.world.ledger.claim(job("one").job_id, ACME, "w-1", now=NOON)
    assert claim is not None
    dead = ending(Status.DLQ, failure=STALE, ended_at=NOON, cost=Cost())
    here.world.ledger.finish(claim, dead)
    row = here.world.row(claim)
    reserve(here.world, "2", "b-2", tight)

    known = FixedCatalogue(config(campaign=row.campaign_id))

    def again() -> int:
        causes = Causes(known, MemoryLimiter(now=here.clock.now), here.world.ledger, here.clock)
        use = replace(here.replays, obstacle=causes.obstacle)
        return use.by_policy(frozenset({STALE}), most=9)

    assert [again(), again()] == [0, 0]
    assert here.objects.keys("replays/") == []
    raised = Raise(Decimal(10), here.clock.now() + HOUR, "Ann", "a replay", NOON)
    here.world.ledger.raise_cap(ACME, MONTH, CUSTOMER, raised)
    assert again() == 1
