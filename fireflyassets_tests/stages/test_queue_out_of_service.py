"""Messages for a campaign whose files can't be used: they wait a little, then say why."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.watched_files import WatchedCatalogue
from fireflyassets.core.errors import Refused
from fireflyassets.ports.queue import MAX_RECEIVES
from fireflyassets.stages.queue import Drained, drain
from fireflyassets_tests.adapters.project_folder import ProjectFolder
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, GOOD, FrontDoor, front_door
from fireflyassets_tests.twin import retouch

PSD = "campaigns/acme/spring-launch/1080x1080.psd"
LATER = timedelta(minutes=5)


def body(customer: str = CUSTOMER, campaign: str = CAMPAIGN, **changes: object) -> str:
    said = {
        "version": 1,
        "customer": customer,
        "campaign": campaign,
        "idempotencyKey": "k",
        "prompt": GOOD.prompt,
        "locale": GOOD.locale,
        "headline": GOOD.headline,
        "aspects": list(GOOD.aspects),
    }
    return json.dumps(said | changes)


def swap(door: FrontDoor, catalogue: FileCatalogue) -> None:
    """Let the same door read another state of the files."""
    object.__setattr__(door.intake, "catalogue", catalogue)


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path)


def test_a_message_waits_and_passes_once_the_campaign_is_mended(project: ProjectFolder) -> None:
    """A file that is broken for a minute costs no message; the neighbour's pass meanwhile."""
    whole = (project.root / PSD).read_bytes()
    project.write(PSD, whole[:1_000])
    door = front_door(FileCatalogue(project.root))
    neighbour = body("bolt", "relaunch", aspects=["2048x2048"])
    door.queue.send([body(), neighbour])

    assert drain(door.queue, door.intake, most=10) == Drained(recorded=1, waiting=1)
    assert door.queue.dead == ()

    project.write(PSD, whole)
    swap(door, FileCatalogue(project.root))
    door.clock.jump(LATER)
    assert drain(door.queue, door.intake, most=10) == Drained(recorded=1)


def test_the_last_receive_puts_it_aside_with_the_right_reason(project: ProjectFolder) -> None:
    """By itself the queue would make it a dead letter without one; a wrong one is worse."""
    project.write(PSD, b"hello")
    door = front_door(FileCatalogue(project.root))
    door.queue.send([body()])

    told: list[Drained] = []
    for _ in range(MAX_RECEIVES):
        told.append(drain(door.queue, door.intake, most=10))
        door.clock.jump(LATER)

    assert told == [Drained(waiting=1)] * (MAX_RECEIVES - 1) + [Drained(quarantined=1)]
    (letter,) = door.queue.dead
    assert letter.reason == (
        "Campaign 'acme/spring-launch' is out of service. campaigns/acme/spring-launch/"
        "campaign.yaml: line 10: templates.1080x1080: The template is not a PSD: save it from "
        "Photoshop as PSD. Nothing is wrong with the request: send it again once the campaign is "
        "mended."
    )
    assert "There is no campaign" not in str(letter.reason)


def test_a_document_that_changes_under_the_drain_costs_no_message(project: ProjectFolder) -> None:
    """It was read, then saved again before its first job was priced."""
    door = front_door(FileCatalogue(project.root))
    moved = retouch.moved_slot((project.root / PSD).read_bytes(), "Hero", right=-40)
    project.write(PSD, moved)
    door.queue.send([body()])
    assert drain(door.queue, door.intake, most=10) == Drained(waiting=1)

    swap(door, FileCatalogue(project.root))
    door.clock.jump(LATER)

    assert drain(door.queue, door.intake, most=10) == Drained(recorded=1)


def test_a_list_of_words_that_can_not_be_read_costs_no_message(project: ProjectFolder) -> None:
    """Nothing passes unjudged, and nothing is put aside for a slip in our own file."""
    bad = project.write("guardrails/brands.yaml", "rules: [{}]")
    door = front_door(FileCatalogue(project.root))
    intake = replace(door.intake, guardrail=WatchedCatalogue(project.root, door.clock))
    door.queue.send([body()])
    assert drain(door.queue, intake, most=10) == Drained(waiting=1)

    bad.unlink()
    intake = replace(door.intake, guardrail=WatchedCatalogue(project.root, door.clock))
    door.clock.jump(LATER)

    assert drain(door.queue, intake, most=10) == Drained(recorded=1)


def test_every_refusal_has_a_remedy() -> None:
    """A reason without a cure is half a reason."""
    leaves = {Refused, *Refused.__subclasses__()}
    assert all(leaf.remedy for leaf in leaves - {Refused})
