"""``fireflyassets budget`` over a memory ledger. Here: what is shown, raised, proven, refused."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from fireflyassets.cli import budget as commands
from fireflyassets.cli.budget import BudgetDesk
from fireflyassets.cli.main import main
from fireflyassets.core.budget import CUSTOMER as ALL
from fireflyassets.core.budget import Raise
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.ports.entries import Recorded
from fireflyassets.stages.budgeting import Unaffordable
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    FrontDoor,
    asked,
    capped,
    config,
    front_door,
)
from fireflyassets_tests.stages.test_budgeting import Crooked

MONTH = "2026-11"


def door() -> FrontDoor:
    """Return a door with a budget for one job; another customer has none."""
    return front_door(FixedCatalogue(config(), config(customer="bolt"), budgets=capped("4")))


def desk(at: FrontDoor) -> BudgetDesk:
    return BudgetDesk(at.ledger, at.intake.catalogue, at.clock)


def raised(**changes: object) -> Raise:
    said = {"operations": Decimal(10), "until": NOON + timedelta(hours=1), "by": "Ann"}
    return Raise(**{**said, "why": "a rush", "at": NOON, **changes})  # pyright: ignore[reportArgumentType]


def test_show_tells_every_customer_s_month(capsys: pytest.CaptureFixture[str]) -> None:
    """One without a budget is named as such."""
    at = door()
    at.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    assert desk(at).show(None, None, as_json=True) == 0

    rows = json.loads(capsys.readouterr().out)
    assert rows[0] == {
        "customer": CUSTOMER,
        "month": MONTH,
        "scope": ALL,
        "cap": "4",
        "raised": "",
        "until": "",
        "spent": "0",
        "reserved": "3.5",
        "left": "0.5",
    }
    assert (rows[1]["customer"], rows[1]["scope"]) == ("bolt", "no budget is set")


def test_a_raise_lets_jobs_in_until_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    at = door()
    at.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    (before,) = at.intake.accept([asked(key="b")], customer=CUSTOMER, campaign=CAMPAIGN)

    assert desk(at).raise_cap(CUSTOMER, None, ALL, raised()) == 0

    (during,) = at.intake.accept([asked(key="b")], customer=CUSTOMER, campaign=CAMPAIGN)
    at.clock.jump(timedelta(hours=1))
    (after,) = at.intake.accept([asked(key="c")], customer=CUSTOMER, campaign=CAMPAIGN)
    kinds = [type(one) for one in (before, during, after)]
    assert kinds == [Unaffordable, Recorded, Unaffordable]
    assert "10.5" in capsys.readouterr().out
    (entry,) = at.ledger.audit(CUSTOMER, MONTH)
    assert (entry.raised.by, entry.raised.why) == ("Ann", "a rush")


@pytest.mark.parametrize(
    ("scope", "changes", "words"),
    [
        ("campaign:autumn", {}, "no budget campaign:autumn"),
        (ALL, {"until": NOON}, "ends later than now"),
        (ALL, {"until": datetime(2026, 12, 1, 0, 0, 1, tzinfo=UTC)}, "its month"),
    ],
)
def test_a_raise_of_nothing_or_for_too_long_is_refused(
    scope: str, changes: dict[str, object], words: str
) -> None:
    """It would say yes and change nothing."""
    at = door()

    with pytest.raises(UnusableArgument, match=words) as told:
        desk(at).raise_cap(CUSTOMER, None, scope, raised(**changes))
    assert "argument" in told.value.remedy
    assert at.ledger.audit(CUSTOMER, MONTH) == []


def test_the_proof_exits_1_where_a_counter_is_off(capsys: pytest.CaptureFixture[str]) -> None:
    """And names it."""
    at = door()
    at.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    at.clock.jump(timedelta(minutes=2))

    assert desk(at).prove(None, None) == 0
    crooked = Crooked()
    at = replace(at, ledger=crooked, intake=replace(at.intake, ledger=crooked))
    at.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    at.clock.jump(timedelta(minutes=2))
    crooked.off = Decimal(1)
    assert desk(at).prove(CUSTOMER, MONTH) == 1

    said = capsys.readouterr().out
    assert f"{CUSTOMER} {MONTH} {ALL}: proven" in said
    assert f"{CUSTOMER} {MONTH} {ALL}: differs" in said


@pytest.mark.parametrize(
    "words",
    [
        ("--operations=-1", "--until=2026-11-30"),
        ("--operations=NaN", "--until=2026-11-30"),
        ("--operations=many", "--until=2026-11-30"),
        ("--operations=1", "--until=tomorrow"),
        ("--operations=1", "--until=2026-11-30", "--month=11"),
        ("--operations=1", "--until=2026-11-30", "--campaign=a", "--tag=b=c"),
    ],
)
def test_odd_arguments_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        main(["budget", "raise", "acme", "--by=Ann", "--why=x", *words])


def test_a_time_without_a_zone_is_utc() -> None:
    assert commands.instant("2026-11-30T18:00") == datetime(2026, 11, 30, 18, tzinfo=UTC)
    assert commands.month("2026-11") == MONTH
