"""Briefs of many rows whose writers die, over memory ports: the whole is taken, or nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.brief import Row
from fireflyassets.core.budget import Block
from fireflyassets.core.errors import BriefInterrupted, StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.briefs import ROWS_AT_ONCE
from fireflyassets.ports.entries import Duplicate, Recording
from fireflyassets.stages.budgeting import LASTS, expire
from fireflyassets.stages.finishing import PATIENCE, Finishing
from fireflyassets.stages.intake import Answer
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    FrontDoor,
    asked,
    capped,
    config,
    front_door,
)

JOBS = 3 * ROWS_AT_ONCE


class Failing(MemoryLedger):
    """Its store goes away after so many rows of one call, until it is told otherwise."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room: int | None = room
        self.gives_back = True
        self.asked: list[str] = []

    def give_back(self, block: Block) -> Decimal:
        if not self.gives_back:
            raise StoreUnavailable("The ledger", "a test")
        return super().give_back(block)

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        self.asked.append(rows[0].job_id)
        told = super().record(rows[: self.room], block)
        if len(told) < len(rows):
            raise StoreUnavailable("The ledger", "a test")
        return told


def half_written(room: int, *, operations: str | None = None) -> tuple[FrontDoor, Failing]:
    """Return a door whose store goes away in the middle of a brief."""
    budgets = capped(operations) if operations else {}
    door = front_door(FixedCatalogue(config(), budgets=budgets))
    ledger = Failing(room)
    intake = replace(door.intake, ledger=ledger)
    return replace(door, ledger=ledger, intake=intake), ledger


def brief(jobs: int = JOBS) -> list[Row]:
    return [asked(n, key=f"k{n}") for n in range(jobs)]


def send(door: FrontDoor, rows: Sequence[Row]) -> list[Answer]:
    return door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN)


def finishing(door: FrontDoor) -> Finishing:
    intake = door.intake
    return Finishing(intake.ledger, intake.objects, intake.catalogue, intake.clock)


def facts(row: JobRow) -> JobRow:
    """Return a row without its booking, which tells the reservation it came under."""
    return replace(row, booking=None)


@pytest.mark.parametrize("operations", [None, "10000"])
def test_a_brief_whose_writer_died_is_finished_as_it_was_sent(operations: str | None) -> None:
    """The rows that were missing are those that the writer would have made, budgets included."""
    door, ledger = half_written(ROWS_AT_ONCE, operations=operations)
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    whole = front_door()
    send(whole, brief())
    ledger.room = None
    door.clock.jump(PATIENCE + timedelta(seconds=1))

    new = finishing(door).finish(most=9)

    made = door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
    wanted = whole.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
    assert new == JOBS - ROWS_AT_ONCE
    assert [facts(row) for row in made] == [facts(row) for row in wanted]
    assert ledger.begun_briefs(before=door.clock.now(), most=9) == []
    taken = sum(one.taken for one in ledger.counters(CUSTOMER, "2026-11"))
    assert taken == (sum(row.cost_estimate for row in made) if operations else 0)
    assert ledger.blocks(CUSTOMER, "2026-11") == []


def test_a_brief_sent_again_is_whole_before_anybody_finishes_it() -> None:
    """What was taken is known, the rest is new; finishing it later adds nothing."""
    door, ledger = half_written(ROWS_AT_ONCE)
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    ledger.room = None

    told = send(door, brief())
    door.clock.jump(2 * PATIENCE)

    assert sum(isinstance(one, Duplicate) for one in told) == ROWS_AT_ONCE
    assert finishing(door).finish(most=9) == 0
    assert len(door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == JOBS
    assert ledger.begun_briefs(before=door.clock.now(), most=9) == []


def test_nobody_finishes_a_brief_that_is_being_written_or_is_whole() -> None:
    """A word that is young is its writer's; a whole brief leaves none."""
    door, ledger = half_written(ROWS_AT_ONCE)
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    ledger.room = None

    assert finishing(door).finish(most=9) == 0
    other = front_door()
    send(other, brief())
    assert other.ledger.begun_briefs(before=other.clock.now() + PATIENCE, most=9) == []


def test_a_brief_that_one_write_takes_needs_no_word() -> None:
    """It is written all or none."""
    door, ledger = half_written(0)
    with pytest.raises(StoreUnavailable) as caught:
        send(door, brief(ROWS_AT_ONCE))

    assert not isinstance(caught.value, BriefInterrupted)
    assert ledger.begun_briefs(before=door.clock.now() + PATIENCE, most=9) == []


def test_a_half_written_brief_waits_for_room_in_its_budget() -> None:
    """Its rest is taken as a whole, once a cap allows it."""
    door, ledger = half_written(ROWS_AT_ONCE, operations="10000")
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    ledger.room = None
    catalogue = door.intake.catalogue
    assert isinstance(catalogue, FixedCatalogue)
    wide, catalogue.budgets = catalogue.budgets, capped("200")
    door.clock.jump(2 * PATIENCE)

    tight = finishing(door).finish(most=9)
    catalogue.budgets = wide

    assert tight == 0
    assert finishing(door).finish(most=9) == JOBS - ROWS_AT_ONCE


def test_a_brief_that_can_not_be_read_holds_up_no_other() -> None:
    """It stays, and is told in the log; the next one is finished."""
    door, ledger = half_written(0)
    for name in ("a", "b"):
        with pytest.raises(BriefInterrupted):
            send(door, [asked(n, key=f"{name}{n}") for n in range(JOBS)])
    ledger.room = None
    first, _ = ledger.begun_briefs(before=door.clock.now() + PATIENCE, most=9)
    door.objects.put(first.manifest, b"[]\n", media_type="application/x-ndjson")
    door.clock.jump(2 * PATIENCE)

    assert finishing(door).finish(most=9) == JOBS
    assert ledger.begun_briefs(before=door.clock.now(), most=9) == [first]


def test_a_dead_writers_own_block_refuses_no_row_of_its_brief() -> None:
    """What died before its first row holds all the room there is; that lapses, and it is taken."""
    door, ledger = half_written(0, operations="1000")
    ledger.gives_back = False
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    ledger.room, ledger.gives_back = None, True
    catalogue = door.intake.catalogue
    assert isinstance(catalogue, FixedCatalogue)
    (block,) = ledger.blocks(CUSTOMER, "2026-11")
    catalogue.budgets = capped(str(block.left))
    door.clock.jump(PATIENCE + timedelta(seconds=1))

    early = finishing(door).finish(most=9)
    door.clock.jump(LASTS)
    expire(ledger, now=door.clock.now(), most=9)

    assert early == 0
    assert finishing(door).finish(most=9) == JOBS
    assert ledger.blocks(CUSTOMER, "2026-11") == []


def test_briefs_that_wait_for_room_leave_others_their_turn() -> None:
    """Where the time of a call is enough for one of them, every brief is the first in its turn."""
    door, ledger = half_written(ROWS_AT_ONCE)
    for name in "abc":
        with pytest.raises(BriefInterrupted):
            send(door, [asked(n, key=f"{name}{n}") for n in range(ROWS_AT_ONCE + 1)])
    door.clock.jump(2 * PATIENCE)
    ledger.room = 0
    ledger.asked.clear()

    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            finishing(door).finish(most=9)
        door.clock.jump(timedelta(seconds=1))

    assert len(set(ledger.asked)) == 3


def test_a_brief_without_room_for_two_months_is_given_up() -> None:
    """Its first jobs may be gone from the ledger by age, and must not be made again."""
    door, ledger = half_written(ROWS_AT_ONCE)
    with pytest.raises(BriefInterrupted):
        send(door, brief())
    ledger.room = None
    door.clock.jump(timedelta(days=62))

    assert finishing(door).finish(most=9) == 0
    assert ledger.begun_briefs(before=door.clock.now(), most=9) == []
