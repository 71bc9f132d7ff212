"""What every store of campaigns promises: the project's folder, and one in memory."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fireflyassets.adapters.campaign_store import FileCampaignStore
from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.memory.campaigns import MemoryCampaigns
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.ports.campaign_store import Added, CampaignStore, NameTaken, Unusable

PROJECT = Path(__file__).parents[2]
ART = {"name": "art", "kind": "generate", "size": "1024x1024"}
LAYOUT = {"name": "layout", "kind": "compose", "inputs": {"Hero": "art.picture"}}
PICTURE = {
    "customer": "acme",
    "campaign": "autumn",
    "title": "Autumn",
    "credential": "acme-main",
    "locales": ["en-GB"],
    "aspects": ["1024x1024"],
    "recipe": {"steps": [ART]},
}


def autumn(**changes: object) -> CampaignConfig:
    """Return a small campaign."""
    return CampaignConfig.model_validate(PICTURE | changes)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project's configuration."""
    for name in ("campaigns", "credentials", "limits", "rates"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    return tmp_path


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, project: Path) -> CampaignStore:
    """Return each store, empty of autumn."""
    return MemoryCampaigns() if request.param == "memory" else FileCampaignStore(project)


def test_a_campaign_is_added_once(store: CampaignStore) -> None:
    """The second of the name is told so, whatever it says."""
    first, second = store.add(autumn()), store.add(autumn(title="Another"))
    assert isinstance(first, Added)
    assert first.campaign.slug == "acme/autumn"
    assert isinstance(second, NameTaken)


def test_of_many_at_once_one_alone_is_added(project: Path) -> None:
    """Two people choose one name in the same second."""
    store = FileCampaignStore(project)
    with ThreadPoolExecutor(8) as rivals:
        answers = list(rivals.map(lambda n: store.add(autumn(title=f"By {n}")), range(8)))
    assert sum(isinstance(one, Added) for one in answers) == 1
    assert sum(isinstance(one, NameTaken) for one in answers) == 7


def test_what_is_added_is_read_by_everybody(project: Path) -> None:
    """Priority, deadline and budget come back as they were said, and the budget is a cap."""
    said = autumn(priority="high", deadline="2099-01-01T00:00:00+00:00", budget="12.5")
    assert isinstance(FileCampaignStore(project).add(said), Added)

    catalogue = FileCatalogue(project)

    assert catalogue.campaign("acme", "autumn").config == said
    assert catalogue.quarantined() == ()
    caps = catalogue.caps("acme", said.deadline.date()) if said.deadline else ()
    assert [str(cap.operations) for cap in caps if cap.scope == "campaign:autumn"] == ["12.5"]


def test_what_can_t_be_used_leaves_nothing(project: Path) -> None:
    """A template that is not there: the reason says so, and the name is free again."""
    store = FileCampaignStore(project)
    bad = autumn(recipe={"steps": [ART, LAYOUT]}, templates={"1024x1024": "none.psd"})

    answer = store.add(bad)

    assert isinstance(answer, Unusable)
    assert "none.psd" in answer.reason
    assert isinstance(store.add(autumn()), Added)


def test_a_strange_credential_is_refused(project: Path) -> None:
    """One that may not carry the customer's jobs, or that is not there."""
    answer = FileCampaignStore(project).add(autumn(credential="nobody"))
    assert isinstance(answer, Unusable)
    assert "nobody" in answer.reason


def test_documents_of_another_campaign_come_with_their_lock(project: Path) -> None:
    """They stay where they are; what a designer released stays released."""
    spring = FileCatalogue(project).campaign("acme", "spring-launch").config
    beside = {aspect: f"../spring-launch/{path}" for aspect, path in spring.templates.items()}
    fonts = tuple(f"../spring-launch/{path}" for path in spring.fonts)
    like = spring.model_copy(update={"campaign": "autumn", "templates": beside, "fonts": fonts})

    answer = FileCampaignStore(project).add(like, like="spring-launch")

    assert isinstance(answer, Added)
    assert (project / "campaigns/acme/autumn/template.lock.json").is_file()
    assert not (project / "campaigns/acme/autumn/1080x1080.psd").exists()
