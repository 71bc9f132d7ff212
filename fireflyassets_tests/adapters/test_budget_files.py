"""Budget files of a project. Here: what they say on a day, and what a bad one stops."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.budget import Cap, drawn_on
from fireflyassets.core.errors import BudgetsUnreadable
from fireflyassets_tests.adapters.project_folder import ProjectFolder

TODAY = date(2026, 11, 30)
SOUND = """\
customer:
  - {valid_from: 2026-01-01, source: order 1, operations: "500.5"}
  - {valid_from: 2026-11-01, source: order 2, operations: "900", alerts: [90]}
  - {valid_from: 2026-12-01, source: order 3, operations: "1"}
campaigns:
  spring-launch: [{valid_from: 2026-01-01, source: order 1, operations: "40"}]
  autumn: [{valid_from: 2026-12-01, source: order 3, operations: "40"}]
tags:
  brand=tea: [{valid_from: 2026-01-01, source: order 1, operations: "30"}]
"""


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    """Return a sound project."""
    return ProjectFolder(tmp_path)


def test_the_newest_entry_that_is_valid_counts(project: ProjectFolder) -> None:
    """For each budget by itself; one of the future is none yet."""
    project.write("budgets/acme.yaml", SOUND)

    catalogue = FileCatalogue(project.root)

    assert catalogue.quarantined() == ()
    caps = catalogue.caps("acme", TODAY)
    assert caps == (
        Cap("customer", Decimal(900), (90,), "order 2"),
        Cap("campaign:spring-launch", Decimal(40), (50, 80, 100), "order 1"),
        Cap("tag:brand=tea", Decimal(30), (50, 80, 100), "order 1"),
    )
    assert catalogue.caps("acme", date(2026, 10, 31))[0].operations == Decimal("500.5")
    assert catalogue.caps("bolt", TODAY) == ()
    drawn = drawn_on(caps, "spring-launch", {"brand": "gin", "season": "tea"})
    assert [cap.scope for cap in drawn] == ["customer", "campaign:spring-launch"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('operations: "40"', "operations: lots", "line 6: "),
        ('operations: "900"', "operations: -1", "line 3: "),
        ('operations: "900"', "operations: NaN", "line 3: "),
        ("alerts: [90]", "alerts: [80, 50]", "lowest first"),
        ("alerts: [90]", "alerts: [0]", "line 3: "),
        ("valid_from: 2026-11-01", "valid_from: 2026-01-01", "two entries begin on one day"),
        ("brand=tea", "brand", "line 9: "),
        ("customer:", "customers:", "not a known field"),
        ("source: order 2, ", "", "source: is missing"),
    ],
)
def test_a_bad_file_is_named_with_its_line_and_stops_its_customer_alone(
    project: ProjectFolder, old: str, new: str, told: str
) -> None:
    """A slip of the pen takes nobody's cap away, and no other customer's jobs down."""
    assert old in SOUND
    project.write("budgets/acme.yaml", SOUND.replace(old, new))

    catalogue = FileCatalogue(project.root)

    (bad,) = catalogue.quarantined()
    assert bad.path == "budgets/acme.yaml"
    assert told in bad.reason
    assert "at least 1 item" not in bad.reason
    with pytest.raises(BudgetsUnreadable, match=r"budgets/acme\.yaml"):
        catalogue.caps("acme", TODAY)
    assert catalogue.caps("bolt", TODAY) == ()
    assert "acme/spring-launch" in catalogue.campaigns()


@pytest.mark.parametrize("name", ["acmee.yaml", "Acme.yaml"])
def test_a_file_of_nobody_is_named(project: ProjectFolder, name: str) -> None:
    """Else a misspelt name would be a customer without a cap, and nobody would know."""
    project.write(f"budgets/{name}", SOUND)

    (bad,) = FileCatalogue(project.root).quarantined()

    assert "there is no customer" in bad.reason


def test_a_file_of_the_wrong_ending_is_not_passed_over(project: ProjectFolder) -> None:
    project.write("budgets/acme.yml", SOUND)

    with pytest.raises(BudgetsUnreadable, match="rename it"):
        FileCatalogue(project.root).caps("acme", TODAY)
