"""Files that change under a running process: noticed soon, read whole, never half."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.watched_files import LOOK_EVERY, WatchedCatalogue
from fireflyassets.core.errors import (
    CampaignOutOfService,
    TemplateChanged,
    UnknownCampaign,
    UnusableConfiguration,
)
from fireflyassets_tests.adapters.project_folder import PLAIN, ProjectFolder
from fireflyassets_tests.front_door import NOON
from fireflyassets_tests.twin import retouch

ACME = "campaigns/acme/spring-launch"


class Watch:
    """A project, a clock, and the catalogue that looks at the one by the other."""

    def __init__(self, root: Path) -> None:
        self.project = ProjectFolder(root)
        self.clock = FakeClock(NOON)
        self.catalogue = WatchedCatalogue(root, self.clock)

    def look(self, times: int = 1) -> None:
        """Let so many looks fall due, and ask for something each time."""
        for _ in range(times):
            self.clock.jump(LOOK_EVERY)
            self.catalogue.campaigns()

    def version(self) -> str:
        return self.catalogue.campaign("acme", "spring-launch").version


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def changed(watch: Watch, aspect: str = "1080x1080") -> Path:
    """Change a document as a designer does: still whole and usable."""
    path = watch.project.root / ACME / f"{aspect}.psd"
    path.write_bytes(retouch.moved_slot(path.read_bytes(), "Hero", right=-40))
    return path


def test_a_change_is_taken_once_two_looks_see_the_same(watch: Watch) -> None:
    """Within ten seconds of the last change, and not while a file still grows."""
    before = watch.version()
    path = changed(watch)
    assert watch.version() == before

    watch.look()
    assert watch.version() == before
    path.write_bytes(path.read_bytes() + b"\0")
    watch.look()
    assert watch.version() == before

    watch.look()
    assert watch.version() != before


def test_a_document_that_changed_says_which_when_and_what_to_do(watch: Watch) -> None:
    """Until it is read anew its jobs can't be priced; after that they are, by the new one."""
    campaign = watch.catalogue.campaign("acme", "spring-launch")
    path = changed(watch)
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))

    with pytest.raises(TemplateChanged) as told:
        watch.catalogue.template(campaign, "1080x1080")

    assert str(told.value) == (
        f"The template {ACME}/1080x1080.psd of acme/spring-launch for 1080x1080 was changed on "
        "2026-11-30 at 12:00:00 UTC, after it was read and checked; jobs priced by the one may "
        "not be made with the other."
    )
    assert "fireflyassets campaign lock" in told.value.remedy
    watch.look(2)
    newer = watch.catalogue.campaign("acme", "spring-launch")
    assert watch.catalogue.template(newer, "1080x1080") == path.read_bytes()
    path.unlink()
    with pytest.raises(TemplateChanged, match="was removed just now"):
        watch.catalogue.template(newer, "1080x1080")


def test_a_campaign_goes_out_of_service_and_comes_back(watch: Watch) -> None:
    """Nobody starts anything again; the other customer does not notice."""
    path = watch.project.root / ACME / "1920x1080.psd"
    whole = path.read_bytes()
    path.write_bytes(whole[:1_000])
    watch.look(2)

    with pytest.raises(CampaignOutOfService, match="ends too early") as told:
        watch.version()
    assert f"{ACME}/campaign.yaml: " in str(told.value)
    assert list(watch.catalogue.campaigns()) == ["bolt/relaunch"]
    assert "ends too early" in str(watch.catalogue.fault("acme/spring-launch"))

    path.write_bytes(whole)
    watch.look(2)
    assert watch.version()
    assert watch.catalogue.fault("acme/spring-launch") is None


def test_a_campaign_may_come_and_go(watch: Watch) -> None:
    """A new folder is found, and one that is gone is unknown."""
    path = watch.project.write(
        "campaigns/bolt/autumn/campaign.yaml", PLAIN.replace("relaunch", "autumn")
    )
    watch.look(2)
    assert watch.catalogue.campaign("bolt", "autumn")

    path.unlink()
    path.parent.rmdir()
    watch.look(2)
    with pytest.raises(UnknownCampaign):
        watch.catalogue.campaign("bolt", "autumn")


def test_a_folder_that_is_being_exchanged_takes_no_campaign_down(watch: Watch) -> None:
    """For the moment of a deployment everything is gone; it is not read then."""
    before = watch.version()
    (watch.project.root / "campaigns").rename(watch.project.root / "old")
    watch.look(3)
    assert watch.version() == before

    (watch.project.root / "old").rename(watch.project.root / "campaigns")
    watch.look(3)
    assert watch.version() == before


def test_looks_are_bounded(watch: Watch) -> None:
    """However often somebody asks, the folder is looked at once in five seconds."""
    before = watch.version()
    changed(watch)
    for _ in range(40):
        watch.clock.jump(timedelta(milliseconds=100))
        watch.catalogue.campaigns()

    assert watch.version() == before


def test_prices_and_credentials_are_read_anew_too(watch: Watch) -> None:
    """One project, one state: nothing of it is older than the rest."""
    watch.project.replace("rates/test.yaml", "id: test", "id: newer")
    watch.project.replace("credentials/main.yaml", "ORG@", "OTHER@")
    watch.look(2)

    assert [card.id for card in watch.catalogue.rate_cards()] == ["newer"]
    credential = watch.catalogue.credential("main", customer="acme")
    assert credential.organisation == "OTHER@AdobeOrg"


LIST = "rules: [{rule: brands, fix: Leave it out., words: [Acme Cola]}]\n"


def judged(watch: Watch) -> str:
    verdict = watch.catalogue.judge(
        "A can of acme cola", customer="acme", campaign="spring-launch", locale="en-GB"
    )
    return type(verdict).__name__


def test_a_list_of_words_counts_without_a_restart(watch: Watch) -> None:
    """Who keeps the lists need not ask who runs the processes."""
    assert judged(watch) == "Allowed"
    watch.project.write("guardrails/brands.yaml", LIST)

    watch.look(2)

    assert judged(watch) == "Declined"


def test_a_list_that_can_not_be_read_lets_nothing_through(watch: Watch) -> None:
    """Its words would slip through unseen; the campaigns themselves stay as they are."""
    watch.project.write("guardrails/brands.yaml", LIST + "colour: red\n")
    watch.look(2)

    with pytest.raises(UnusableConfiguration, match=r"guardrails/brands.yaml: line 2: colour"):
        judged(watch)
    assert watch.version()


BUDGETS = "customer: [{valid_from: 2026-01-01, source: a test, operations: '10'}]\n"
QUIET = timedelta(minutes=10)


def after_a_quiet_time(root: Path) -> Watch:
    """Return a watch that looked long ago and whose clock is past every touch of a file."""
    watch = Watch(root)
    watch.clock.jump(datetime.fromtimestamp(root.stat().st_ctime, UTC) - NOON + QUIET)
    return watch


def test_who_asks_first_after_a_quiet_time_is_judged_by_the_files_as_they_are(
    tmp_path: Path,
) -> None:
    """A cap, a word or its removal counts from the first request on, however long none came."""
    watch = after_a_quiet_time(tmp_path)
    watch.project.write("budgets/acme.yaml", BUDGETS)
    watch.project.write("guardrails/brands.yaml", LIST)
    assert len(watch.catalogue.caps("acme", NOON.date())) == 1
    assert judged(watch) == "Declined"

    (tmp_path / "guardrails" / "brands.yaml").unlink()
    watch.clock.jump(QUIET)
    assert judged(watch) == "Allowed"


def test_a_file_that_was_touched_just_now_is_not_taken_at_the_first_look(tmp_path: Path) -> None:
    """It may still be written, however long nobody asked before; the second look takes it."""
    watch = after_a_quiet_time(tmp_path)
    path = watch.project.write("budgets/acme.yaml", BUDGETS)
    now = watch.clock.now().timestamp()
    os.utime(path, (now, now))

    assert not watch.catalogue.caps("acme", NOON.date())
    watch.look()
    assert watch.catalogue.caps("acme", NOON.date())
