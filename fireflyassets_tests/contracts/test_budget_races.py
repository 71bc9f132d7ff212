"""Budgets when many ask at once, and in any order: never above the cap, and it always adds up.

Here: threads over one ledger, and random histories of reservations, rows, ends, replays, lapses
and deaths. Not here: what one caller sees (`test_budgets`, `test_bookings`).
"""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier

from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.core.budget import CUSTOMER, Block
from fireflyassets.core.errors import OwnershipLost, ReservationLapsed
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget, Reserved
from fireflyassets.ports.entries import Claim, Recorded, Release
from fireflyassets_tests.contracts.budgets import (
    assert_adds_up,
    block,
    booked,
    cap,
    claimed,
    counter,
    record,
    reserve,
    stands,
)
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    MINUTE,
    NOON,
    SPRING,
    World,
    ending,
    memory_world,
)

TAG = "tag:brand=tea"


def test_exactly_as_many_are_granted_as_fit(ledger_world: World) -> None:
    """Of sixty at once; each step of the ladder is told by one of them."""
    ladder, tight = cap("100", CUSTOMER, 5, 10, 15), cap("17", TAG)
    start = Barrier(12)

    def ask(n: int) -> Reserved | OverBudget:
        if n < 12:
            start.wait()
        return reserve(ledger_world, "1", f"b-{n}", ladder, tight)

    with ThreadPoolExecutor(12) as callers:
        told = list(callers.map(ask, range(60)))

    granted = [one for one in told if isinstance(one, Reserved)]
    assert len(granted) == 17
    assert sorted(alert.percent for one in granted for alert in one.alerts) == [5, 10, 15]
    assert len(ledger_world.budget_outbox()) == 3
    assert counter(ledger_world).taken == counter(ledger_world, TAG).taken == Decimal(17)


def test_of_a_lapse_and_a_late_row_one_wins(ledger_world: World) -> None:
    """Either the row holds its part or the block gave it back, never both."""
    for n in range(8):
        held = block("3.5", f"b-{n}")
        reserve(ledger_world, "3.5", f"b-{n}")

        def late(held: Block = held, n: int = n) -> bool:
            try:
                ledger_world.ledger.record([booked(f"job-{n}", of=held)], held)
            except ReservationLapsed:
                return False
            return True

        with ThreadPoolExecutor(2) as both:
            recorded = both.submit(late)
            lapsed = both.submit(ledger_world.ledger.give_back, held)

        assert (recorded.result(), lapsed.result()) in {(True, Decimal(0)), (False, Decimal("3.5"))}
    assert_adds_up(ledger_world.ledger)


def test_of_many_ends_and_recosts_each_counts_once(ledger_world: World) -> None:
    """Two workers of one claim, two sweeps of one row."""
    claims = [claimed(ledger_world, f"job-{n}", f"w-{n}") for n in range(5)]

    def end(claim: Claim) -> bool:
        try:
            ledger_world.ledger.finish(claim, ending(cost=Cost(Decimal(1), Decimal(2))))
        except OwnershipLost:
            return False
        return True

    with ThreadPoolExecutor(10) as workers:
        ended = list(workers.map(end, claims * 2))
        rows = [ledger_world.row(claim) for claim in claims]
        cost = Cost(Decimal(3))
        told = list(workers.map(lambda row: ledger_world.ledger.recost(row, cost), rows * 2))

    assert (ended.count(True), told.count(True)) == (5, 5)
    assert stands(ledger_world) == (Decimal(0), Decimal(15))
    assert_adds_up(ledger_world.ledger)


def test_one_replay_of_many_reserves(ledger_world: World) -> None:
    """Twenty people run one dead job again."""
    claim = claimed(ledger_world, "one")
    ledger_world.ledger.finish(claim, ending(Status.DLQ, cost=Cost(Decimal(1))))

    with ThreadPoolExecutor(10) as people:
        told = list(
            people.map(
                lambda n: ledger_world.ledger.reclaim(claim.job_id, ACME, f"w-{n}", now=NOON),
                range(20),
            )
        )

    assert sum(isinstance(one, Claim) for one in told) == 1
    assert counter(ledger_world).taken == Decimal("3.5")
    assert_adds_up(ledger_world.ledger)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["reserve", "record", "lapse", "claim", "release", "end", "close", "replay", "recost"]
        ),
        st.integers(0, 5),
        st.integers(0, 6),
    ),
    max_size=40,
)


class History:
    """One random history over a ledger; a step that has no object does nothing."""

    def __init__(self) -> None:
        self.world = memory_world()
        self.held: dict[int, Block] = {}
        self.seen: dict[int, JobRow] = {}
        self.overran = Decimal(0)

    def step(self, n: int, what: str, key: int, number: int) -> None:
        """Do one step. A death is a step that never comes: any history may end anywhere."""
        ledger, cost = self.world.ledger, Cost(Decimal(number), Decimal(number % 2))
        row = ledger.job(booked(f"job-{key}", of=block()).job_id)
        if what == "reserve":
            told = reserve(self.world, "3.5", f"b-{n}", cap("20"))
            if isinstance(told, Reserved):
                self.held[key] = told.block
        elif what == "lapse" and key in self.held:
            ledger.give_back(self.held[key])
        elif what == "record" and key in self.held:
            self._record(key)
        elif row is not None:
            self._move(row, what, n, key, cost)

    def _record(self, key: int) -> None:
        held = self.held[key]
        try:
            (told,) = self.world.ledger.record([booked(f"job-{key}", of=held)], held)
        except ReservationLapsed:
            return
        if isinstance(told, Recorded):
            del self.held[key]

    def _move(self, row: JobRow, what: str, n: int, key: int, cost: Cost) -> None:
        ledger, before = self.world.ledger, counter(self.world).taken
        if what == "claim":
            ledger.claim(row.job_id, ACME, f"w-{n}", now=NOON)
        elif what == "replay":
            ledger.reclaim(row.job_id, ACME, f"w-{n}", now=NOON)
        elif what == "recost" and row.ended_at is not None:
            stale = self.seen.get(key, row)
            ledger.recost(stale, cost)
        elif what == "close" and row.status in {Status.QUEUED, Status.DLQ}:
            ledger.close(row, ending(Status.CANCELLED, cost=cost))
        elif row.status is Status.RUNNING and what == "release":
            ledger.release(Claim.standing(row), Release("x", crashed=True), now=NOON)
        elif row.status is Status.RUNNING and what == "end":
            status = Status.DLQ if n % 2 else Status.SUCCEEDED
            ledger.finish(Claim.standing(row), ending(status, cost=cost))
        self.seen[key] = row
        if what in {"end", "close", "recost"}:
            self.overran += max(Decimal(0), counter(self.world).taken - before)


@given(STEPS)
@settings(max_examples=300, deadline=None)
def test_in_any_history_it_adds_up_and_no_reservation_passes_the_cap(
    steps: list[tuple[str, int, int]],
) -> None:
    """Whatever happens in which order, dies or comes twice; only what was billed may pass a cap."""
    history = History()
    for n, (what, key, number) in enumerate(steps):
        before = counter(history.world).taken
        history.step(n, what, key, number)
        after = counter(history.world).taken
        if what in {"reserve", "record", "replay", "lapse", "claim", "release"}:
            assert after <= max(before, Decimal(20))
        assert after <= 20 + history.overran
        assert_adds_up(history.world.ledger)
    later = NOON + 60 * MINUTE
    for left in history.world.ledger.lapsed(before=later, most=100):
        history.world.ledger.give_back(left)
    rows = history.world.ledger.campaign_jobs(ACME, SPRING)
    taken = sum((row.booking.taken for row in rows if row.booking), Decimal(0))
    assert counter(history.world).taken == taken


def test_a_month_of_many_months_is_read_by_itself(ledger_world: World) -> None:
    """A customer's months share nothing, not even a prefix."""
    record(ledger_world, "one")

    assert ledger_world.ledger.counters(ACME, "2026-0") == []
    assert ledger_world.ledger.counters("acm", "2026-03") == []
