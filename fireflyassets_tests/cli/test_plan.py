"""The command of plans over ports in memory: what it prints, and what it asks of Adobe."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from fireflyassets.api import plan_tokens
from fireflyassets.api.seals import Seals
from fireflyassets.cli.main import main
from fireflyassets.cli.plan import PlanDesk
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.stages.planning import Planning
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    FrontDoor,
    front_door,
    outlook,
)

SLUG = (CUSTOMER, CAMPAIGN)
SEALS = Seals([SecretStr("k" * 32)])
ALL = "|".join(ASPECTS)


class Office:
    """A desk over an empty door, and what it has said."""

    def __init__(self, folder: Path, seals: Seals | None = None) -> None:
        self.door: FrontDoor = front_door()
        self.folder = folder
        self.said: list[str] = []
        planning = Planning(self.door.intake, outlook(self.door))
        self.desk = PlanDesk(planning, seals, "https://api.example", self.said.append)

    def brief(self, *rows: str) -> Path:
        """Write a brief and return where it is."""
        path = self.folder / "brief.csv"
        path.write_text("\n".join(["key,prompt,locale,headline,aspects", *rows, ""]))
        return path

    def told(self) -> str:
        """Return all that was said."""
        return "\n".join(self.said)


def good(count: int) -> list[str]:
    """Return rows that nothing is wrong with."""
    return [f"k{n},A meadow,en-GB,Spring,{ALL}" for n in range(count)]


def test_a_plan_is_printed_with_what_is_refused_and_why(tmp_path: Path) -> None:
    """Counts, the three finishes, changes, and each refusal with its row and fix."""
    office = Office(tmp_path)
    path = office.brief(*good(4), f"bad,,en-GB,Spring,{ALL}")

    code = office.desk.show(path, SLUG, as_json=False)

    told = office.told()
    assert code == 0
    assert "jobs        4 new, 0 known, 1 refused" in told
    assert "operations  14.0" in told
    assert [line.split()[0] for line in told.splitlines() if line.endswith("firefly")] == [
        "1x",
        "2x",
        "5x",
    ]
    assert "Leave out 1080x1080" in told
    assert "row 6, prompt (empty): prompt is empty. Write a prompt." in told
    assert "No token" in told
    assert office.door.ledger.rows() == []
    assert office.door.objects.keys("") == []


def test_a_token_that_is_printed_releases_the_plan(tmp_path: Path) -> None:
    """It is the one that the API takes, and the brief is kept for it."""
    office = Office(tmp_path, SEALS)

    office.desk.show(office.brief(*good(2)), SLUG, as_json=True)

    token = json.loads(office.said[0])["token"]
    promise = plan_tokens.opened(token, SEALS, office.door.clock, tenant=CUSTOMER)
    brief = office.desk.planning.brief(promise)
    assert brief is not None
    office.desk.planning.release(promise, brief.rows)
    assert len(office.door.ledger.rows()) == 2


def test_nothing_to_release_is_a_failure(tmp_path: Path) -> None:
    """So that a script sees it; a file that is no brief is named as what it is."""
    office = Office(tmp_path, SEALS)

    assert office.desk.show(office.brief("bad,,xx,S,"), SLUG, as_json=False) == 1
    assert "There is nothing to release." in office.told()
    (tmp_path / "odd.csv").write_text("nothing")
    with pytest.raises(UnusableArgument, match="header"):
        office.desk.show(tmp_path / "odd.csv", SLUG, as_json=False)
    with pytest.raises(UnusableArgument, match="can't be read"):
        office.desk.show(tmp_path / "none.csv", SLUG, as_json=False)


def test_a_limit_request_says_what_is_needed_and_why(tmp_path: Path) -> None:
    """960 pictures in eight hours: two a minute, at 80 % of the limit three."""
    office = Office(tmp_path)

    office.desk.ask_for_more(office.brief(*good(960)), SLUG, timedelta(hours=8))

    told = office.told()
    assert "organisation ORG" in told
    assert "firefly: peak 3 RPM, 960 calls a day" in told
    assert "photoshop: peak 8 RPM, 2880 calls a day" in told
    assert "now: 4 RPM, 9000 a day (Adobe, Firefly API technical usage notes, 2026-05-27)" in told
    assert "within 8 hours; under the limits of now they take 5.01 hours" in told


def test_a_brief_with_nothing_to_make_needs_no_higher_limit(tmp_path: Path) -> None:
    """No figures are made up for it, and a script sees that there is no request."""
    office = Office(tmp_path)

    code = office.desk.ask_for_more(office.brief("bad,,xx,S,"), SLUG, timedelta(hours=8))

    assert code == 1
    assert "has no new job (0 known, 1 refused)" in office.told()
    assert "RPM" not in office.told()


def test_the_campaign_is_the_one_whose_folder_the_brief_lies_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere it has to be named."""
    path = tmp_path / "brief.csv"
    path.write_text("x")

    assert main(["plan", str(path)]) == 1
    assert "name one with --campaign" in capsys.readouterr().err
