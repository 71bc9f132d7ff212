"""Budgets at the front door and in their proof, over memory ports.

Here: what a request holds, what is refused and in which words, what dies on the way, what lapses,
what the proof names. Not here: what a ledger promises of one write (`contracts/test_budgets`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.brief import Row
from fireflyassets.core.budget import CUSTOMER as ALL
from fireflyassets.core.budget import Block, BudgetFile, Counter
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded, Recording
from fireflyassets.stages.budget_proof import Proof, prove, prove_all
from fireflyassets.stages.budgeting import LASTS, Unaffordable, expire
from fireflyassets.stages.intake import Answer
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    FrontDoor,
    asked,
    card,
    config,
    front_door,
)

MONTH = "2026-11"
PRICE = Decimal("3.5")


def entry(operations: str, **more: object) -> dict[str, object]:
    """Return a budget as a file says it."""
    return {"valid_from": date(2026, 1, 1), "source": "x", "operations": operations, **more}


def budgets(**said: object) -> dict[str, BudgetFile]:
    """Return the budgets of the customer."""
    return {CUSTOMER: BudgetFile.model_validate(said)}


def door_with(cap: str | None, **more: object) -> FrontDoor:
    """Return a door whose customer has a budget."""
    said = {**({"customer": [entry(cap)]} if cap else {}), **more}
    tagged = config(cost_tags={"brand": "tea"})
    return front_door(FixedCatalogue(tagged, config(customer="bolt"), budgets=budgets(**said)))


def accept(door: FrontDoor, *rows: Row, partial: bool = False) -> list[Answer]:
    return door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN, partial=partial)


def many(count: int) -> list[Row]:
    return [asked(n + 2, key=f"job-{n}") for n in range(count)]


def kinds(answers: Sequence[Answer]) -> list[str]:
    return [type(answer).__name__ for answer in answers]


def taken(door: FrontDoor, scope: str = ALL) -> Decimal:
    """Return what a scope has taken; 0 where nothing was ever counted."""
    found = {one.scope: one.taken for one in door.ledger.counters(CUSTOMER, MONTH)}
    return found.get(scope, Decimal(0))


def assert_proven(door: FrontDoor) -> None:
    """The counters add up, and no block stands."""
    assert door.ledger.blocks(CUSTOMER, MONTH) == []
    looked = prove(door.ledger, CUSTOMER, MONTH, now=door.clock.now)
    assert {one.verdict for one in looked} <= {Proof.PROVEN}


def test_a_job_holds_its_estimate_in_every_budget_that_it_draws_on() -> None:
    """The customer's, its campaign's and those of its tags; no other one."""
    door = door_with(
        "100",
        campaigns={CAMPAIGN: [entry("50")], "autumn": [entry("5")]},
        tags={"brand=tea": [entry("20")], "brand=gin": [entry("1")]},
    )

    (told,) = accept(door, asked())

    assert isinstance(told, Recorded)
    assert told.row.booking is not None
    assert told.row.booking.scopes == (ALL, f"campaign:{CAMPAIGN}", "tag:brand=tea")
    assert [taken(door, scope) for scope in told.row.booking.scopes] == [PRICE] * 3
    assert len(door.ledger.counters(CUSTOMER, MONTH)) == 3
    assert_proven(door)


def test_without_a_budget_nothing_is_counted() -> None:
    """No file is no cap."""
    door = front_door()

    (told,) = accept(door, asked())

    assert isinstance(told, Recorded)
    assert told.row.booking is None
    assert door.ledger.counters(CUSTOMER, MONTH) == []


def test_a_refusal_shows_cap_spent_and_reserved() -> None:
    """And writes no row and no block."""
    door = door_with("4")
    accept(door, asked(key="first"))

    (told,) = accept(door, asked(key="second"))

    assert isinstance(told, Unaffordable)
    problem = told.problem(7)
    assert (problem.row, problem.rule) == (7, "over-budget")
    assert problem.message == (
        "The budget customer of 2026-11 has no room for 3.5 operations: "
        "cap 4, spent 0, reserved 3.5."
    )
    assert len(door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == 1
    assert_proven(door)


def test_a_brief_fits_whole_or_not_at_all() -> None:
    """Unless parts are asked for: then the first rows that fit."""
    door = door_with("10")

    whole = accept(door, *many(3))
    part = accept(door, *many(3), partial=True)

    assert kinds(whole) == ["Unaffordable"] * 3
    assert kinds(part) == ["Recorded", "Recorded", "Unaffordable"]
    assert taken(door) == Decimal(7)
    assert_proven(door)


def test_known_jobs_need_no_room() -> None:
    """A full budget answers them as ever, in the same brief too."""
    door = door_with("7")
    accept(door, *many(2))

    again = accept(door, *many(2))
    mixed = accept(door, *many(3), partial=True)
    other = accept(door, asked(2, key="job-0", prompt="Another picture"))

    assert kinds(again) == ["Duplicate", "Duplicate"]
    assert kinds(mixed) == ["Duplicate", "Duplicate", "Unaffordable"]
    assert isinstance(other[0], Conflict)
    assert_proven(door)


def test_a_request_twice_in_a_brief_is_held_and_refused_once() -> None:
    """The second is what the first is."""
    held, refused = door_with("4"), door_with("3")

    taken_once = accept(held, asked(), asked(), partial=True)
    none = accept(refused, asked(), asked(), partial=True)

    assert kinds(taken_once) == ["Recorded", "Duplicate"]
    assert kinds(none) == ["Unaffordable", "Unaffordable"]
    assert taken(held) == PRICE
    assert_proven(held)


def test_a_bad_row_holds_nothing() -> None:
    door = door_with("100")

    accept(door, asked(2), asked(3, key="bad", prompt=" "))

    assert door.ledger.counters(CUSTOMER, MONTH) == []


def test_another_month_has_a_budget_of_its_own() -> None:
    """In UTC, from its first instant on."""
    door = door_with("4")
    accept(door, asked(key="last"))
    door.clock.jump(timedelta(hours=11, minutes=59, seconds=59))
    (late,) = accept(door, asked(key="late"))
    door.clock.jump(timedelta(seconds=1))
    (new,) = accept(door, asked(key="new"))

    assert isinstance(late, Unaffordable)
    assert isinstance(new, Recorded)
    assert new.row.booking is not None
    assert new.row.booking.month == "2026-12"
    looked = prove(door.ledger, CUSTOMER, "2026-12", now=door.clock.now)
    assert [one.verdict for one in looked] == [Proof.PROVEN]


class Dying(MemoryLedger):
    """A ledger that dies at a place of the way, once; *written*: after the rows, unheard."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        told = super().record(rows, block) if self.place == "written" else []
        if self.place in {"written", "unwritten", "killed"}:
            raise StoreUnavailable("DynamoDB", self.place)
        return told or super().record(rows, block)

    def give_back(self, block: Block) -> Decimal:
        if self.place == "killed":
            raise StoreUnavailable("DynamoDB", self.place)
        return super().give_back(block)


@pytest.mark.parametrize(("place", "jobs"), [("written", 1), ("unwritten", 0), ("killed", 0)])
def test_a_death_on_the_way_holds_nothing_for_good(place: str, jobs: int) -> None:
    """What is not given back at once lapses; sent again, the job is held once."""
    ledger = Dying(place)
    door = door_with("4")
    door = replace(door, ledger=ledger, intake=replace(door.intake, ledger=ledger))

    with pytest.raises(StoreUnavailable):
        accept(door, asked())

    assert len(ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == jobs
    ledger.place = ""
    standing = len(ledger.blocks(CUSTOMER, MONTH))
    assert standing == (place == "killed")
    door.clock.jump(LASTS + timedelta(seconds=1))
    assert expire(ledger, now=door.clock.now(), most=10) == standing
    (told,) = accept(door, asked())
    assert isinstance(told, Recorded | Duplicate)
    assert taken(door) == PRICE
    assert_proven(door)


def test_a_young_block_does_not_lapse() -> None:
    """Rows may still come in under it."""
    door = door_with("10")
    block = Block("b", CUSTOMER, CAMPAIGN, MONTH, (ALL,), PRICE, NOON)
    caps = door.intake.catalogue.caps(CUSTOMER, NOON.date())
    door.ledger.reserve(block, caps, now=NOON)

    door.clock.jump(LASTS)

    assert expire(door.ledger, now=door.clock.now(), most=10) == 0
    assert taken(door) == PRICE


def test_alerts_are_logged_with_what_they_are_about(caplog: pytest.LogCaptureFixture) -> None:
    """Once; a refusal is logged each time."""
    door = door_with("4")

    accept(door, asked(key="a"))
    (refused,) = accept(door, asked(key="b"))

    assert isinstance(refused, Unaffordable)
    assert [record.getMessage() for record in caplog.records] == [
        "Budget customer of acme, 2026-11: 50 % of 4 operations are taken (3.5).",
        "Budget customer of acme, 2026-11: 80 % of 4 operations are taken (3.5).",
        f"acme/spring-launch: {refused.over}",
    ]


class Crooked(MemoryLedger):
    """A ledger whose counters are off, or that has lost some."""

    def __init__(self) -> None:
        super().__init__()
        self.off = Decimal(0)
        self.lost: set[str] = set()

    def counters(self, customer: str, month: str) -> list[Counter]:
        told = super().counters(customer, month)
        kept = [one for one in told if one.scope not in self.lost]
        return [replace(one, taken=one.taken + self.off) for one in kept]


def crooked_door(**more: object) -> tuple[FrontDoor, Crooked]:
    """Return a door over such a ledger, which is sound yet, with a job in it."""
    door, ledger = door_with("100", **more), Crooked()
    door = replace(door, ledger=ledger, intake=replace(door.intake, ledger=ledger))
    accept(door, asked())
    return door, ledger


def test_a_counter_that_differs_is_named_and_left_as_it_is() -> None:
    """The proof mends nothing. While something moves, it says no more than that."""
    door, ledger = crooked_door()
    ledger.off = Decimal("1.5")

    (early,) = prove(ledger, CUSTOMER, MONTH, now=door.clock.now)
    door.clock.jump(timedelta(minutes=2))
    (late,) = prove(ledger, CUSTOMER, MONTH, now=door.clock.now)

    assert early.verdict is Proof.MOVING
    assert late.verdict is Proof.DIFFERS
    assert re.search(r"counter says taken 5.0, .* rows and blocks taken 3.5", late.sentence())
    ledger.off = Decimal(0)
    assert_proven(door)


def test_a_counter_that_is_missing_is_named() -> None:
    """A row that takes of a budget which never heard of it."""
    door, ledger = crooked_door(campaigns={CAMPAIGN: [entry("50")]})
    ledger.lost = {ALL}
    door.clock.jump(timedelta(minutes=2))

    looked = prove(ledger, CUSTOMER, MONTH, now=door.clock.now)

    assert [(one.counter.scope, one.verdict) for one in looked] == [
        (f"campaign:{CAMPAIGN}", Proof.PROVEN),
        (ALL, Proof.DIFFERS),
    ]


def test_the_proof_covers_the_month_before() -> None:
    """Its jobs may still end."""
    door, _ = crooked_door()
    door.clock.jump(timedelta(days=5))
    accept(door, asked(key="new"))

    looked = prove_all(door.ledger, [CUSTOMER, "bolt"], now=door.clock.now)

    assert [(one.counter.month, one.verdict) for one in looked] == [
        ("2026-11", Proof.PROVEN),
        ("2026-12", Proof.PROVEN),
    ]


def test_a_brief_that_costs_nothing_leaves_no_block() -> None:
    """It is held against the caps as any other, at nothing."""
    free = card(generate={Model.IMAGE3: Decimal(0)}, photoshop=Decimal(0))
    known = FixedCatalogue(config(), cards=(free,), budgets=budgets(customer=[entry("1")]))
    door = front_door(known)

    told = accept(door, *many(120))

    assert kinds(told) == ["Recorded"] * 120
    assert_proven(door)
