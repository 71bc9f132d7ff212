"""A campaign whose files can't be used: told as what it is, to its own customer alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets_tests.adapters.project_folder import ProjectFolder
from fireflyassets_tests.api.desk_clerk import JOB, OTHER, Clerk, clerk
from fireflyassets_tests.front_door import CAMPAIGN
from fireflyassets_tests.twin import retouch

ACME = "campaigns/acme/spring-launch"


def truncated(project: ProjectFolder) -> None:
    path = project.root / ACME / "1080x1080.psd"
    path.write_bytes(path.read_bytes()[:5_000])


def without_layer(project: ProjectFolder) -> None:
    project.replace(f"{ACME}/campaign.yaml", "Headline: job", "Title: job")


def misspelt(project: ProjectFolder) -> None:
    project.replace(f"{ACME}/campaign.yaml", "locales:", "local:")


def renamed(project: ProjectFolder) -> None:
    (project.root / ACME).rename(project.root / "campaigns/acme/spring")


def broken(tmp_path: Path, fault: Callable[[ProjectFolder], None]) -> Clerk:
    project = ProjectFolder(tmp_path)
    fault(project)
    return clerk(FileCatalogue(tmp_path))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (truncated, "templates.1080x1080: The template ends too early"),
        (without_layer, "has no layer named 'Title'"),
        (misspelt, "local: is not a known field"),
        (renamed, "the file says 'spring-launch' and its folder 'spring'"),
    ],
)
def test_a_job_is_refused_with_the_campaigns_reason(
    tmp_path: Path, fault: Callable[[ProjectFolder], None], told: str
) -> None:
    """Not as unknown: the request is right, and may be sent again once the files are mended."""
    desk = broken(tmp_path, fault)

    answer = desk.post()

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "60"
    assert answer.headers["Content-Type"] == "application/problem+json"
    (problem,) = answer.json()["problems"]
    assert (problem["field"], problem["rule"]) == ("campaign", "out-of-service")
    assert "Campaign 'acme/spring-launch' is out of service. campaigns/acme/" in problem["message"]
    assert told in problem["message"]
    assert "send it again once the campaign is mended" in problem["fix"]


def test_a_brief_is_refused_alike(tmp_path: Path) -> None:
    """No row is blamed for what no row did."""
    desk = broken(tmp_path, truncated)

    answer = desk.ask(
        "POST",
        f"/v1/jobs:batch?campaign={CAMPAIGN}&partial=true",
        content=b"key,prompt,locale,headline,aspects\nk1,A,en-GB,Spring,1080x1080",
        headers={"Content-Type": "text/csv"},
    )

    assert answer.status_code == 503
    assert [problem["rule"] for problem in answer.json()["problems"]] == ["out-of-service"]


def test_the_campaign_says_itself_why_it_makes_nothing(tmp_path: Path) -> None:
    """Counts and jobs can be read as ever; beside them stands the reason, or null."""
    desk = broken(tmp_path, truncated)

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}")

    assert told.status_code == 200
    assert "ends too early" in told.json()["outOfService"]
    assert desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs").json()["jobs"] == []
    sound = broken(tmp_path / "sound", lambda _: None)
    assert sound.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()["outOfService"] is None


def test_another_customer_learns_nothing_of_it(tmp_path: Path) -> None:
    """Neither the reason nor that there is such a campaign."""
    desk = broken(tmp_path, truncated)

    answers = [
        desk.ask("POST", "/v1/jobs", json=JOB, token=OTHER),
        desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}", token=OTHER),
    ]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert all("ends too early" not in answer.text for answer in answers)


def test_an_unknown_campaign_stays_unknown(tmp_path: Path) -> None:
    """A spelling mistake is not called an outage."""
    desk = broken(tmp_path, truncated)

    assert desk.post(campaign="spring-lunch").status_code == 404


def test_a_document_that_was_just_changed_is_explained(tmp_path: Path) -> None:
    """Which file, since when, and how to mend it; the request may be sent again in a minute."""
    project = ProjectFolder(tmp_path)
    desk = clerk(FileCatalogue(tmp_path))
    path = project.root / ACME / "1080x1080.psd"
    path.write_bytes(retouch.moved_slot(path.read_bytes(), "Hero", right=-40))

    answer = desk.post()

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "60"
    (problem,) = answer.json()["problems"]
    assert f"The template {ACME}/1080x1080.psd of acme/spring-launch" in problem["message"]
    assert " was changed on 20" in problem["message"]
    assert "fireflyassets campaign lock" in problem["fix"]


def test_budgets_that_can_not_be_read_are_the_operators_business(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The customer hears that it is our fault and to come again; file and line are in our log."""
    project = ProjectFolder(tmp_path)
    project.write("budgets/acme.yaml", "customer:\n  - {operations: lots}\n")
    desk = clerk(FileCatalogue(tmp_path))

    answer = desk.post()

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    (problem,) = answer.json()["problems"]
    assert problem["message"] == "No job of yours can be taken just now; the fault is on our side."
    assert "send the same again later" in problem["fix"]
    assert all(word not in answer.text for word in ("yaml", "budget", "lots", "decimal"))
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert "The budgets of acme can't be read. budgets/acme.yaml: line 2: " in told
    assert "Mend the file that is named" in told
