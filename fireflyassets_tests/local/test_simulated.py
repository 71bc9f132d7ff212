"""The simulated Adobe is the one that the project's own files speak of."""

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.simulated import simulate
from fireflyassets.twin.command_line import invocation

PROJECT = Path(__file__).parents[2]
SLUG = "acme/spring-launch"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project's files that may be changed."""
    for name in ("credentials", "limits", "rates"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    shutil.copytree(
        PROJECT / "campaigns", tmp_path / "campaigns", ignore=shutil.ignore_patterns("template")
    )
    return tmp_path


def test_twin_knows_the_client_that_the_credential_names() -> None:
    """The secret that the factory reads is the one that the twin accepts, for one organisation."""
    made = simulate(PROJECT)
    catalogue = FileCatalogue(PROJECT)
    name = catalogue.campaigns()[SLUG].config.credential
    credential = catalogue.credential(name, customer="acme")
    read = EnvironmentSecrets(made.secrets).read(credential.secret)
    (client,) = invocation(made.twin_options).settings.clients

    assert (client.id, client.secret) == (read.client_id, read.client_secret)
    assert client.organisation == credential.organisation


def test_twin_enforces_what_the_factory_is_paced_by(project: Path) -> None:
    """Raise the limit in the file, and both sides follow."""
    path = project / "limits" / "local.yaml"
    path.write_text(path.read_text().replace("per_minute: 60", "per_minute: 120"))

    made = simulate(project)
    settings = invocation(made.twin_options).settings
    limits = settings.limits_of("LOCAL@AdobeOrg")

    assert limits.firefly_per_minute == 120
    assert made.paced_per_minute[SLUG] == Decimal(96)


def test_secret_from_elsewhere_is_refused_by_name(project: Path) -> None:
    path = project / "credentials" / "acme-main.yaml"
    path.write_text(path.read_text().replace("env:ADOBE_ACME_MAIN", "vault/acme"))

    with pytest.raises(UnusableConfiguration, match=r"acme-main\.yaml: .*'vault/acme' is not"):
        simulate(project)


def test_project_without_a_usable_campaign_says_why(project: Path) -> None:
    (project / "campaigns" / "acme" / "spring-launch" / "1080x1080.psd").write_bytes(b"8BPS")

    with pytest.raises(
        UnusableConfiguration, match=r"no usable campaign\. .*1080x1080: The template"
    ):
        simulate(project)


def test_a_campaign_that_is_out_of_service_is_told_beside_the_others(project: Path) -> None:
    """The stack starts for the rest; whoever starts it learns what it goes without, and why."""
    shutil.copytree(project / "campaigns/acme/spring-launch", project / "campaigns/acme/autumn")
    path = project / "campaigns/acme/autumn/campaign.yaml"
    path.write_text(path.read_text().replace("campaign: spring-launch", "campaign: autumn"))
    (project / "campaigns/acme/autumn/1080x1080.psd").write_bytes(b"8BPS")

    made = simulate(project)

    (told,) = made.out_of_service
    assert told.startswith("campaigns/acme/autumn/campaign.yaml: line 13: templates.1080x1080: ")
    assert told.endswith("copy the whole file again.")
    assert list(made.paced_per_minute) == [SLUG]
