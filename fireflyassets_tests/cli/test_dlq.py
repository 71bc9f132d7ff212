"""The commands of the dead letters over ports in memory: what they print, and what they move."""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from fireflyassets.cli.dead_desk import DeadDesk, NoSuchDeadJob
from fireflyassets.cli.main import main
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets.stages.letters import Letters
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.replay import Choice
from fireflyassets.stages.retries import Retries
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, NOON, FrontDoor, asked, front_door
from fireflyassets_tests.stages.test_letters import redriven
from fireflyassets_tests.stages.test_queue import body
from fireflyassets_tests.stages.test_replay import DOWN, Morgue


@dataclass
class Office:
    """A desk, what lies on it, and what it has said."""

    morgue: Morgue = field(default_factory=Morgue)
    door: FrontDoor = field(default_factory=front_door)
    said: list[str] = field(default_factory=list)
    letters: Letters | None = None

    @property
    def desk(self) -> DeadDesk:
        """The desk."""
        empty = Letters(self.door.queue, self.door.intake, {})
        retries = Retries(Pins(self.morgue.objects, self.door.intake.catalogue), 3)
        return DeadDesk(self.morgue.replays, self.letters or empty, retries, self.said.append)

    def told(self) -> str:
        """Return all that was said."""
        return "\n".join(self.said)


def test_the_list_shows_each_class_with_count_price_and_cause() -> None:
    office = Office()
    for n in range(3):
        office.morgue.dead(f"job-{n}", DOWN)
    office.morgue.dead("refused", FailureClass.UNSAFE_CONTENT)

    office.desk.show_all(Choice(), mended=False, each=True, as_json=False)

    lines = office.told().splitlines()
    (down,) = [line for line in lines if line.startswith("transient")]
    assert down.split()[:6] == ["transient", "3", f"{NOON:%Y-%m-%d}", "12:00:00", "3.5", "1"]
    assert any(line.startswith("unsafe-content") and "only spend more" in line for line in lines)
    assert sum("acme/spring" in line for line in lines) == 4


def test_the_list_as_json_holds_letters_without_their_texts() -> None:
    office = Office()
    office.letters = redriven(office.door, body())
    office.letters.sort(most=10)

    office.desk.show_all(Choice(), mended=False, each=False, as_json=True)

    told = json.loads(office.told())
    assert (told["classes"], told["jobs"]) == ([], [])
    (letter,) = told["letters"]
    assert letter["kind"] == "unread"
    assert "elderflower" not in office.told()


def test_a_replay_says_how_far_it_is_and_sends_letters_on() -> None:
    office = Office()
    for n in range(26):
        office.morgue.dead(f"job-{n}")
    office.letters = redriven(office.door, body())
    office.letters.sort(most=10)
    desk = office.desk

    code = desk.go(desk.replays.plan(Choice()), by="ann", why="mended", spread=timedelta(hours=1))
    desk.say_letters()
    desk.send_on(by="ann", why="mended")

    assert code == 0
    (record,) = office.door.objects.keys("replays/")
    (moved,) = office.morgue.objects.keys("replays/2")
    assert b'"by": "ann"' in (office.door.objects.get(record) or b"")
    assert office.said == [
        f"Take back what waits: fireflyassets dlq abort {moved} --by NAME --why TEXT",
        "25 of 26",
        "26 of 26 jobs are queued again.",
        "1 dead letters become jobs, for 3.5 operations at most.",
        "1 dead letters became jobs.",
    ]


def test_a_dry_run_of_letters_counts_those_alone_that_become_jobs() -> None:
    """Neither what intake still refuses nor what is a job by now: nothing is promised of them."""
    office = Office()
    for text in (body(), body(locale="fr-FR"), body("known")):
        office.letters = redriven(office.door, text)
        office.letters.sort(most=10)
    office.door.intake.accept([asked(key="known")], customer=CUSTOMER, campaign=CAMPAIGN)

    office.desk.say_letters()
    office.desk.send_on(by="ann", why="mended")

    assert office.said == [
        "1 dead letters become jobs, for 3.5 operations at most.",
        "1 dead letters became jobs.",
    ]


def test_a_class_that_there_is_not_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dlq", "list", "--class", "nonsense"])

    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "there is no class 'nonsense'; the classes are auth, throttled, transient" in told


def test_letters_are_settled_by_name_and_unknown_ones_are_told() -> None:
    """What can become no job must not call somebody for ever."""
    office = Office()
    office.letters = redriven(office.door, "<xml/>")
    office.letters.sort(most=10)
    (letter,) = office.letters.put_aside()

    assert office.desk.drop([letter.key], by="ann", why="a stranger's") == 0
    assert office.desk.drop([letter.key], by="ann", why="a stranger's") == 1

    assert list(office.letters.put_aside()) == []
    assert office.said == [
        "1 dead letters are settled.",
        "0 dead letters are settled.",
        f"There is no letter {letter.key}.",
    ]


def test_an_interrupt_stops_between_two_jobs() -> None:
    """What it moved and nobody has begun is in dlq again, and that is told."""
    office = Office()
    for n in range(30):
        office.morgue.dead(f"job-{n}")

    def interrupted(line: str) -> None:
        office.said.append(line)
        if line == "25 of 30":
            raise KeyboardInterrupt

    desk = replace(office.desk, tell=interrupted)

    code = desk.go(desk.replays.plan(Choice()), by="ann", why="mended", spread=timedelta(0))

    assert code == 130
    assert office.said[-1] == "Stopped after 25 of 30 jobs. 25 jobs are in dlq again."
    assert len(office.morgue.world.ledger.dead()) == 30


def test_nothing_to_replay_is_said() -> None:
    office = Office()
    office.morgue.dead("refused", FailureClass.UNSAFE_CONTENT)
    desk = office.desk

    assert desk.go(desk.replays.plan(Choice()), by="a", why="b", spread=timedelta(0)) == 0
    assert office.said[-1] == "Nothing goes now."
    office.desk.show_all(Choice(campaign="no/such"), mended=False, each=False, as_json=False)
    assert office.said[-1] == "No such job is in dlq."


def test_a_job_is_shown_without_its_texts() -> None:
    office = Office()
    row = office.morgue.dead("one")

    office.desk.show(row.job_id)

    said = json.loads(office.told())
    assert (said["status"], said["failureClass"]) == (Status.DLQ.value, "stale-reference")
    with pytest.raises(NoSuchDeadJob):
        office.desk.show("none")


@pytest.mark.parametrize(
    "arguments", [["--since", "yesterday"], ["--class", "martian"], ["--go", "--by", " "]]
)
def test_what_can_not_be_meant_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["dlq", "replay", *arguments])

    assert "error" in capsys.readouterr().err
