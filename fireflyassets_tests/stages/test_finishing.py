"""Briefs of many rows whose writers die, over memory ports: the whole is taken, or nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.brief import Row
from fireflyassets.core.budget import Block, BudgetFile
from fireflyassets.core.errors import BriefInterrupted, StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.briefs import ROWS_AT_ONCE
from fireflyassets.ports.entries import Duplicate, Recording
from fireflyassets.stages.finishing import PATIENCE, Finishing
from fireflyassets.stages.intake import Answer
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
)

JOBS = 3 * ROWS_AT_ONCE


class Failing(MemoryLedger):
    """Its store goes away after so many rows of one call, until it is told otherwise."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room: int | None = room

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        told = super().record(rows[: self.room], block)
        if len(told) < len(rows):
            raise StoreUnavailable("The ledger", "a test")
        return told


def half_written(room: int, *, operations: str | None = None) -> tuple[FrontDoor, Failing]:
    """Return a door whose store goes away in the middle of a brief."""
    budgets: dict[str, BudgetFile] = {}
    if operations:
        cap = {"valid_from": date(2026, 1, 1), "source": "x", "operations": operations}
        budgets = {CUSTOMER: BudgetFile.model_validate({"customer": [cap]})}
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
    wide = catalogue.budgets[CUSTOMER]
    cap = {"valid_from": date(2026, 1, 1), "source": "x", "operations": "200"}
    catalogue.budgets[CUSTOMER] = BudgetFile.model_validate({"customer": [cap]})
    door.clock.jump(2 * PATIENCE)

    tight = finishing(door).finish(most=9)
    catalogue.budgets[CUSTOMER] = wide

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
    door.objects.put(first.manifest, b"{}\n", media_type="application/x-ndjson")
    door.clock.jump(2 * PATIENCE)

    assert finishing(door).finish(most=9) == JOBS
    assert ledger.begun_briefs(before=door.clock.now(), most=9) == [first]
