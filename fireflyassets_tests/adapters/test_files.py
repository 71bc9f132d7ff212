"""The catalogue of a project folder. Here: what is usable, and that a bad file is bad alone."""

import hashlib
import logging
import shutil
import struct
from decimal import Decimal
from pathlib import Path

import pytest

from fireflyassets.adapters import lock_file
from fireflyassets.adapters.campaign_files import read_for_lock
from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core import campaign as campaigns
from fireflyassets.core.errors import (
    CampaignOutOfService,
    UnusableConfiguration,
    UnusableTemplate,
)
from fireflyassets.core.failure import Family
from fireflyassets_tests.adapters.project_folder import (
    ASPECTS,
    CAMPAIGN,
    CREDENTIAL,
    DEMO,
    LIMITS,
    RATES,
    REPOSITORY,
    ProjectFolder,
)

ACME = "campaigns/acme/spring-launch/campaign.yaml"
PSD = "campaigns/acme/spring-launch/1920x1080.psd"


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    """Return a sound project."""
    return ProjectFolder(tmp_path)


def reasons(project: ProjectFolder) -> dict[str, str]:
    return {bad.path: bad.reason for bad in FileCatalogue(project.root).quarantined()}


def assert_only_acme_is_out(project: ProjectFolder, *told: str) -> None:
    """The bad campaign is named with its reason; the other customer's goes on."""
    catalogue = FileCatalogue(project.root)
    (bad,) = catalogue.quarantined()
    assert bad.path == ACME
    for part in told:
        assert part in bad.reason
    assert list(catalogue.campaigns()) == ["bolt/relaunch"]
    with pytest.raises(CampaignOutOfService):
        catalogue.campaign("acme", "spring-launch")


def test_a_sound_project_is_usable(project: ProjectFolder) -> None:
    """Campaigns with their pinned templates, the credential, the card, the limits."""
    catalogue = FileCatalogue(project.root)

    assert catalogue.quarantined() == ()
    assert list(catalogue.campaigns()) == ["acme/spring-launch", "bolt/relaunch"]
    campaign = catalogue.campaign("acme", "spring-launch")
    for aspect in ASPECTS:
        content = (DEMO / f"{aspect}.psd").read_bytes()
        assert campaign.templates[aspect] == hashlib.sha256(content).hexdigest()
        assert catalogue.template(campaign, aspect) == content
    assert catalogue.credential("main", customer="acme").organisation == "ORG@AdobeOrg"
    (card,) = catalogue.rate_cards()
    assert str(card.price(campaign.config.recipe.steps[0])) == "0.5"
    assert catalogue.limits_for("ORG@AdobeOrg", Family.FIREFLY).per_minute == 60


def test_the_repositorys_own_project_is_usable() -> None:
    """The demo campaign, its credential, rates and limits, as they are shipped."""
    catalogue = FileCatalogue(REPOSITORY)

    assert catalogue.quarantined() == ()
    campaign = catalogue.campaign("acme", "spring-launch")
    credential = catalogue.credential(campaign.config.credential, customer="acme")
    assert catalogue.limits_for(credential.organisation, Family.FIREFLY).per_minute == 60
    assert catalogue.limits_for(credential.organisation, Family.PHOTOSHOP).per_minute == 300
    (card,) = catalogue.rate_cards()
    assert [card.price(step) for step in campaign.config.recipe.steps] == [
        Decimal("0.5"),
        Decimal(1),
    ]


def test_a_version_changes_with_the_file_and_with_each_template(project: ProjectFolder) -> None:
    """What a job was priced under is told apart from what came later."""
    first = FileCatalogue(project.root).campaign("acme", "spring-launch").version
    project.replace(ACME, "title: Spring launch", "title: Spring launch 2")
    second = FileCatalogue(project.root).campaign("acme", "spring-launch").version
    project.write(PSD, (project.root / PSD).read_bytes() + b"\0")
    third = FileCatalogue(project.root).campaign("acme", "spring-launch").version

    assert len({first, second, third}) == 3


# -- campaign files ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title: Spring launch", "title: [", ("line 5: ",)),
        ("title: Spring launch", "title: a\n\tb", ("line 4: ",)),
        ("title: Spring launch", "colour: red", ("line 3: colour", "title: is missing")),
        ("locales: [en-GB, de-DE]", "locales: [english]", ("line 5: locales.0",)),
        (
            "kind: generate",
            "kind: paint",
            ("line 13: recipe.steps.0: kind must be one of 'generate', 'generate-v4', 'expand'",),
        ),
        ("kind: generate", "kind: generate, model: image4", ("recipe.steps.0.model",)),
        ("kind: generate", "kind: generate, size: 999x999", ("does not make 999x999",)),
        ("kind: generate", "kind: generate, model: image4_ultra", ("no rate card prices it",)),
        ("art.picture", "later.picture", ("neither job.<text> nor",)),
        ("  1080x1080: 1080x1080.psd\n", "", ("no PSD for 1080x1080",)),
        ("credential: main", "credential: other", ("credentials/other.yaml",)),
        ("customer: acme", "customer: bolt", ("'bolt'", "folder of 'acme'")),
        ("campaign: spring-launch", "campaign: autumn", ("'autumn'", "'spring-launch'")),
        ("title: Spring launch", "title: !!python/name:os.system", ("line 3",)),
    ],
)
def test_a_bad_campaign_file_is_put_aside_alone(
    project: ProjectFolder, old: str, new: str, told: tuple[str, ...]
) -> None:
    """What, where and how to mend it, before a job is accepted."""
    project.replace(ACME, old, new)

    assert_only_acme_is_out(project, *told)


def test_two_campaigns_of_one_name_are_both_put_aside(project: ProjectFolder) -> None:
    """Which of them is meant is not guessed: each names the other; nobody else is touched."""
    copy = project.add("acme", "spring-launch", folder="spring-copy")

    told = reasons(project)

    assert set(told) == {ACME, str(copy.relative_to(project.root))}
    assert "spring-copy/campaign.yaml" in told[ACME]
    assert "spring-launch/campaign.yaml" in told[str(copy.relative_to(project.root))]
    assert list(FileCatalogue(project.root).campaigns()) == ["bolt/relaunch"]


def test_a_file_in_a_strangers_folder_takes_no_campaign_down(project: ProjectFolder) -> None:
    """A customer's folder can't claim another customer's campaign."""
    thief = "campaigns/bolt/thief/campaign.yaml"
    project.write(thief, CAMPAIGN.format(customer="acme", campaign="spring-launch"))

    assert set(reasons(project)) == {thief}
    assert "acme/spring-launch" in FileCatalogue(project.root).campaigns()


@pytest.mark.parametrize("name", ["campaign.yml", "Campaign.yaml", "spring.yaml"])
def test_a_misnamed_file_is_told_not_passed_over(project: ProjectFolder, name: str) -> None:
    """A campaign that silently is not there costs a day."""
    (project.root / ACME).rename((project.root / ACME).with_name(name))

    assert reasons(project) == {
        ACME.replace("campaign.yaml", name): "is not read: rename it to campaign.yaml."
    }


def test_an_alias_bomb_is_put_aside_alone(project: ProjectFolder) -> None:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [f"b{n}: &b{n} [{', '.join(['*a'] * 9)}]" for n in range(9)]
    project.write(ACME, "\n".join(levels))

    assert_only_acme_is_out(project, "anchors and aliases")


# -- templates --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"hello", "is not a PSD"),
        (b"8BPS" + bytes(22), "broken header"),
        (b"8BPS" + struct.pack(">H6xHIIHH", 1, 3, 10**9, 10**9, 8, 3), "a side"),
    ],
)
def test_bytes_that_are_no_psd_put_the_campaign_aside(
    project: ProjectFolder, content: bytes, told: str
) -> None:
    """Found here, not by a paid job."""
    project.write(PSD, content)

    assert_only_acme_is_out(project, "templates.1920x1080: ", told)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.999])
def test_a_psd_that_was_cut_off_puts_the_campaign_aside(
    project: ProjectFolder, share: float
) -> None:
    """An upload that broke, wherever it broke."""
    content = (project.root / PSD).read_bytes()
    project.write(PSD, content[: int(len(content) * share)])

    assert_only_acme_is_out(project, "templates.1920x1080: ")


def test_a_canvas_of_another_size_puts_the_campaign_aside(project: ProjectFolder) -> None:
    """A stretched or cropped rendition is not what was asked for."""
    shutil.copyfile(DEMO / "1080x1080.psd", project.root / PSD)

    assert_only_acme_is_out(project, "templates.1920x1080", "1080x1080")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Hero: art", "Heroo: art", ("'Heroo'", "Did you mean 'Hero'")),
        ("Headline: job", "Title: job", ("'Title'",)),
        ("Hero: art.picture", "Hero: job.headline", ("smart object", "'Hero'")),
        ("Headline: job.headline", "Headline: art.picture", ("text layer", "'Headline'")),
    ],
)
def test_a_recipe_that_the_template_can_not_take_puts_the_campaign_aside(
    project: ProjectFolder, old: str, new: str, told: tuple[str, ...]
) -> None:
    """A layer that is not there, or of the wrong kind, is named for each template."""
    project.replace(ACME, old, new)

    assert_only_acme_is_out(project, *told, *(f"templates.{aspect}: " for aspect in ASPECTS))


def test_a_template_that_is_not_there_puts_the_campaign_aside(project: ProjectFolder) -> None:
    (project.root / PSD).unlink()

    assert_only_acme_is_out(project, "There is no file 1920x1080.psd")


@pytest.mark.parametrize(
    "path", ["../../bolt/relaunch/1920x1080.psd", "/etc/passwd", "../../../rates/test.yaml", "."]
)
def test_templates_stay_in_the_customers_folder(project: ProjectFolder, path: str) -> None:
    """A campaign can't take another customer's template, or any other file."""
    project.write("campaigns/bolt/relaunch/1920x1080.psd", (project.root / PSD).read_bytes())
    project.replace(ACME, "1920x1080: 1920x1080.psd", f"1920x1080: {path}")

    assert_only_acme_is_out(project, "templates.1920x1080: ")


def test_a_link_out_of_the_customers_folder_is_not_followed(project: ProjectFolder) -> None:
    theirs = project.write("campaigns/bolt/theirs.psd", (project.root / PSD).read_bytes())
    (project.root / PSD).unlink()
    (project.root / PSD).symlink_to(theirs)

    assert_only_acme_is_out(project, "outside of the customer's folder")


def test_campaigns_of_one_customer_may_share_a_template(project: ProjectFolder) -> None:
    project.add("acme", "autumn")
    autumn = "campaigns/acme/autumn/campaign.yaml"
    project.replace(autumn, "1920x1080: 1920x1080.psd", "1920x1080: ../spring-launch/1920x1080.psd")

    assert reasons(project) == {}


def test_a_template_that_changed_since_it_was_checked_is_not_handed_out(
    project: ProjectFolder,
) -> None:
    """What a wave uses is what was preflighted, byte for byte."""
    catalogue = FileCatalogue(project.root)
    campaign = catalogue.campaign("acme", "spring-launch")
    project.write(PSD, b"8BPS another")

    with pytest.raises(UnusableTemplate, match="was changed"):
        catalogue.template(campaign, "1920x1080")
    (project.root / PSD).unlink()
    with pytest.raises(UnusableTemplate, match="was removed"):
        catalogue.template(campaign, "1920x1080")
    with pytest.raises(UnusableTemplate, match="has no template"):
        catalogue.template(campaign, "1x1")


def test_a_fault_is_told_by_the_campaigns_slug(project: ProjectFolder) -> None:
    """What was read stays as it was; another reading names the document that broke."""
    catalogue = FileCatalogue(project.root)
    (project.root / PSD).write_bytes(b"no PSD")

    assert catalogue.fault("acme/spring-launch") is None
    again = FileCatalogue(project.root)
    assert "1920x1080" in (again.fault("acme/spring-launch") or "")
    assert again.fault("acme/winter") == "its file is gone"


def test_all_faults_of_a_campaign_are_told_at_once(project: ProjectFolder) -> None:
    """A person mends them in one go."""
    project.replace(ACME, "kind: generate", "kind: generate, size: 999x999")
    project.write(PSD, b"hello")
    (project.root / PSD.replace("1920x1080", "1080x1080")).unlink()

    assert_only_acme_is_out(project, "999x999", "is not a PSD", "There is no file 1080x1080.psd")


# -- credentials, rates, limits -----------------------------------------------------------------
def test_a_credential_is_only_for_its_customers(project: ProjectFolder) -> None:
    """Neither asked for directly, nor through a campaign."""
    project.replace("credentials/main.yaml", "[acme, bolt]", "[bolt]")
    catalogue = FileCatalogue(project.root)

    with pytest.raises(UnusableConfiguration, match="may not carry"):
        catalogue.credential("main", customer="acme")
    with pytest.raises(UnusableConfiguration, match="no usable credential"):
        catalogue.credential("nothing", customer="acme")
    assert_only_acme_is_out(project, "may not carry jobs of 'acme'")


def test_a_customers_weight_is_in_the_credential(project: ProjectFolder) -> None:
    """What a file says counts; whoever it does not name weighs one."""
    project.write("credentials/main.yaml", CREDENTIAL + "weights: {acme: 3}\n")

    credential = FileCatalogue(project.root).credential("main", customer="acme")

    assert (credential.weight_of("acme"), credential.weight_of("bolt")) == (3, 1)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ("{acme: 0}", "greater than or equal to 1"),
        ("{acme: -2}", "greater than or equal to 1"),
        ("{acme: 101}", "less than or equal to 100"),
        ("{acme: 1.5}", "valid integer"),
        ("{acme: heavy}", "valid integer"),
        ("{carol: 2}", "carol may not use this credential"),
        ("[acme]", "valid dictionary"),
    ],
)
def test_a_weight_that_makes_no_sense_puts_the_credential_aside(
    project: ProjectFolder, weights: str, told: str
) -> None:
    """No weight, half a weight, or a stranger's is a mistake, and named."""
    project.write("credentials/other.yaml", CREDENTIAL + f"weights: {weights}\n")

    assert told in reasons(project)["credentials/other.yaml"]
    assert len(FileCatalogue(project.root).campaigns()) == 2


def test_a_campaign_needs_what_its_credential_may_use(project: ProjectFolder) -> None:
    """A recipe beyond the client's product profiles is told before a paid call meets a 403."""
    project.write("credentials/main.yaml", CREDENTIAL + "families: [firefly]\n")

    assert_only_acme_is_out(project, "may not use photoshop", "families in credentials/main.yaml")


def test_version_4_needs_its_setting(project: ProjectFolder) -> None:
    """A recipe that calls it is refused where it is switched off, and the setting is named."""
    project.write("rates/test.yaml", (RATES + 'edits: {generate-v4: "1"}\n').encode())
    project.replace(ACME, "kind: generate}", 'kind: generate-v4, ratio: "16:9"}')

    assert_only_acme_is_out(project, "'art'", "FIREFLYASSETS_FIREFLY_V4")
    assert len(FileCatalogue(project.root, v4=True).campaigns()) == 2


@pytest.mark.parametrize("families", ["[]", "[ims]", "[lightroom]", "firefly"])
def test_families_are_those_with_limits(project: ProjectFolder, families: str) -> None:
    """None at all, or one that is not paced, is a mistake."""
    project.write("credentials/other.yaml", CREDENTIAL + f"families: {families}\n")

    assert "families" in reasons(project)["credentials/other.yaml"]


def test_all_credentials_can_be_listed(project: ProjectFolder) -> None:
    """By name, the usable ones."""
    project.write("credentials/another.yaml", CREDENTIAL)
    project.write("credentials/bad.yaml", "organisation: [")

    names = [credential.name for credential in FileCatalogue(project.root).credentials()]

    assert names == ["another", "main"]


def test_a_secret_in_a_credential_file_never_shows(project: ProjectFolder) -> None:
    """Whoever pastes one there must not find it in a log."""
    project.write("credentials/bad.yaml", CREDENTIAL + "client_secret: p8e-SECRETWORD\n")
    project.write("credentials/worse.yaml", CREDENTIAL.replace("env:SECRET", "p8e SECRETWORD!"))

    told = reasons(project)

    assert set(told) == {"credentials/bad.yaml", "credentials/worse.yaml"}
    assert "line 5: client_secret: is not a known field" in told["credentials/bad.yaml"]
    assert "SECRETWORD" not in str(told)


@pytest.mark.parametrize(
    "spelling", ['" ORG@AdobeOrg"', "org@adobeorg", "ORG@AdobeOrg#firefly", "default", "''"]
)
def test_an_organisation_has_one_spelling(project: ProjectFolder, spelling: str) -> None:
    """Another one would be paced by itself, and the contract's rate be used twice."""
    project.write("credentials/bad.yaml", CREDENTIAL.replace("ORG@AdobeOrg", spelling))

    told = reasons(project)

    assert "line 1: organisation: " in told["credentials/bad.yaml"]
    assert "copy its ID from Adobe's developer console" in told["credentials/bad.yaml"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("credentials/bad.yaml", "organisation: ["),
        ("rates/bad.yaml", RATES.replace('"0.5"', "-1")),
        ("rates/bad.yaml", RATES.replace('"0.5"', ".nan")),
        ("rates/bad.yaml", RATES.replace("image3", "image9")),
        ("rates/bad.yaml", RATES.replace("source: a test\n", "")),
        ("limits/bad.yaml", LIMITS.replace("60", "0")),
        ("limits/bad.yaml", LIMITS.replace("60", "-4")),
        ("limits/bad.yaml", LIMITS.replace("firefly", "midjourney")),
        ("limits/bad.yml", LIMITS),
    ],
)
def test_any_bad_file_is_put_aside_alone(project: ProjectFolder, file: str, content: str) -> None:
    """All else goes on as if it were not there."""
    project.write(file, content)
    catalogue = FileCatalogue(project.root)

    assert [bad.path for bad in catalogue.quarantined()] == [file]
    assert len(catalogue.campaigns()) == 2
    assert len(catalogue.rate_cards()) == 1
    assert catalogue.limits_for("ORG@AdobeOrg", Family.FIREFLY).per_minute == 60


def test_two_files_for_one_organisation_are_both_put_aside(
    project: ProjectFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """Until that is mended, the slowest published pace holds, with a warning."""
    project.write("limits/again.yaml", LIMITS.replace("60", "600"))
    catalogue = FileCatalogue(project.root)

    assert [bad.path for bad in catalogue.quarantined()] == [
        "limits/org.yaml",
        "limits/again.yaml",
    ][::-1]
    with caplog.at_level(logging.WARNING):
        assert catalogue.limits_for("ORG@AdobeOrg", Family.FIREFLY).per_minute == 4
    assert "ORG@AdobeOrg" in caplog.text


def test_two_rate_cards_of_one_day_are_both_put_aside(project: ProjectFolder) -> None:
    """Two prices for one day are none."""
    project.write("rates/again.yaml", RATES.replace('"0.5"', '"5"'))

    assert set(reasons(project)) == {"rates/test.yaml", "rates/again.yaml"}
    assert FileCatalogue(project.root).rate_cards() == ()


def test_an_empty_project_is_empty(tmp_path: Path) -> None:
    """No folder at all is no error of any file."""
    catalogue = FileCatalogue(tmp_path)

    assert catalogue.campaigns() == {}
    assert catalogue.quarantined() == ()
    assert catalogue.limits_for("ORG", Family.FIREFLY).per_day == 9_000


# -- copy -------------------------------------------------------------------------------------
def test_the_sample_is_pinned_with_all_that_its_copy_is_measured_by() -> None:
    """A wave reads back the same campaign: boxes, rules and fonts, under the same version."""
    sample = FileCatalogue(REPOSITORY).campaign("acme", "spring-launch")

    again = campaigns.from_json(sample.to_json())

    assert again == sample
    assert set(sample.fonts) >= {"Fraunces-SemiBold", "NotoSansArabic-SemiBold"}
    frame = sample.frames["1080x1080"]["Headline"]
    assert frame.size == (936.0, 208.0)
    assert frame.rules["ar-AE"].fonts[0] == "Fraunces-SemiBold"


def test_a_lock_that_a_designer_changed_is_another_version(project: ProjectFolder) -> None:
    """Else jobs would be worked on by the rules that an older one pinned."""
    folder = project.root / "campaigns/acme/spring-launch"
    config, parts = read_for_lock(folder)
    lock_file.write(folder, config, parts.templates, parts.fonts)
    before = FileCatalogue(project.root).campaign("acme", "spring-launch")

    project.replace(
        "campaigns/acme/spring-launch/template.lock.json", '"budget": 38', '"budget": 39'
    )

    assert FileCatalogue(project.root).campaign("acme", "spring-launch").version != before.version
