"""Intake over memory ports. Here: what is written, in which order, and what is not."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import ids, manifest
from fireflyassets.core.brief import read_csv
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.errors import ServiceDown, UnknownCampaign, UnusableConfiguration
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.ledger import Conflict, Duplicate, Recorded, Recording
from fireflyassets.stages.intake import Answer, Intake, Invalid, Withheld
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    FrontDoor,
    asked,
    card,
    config,
    front_door,
)


def accept(door: FrontDoor, *rows: object, partial: bool = False) -> list[Answer]:
    return door.intake.accept(
        rows,  # type: ignore[arg-type]
        customer=CUSTOMER,
        campaign=CAMPAIGN,
        partial=partial,
    )


def kinds(answers: Sequence[Answer]) -> list[str]:
    return [type(answer).__name__ for answer in answers]


def woken(door: FrontDoor) -> list[str]:
    bodies = [json.loads(message.body) for message in door.queue.receive(most=100)]
    return [job for body in bodies for job in body["wake"]]


def test_a_request_becomes_a_queued_row_with_all_it_needs() -> None:
    """Row, manifest and wake-up are there; the estimate is the dated rate card's."""
    door = front_door()

    (told,) = accept(door, asked())

    job_id = ids.job_id(CUSTOMER, "job-1")
    assert isinstance(told, Recorded)
    row = door.ledger.job(job_id)
    assert row == told.row
    assert row is not None
    assert (row.status, row.customer_id, row.campaign_id) == (Status.QUEUED, CUSTOMER, CAMPAIGN)
    assert (row.cost_estimate, row.cost_actual) == (Decimal("3.5"), None)
    assert (row.created_at, row.updated_at, row.ttl) == (NOON, NOON, None)
    assert (row.credential, row.idempotency_key, row.epoch) == ("acme-main", "job-1", 0)
    assert row.campaign_version == door.intake.catalogue.campaign(CUSTOMER, CAMPAIGN).version
    assert row.human_reviewed is HumanReview.NOT_REQUIRED
    content = door.objects.get(row.input_manifest)
    assert content is not None
    assert manifest.load(content).prompt == "A glass of elderflower water on a meadow"
    assert woken(door) == [job_id]


def test_review_is_pending_where_the_campaign_requires_it() -> None:
    door = front_door(FixedCatalogue(config(review=ReviewMode.REQUIRED)))

    (told,) = accept(door, asked())

    assert isinstance(told, Recorded)
    assert told.row.human_reviewed is HumanReview.PENDING


def test_estimate_follows_the_card_of_the_day() -> None:
    """The newest card that is valid counts, not one of the future."""
    cards = (
        card(),
        card(id="new", valid_from=date(2026, 11, 30), photoshop=Decimal(2)),
        card(id="next", valid_from=date(2026, 12, 1), photoshop=Decimal(9)),
    )
    door = front_door(FixedCatalogue(config(), cards=cards))

    (told,) = accept(door, asked(aspects=ASPECTS[:2]))

    assert isinstance(told, Recorded)
    assert told.row.cost_estimate == Decimal("4.5")


@pytest.mark.parametrize("cards", [(card(valid_from=date(2027, 1, 1)),), (card(generate={}),)])
def test_nothing_is_written_that_can_not_be_priced(cards: tuple[object, ...]) -> None:
    """No job is accepted at a made-up price."""
    door = front_door(FixedCatalogue(config(), cards=cards))  # type: ignore[arg-type]

    with pytest.raises(UnusableConfiguration, match="card"):
        accept(door, asked())
    assert door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN) == []
    assert door.objects.objects == {}


@pytest.mark.parametrize(
    ("customer", "campaign"), [(CUSTOMER, "nothing"), ("nobody", CAMPAIGN), ("bolt", "nothing")]
)
def test_an_unknown_campaign_takes_nothing(customer: str, campaign: str) -> None:
    """Another customer's campaign is as unknown as one that is not there."""
    door = front_door()

    with pytest.raises(UnknownCampaign):
        door.intake.accept([asked()], customer=customer, campaign=campaign)
    assert door.objects.objects == {}


def test_the_same_request_again_is_the_same_job() -> None:
    """Any number of repeats writes one row, sends one wake-up and changes nothing."""
    door = front_door()
    (first,) = accept(door, asked())
    assert isinstance(first, Recorded)

    repeats = [accept(door, asked())[0] for _ in range(3)]

    assert repeats == [Duplicate(first.row)] * 3
    assert len(door.ledger.outbox) == 1
    assert len(woken(door)) == 1


def test_another_request_under_a_key_is_a_conflict_and_changes_nothing() -> None:
    """The winner's row and manifest stay as they were."""
    door = front_door()
    (first,) = accept(door, asked())
    assert isinstance(first, Recorded)
    before = door.objects.objects

    answers = accept(door, asked(prompt="Another picture"))

    assert answers == [Conflict(first.row)]
    assert door.objects.objects == before
    assert door.ledger.job(first.row.job_id) == first.row


def test_one_key_serves_two_customers() -> None:
    """Job ids are the tenant's own."""
    door = front_door()

    (mine,) = accept(door, asked())
    (theirs,) = door.intake.accept([asked()], customer="bolt", campaign=CAMPAIGN)

    assert isinstance(mine, Recorded)
    assert isinstance(theirs, Recorded)
    assert mine.row.job_id != theirs.row.job_id


def test_of_many_racing_requests_for_a_key_one_wins_with_its_own_manifest() -> None:
    """Whoever wins, the row's manifest is the winner's text; losers get a conflict."""
    for _ in range(20):
        door = front_door()
        prompts = [f"Picture number {n}" for n in range(8)]
        with ThreadPoolExecutor(8) as callers:
            told = list(callers.map(lambda text: accept(door, asked(prompt=text))[0], prompts))  # noqa: B023 - used up within the turn.

        winners = [
            prompt
            for prompt, answer in zip(prompts, told, strict=True)
            if isinstance(answer, Recorded)
        ]
        row = door.ledger.job(ids.job_id(CUSTOMER, "job-1"))
        assert row is not None
        content = door.objects.get(row.input_manifest)
        assert content is not None
        assert [manifest.load(content).prompt] == winners
        assert kinds(told).count("Conflict") == 7


def test_bad_requests_are_named_and_nothing_is_written() -> None:
    """All or nothing is the rule unless the caller asks otherwise."""
    door = front_door()

    answers = accept(door, asked(2), asked(3, key="job-2", prompt=" "))

    assert kinds(answers) == ["Withheld", "Invalid"]
    assert isinstance(answers[1], Invalid)
    assert [(p.row, p.field, p.rule) for p in answers[1].problems] == [(3, "prompt", "empty")]
    assert door.objects.objects == {}
    assert door.ledger.outbox == ()
    assert woken(door) == []


def test_partial_takes_the_good_ones() -> None:
    """Only when asked for, and in the order of the file."""
    door = front_door()

    answers = accept(
        door,
        asked(2, key="z"),
        asked(3, key="job-2", prompt=" "),
        asked(4, key="a"),
        partial=True,
    )

    assert kinds(answers) == ["Recorded", "Invalid", "Recorded"]
    listed = door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
    assert [row.idempotency_key for row in listed] == ["z", "a"]


def test_a_conflict_withholds_a_file_as_a_bad_row_does() -> None:
    """Known repeats are told as such, since they are written already."""
    door = front_door()
    accept(door, asked(key="known"), asked(key="taken"))

    answers = accept(door, asked(key="known"), asked(key="taken", prompt="Other"), asked(key="new"))

    assert kinds(answers) == ["Duplicate", "Conflict", "Withheld"]
    assert isinstance(answers[2], Withheld)
    assert door.ledger.job(answers[2].job_id) is None


def test_one_call_may_hold_a_request_twice() -> None:
    """Queues deliver twice: the second is a repeat, another body under the key a conflict."""
    door = front_door()

    answers = accept(door, asked(), asked(), asked(prompt="Other"), partial=True)

    assert kinds(answers) == ["Recorded", "Duplicate", "Conflict"]
    assert len(door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == 1


class WatchingLedger(MemoryLedger):
    """A ledger that stops when a row's manifest is not there yet, and may stop after writing."""

    def __init__(self, objects: MemoryObjects, *, dies: bool = False) -> None:
        super().__init__()
        self._objects = objects
        self.dies = dies

    def record(self, rows: Sequence[JobRow]) -> list[Recording]:
        assert all(self._objects.exists(row.input_manifest) for row in rows)
        told = super().record(rows)
        if self.dies:
            raise ConnectionError("The connection broke after the write.")
        return told


def test_a_manifest_is_there_before_its_row() -> None:
    """No wave ever claims a job whose input is missing."""
    door = front_door()
    ledger = WatchingLedger(door.objects)
    intake = Intake(ledger, door.objects, door.queue, door.intake.catalogue, door.clock)

    told = intake.accept([asked(), asked(key="k2")], customer=CUSTOMER, campaign=CAMPAIGN)

    assert kinds(told) == ["Recorded", "Recorded"]


def test_a_lost_answer_is_mended_by_sending_again() -> None:
    """The write went through and the caller never heard: the repeat gets the same job."""
    door = front_door()
    ledger = WatchingLedger(door.objects, dies=True)
    intake = Intake(ledger, door.objects, door.queue, door.intake.catalogue, door.clock)
    with pytest.raises(ConnectionError):
        intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    ledger.dies = False
    (told,) = intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    assert isinstance(told, Duplicate)
    assert len(ledger.outbox) == 1


class DeadQueue(MemoryQueue):
    """A queue that takes nothing."""

    def send(self, bodies: Sequence[str]) -> None:
        raise ServiceDown(f"{len(bodies)} messages were not sent.")


def test_a_lost_wake_up_loses_nothing() -> None:
    """The job is durable; dispatch reads the ledger, not the queue."""
    door = front_door()
    queue = DeadQueue(door.clock)
    intake = Intake(door.ledger, door.objects, queue, door.intake.catalogue, door.clock)

    (told,) = intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    assert isinstance(told, Recorded)
    assert door.ledger.due("acme-main", CUSTOMER, now=NOON, most=10) == [told.row]


class BrokenObjects(MemoryObjects):
    """A store that takes nothing."""

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        raise ConnectionError(f"{key} was not written.")


def test_without_its_manifest_no_row_is_written() -> None:
    """A bucket that can't be written to leaves no half-written job."""
    door = front_door()
    intake = Intake(door.ledger, BrokenObjects(), door.queue, door.intake.catalogue, door.clock)

    with pytest.raises(ConnectionError):
        intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    assert door.ledger.outbox == ()


def test_problems_of_form_and_of_content_come_together_once() -> None:
    """A cell that is no UTF-8 is told as that, and the row's other faults beside it."""
    door = front_door()
    sheet = "key,prompt,locale,headline,aspects\nk1,Frühling,fr-FR,Spring,1920x1080".encode(
        "latin-1"
    )

    answers = door.intake.accept(
        read_csv(sheet).rows, customer=CUSTOMER, campaign=CAMPAIGN, partial=True
    )

    assert isinstance(answers[0], Invalid)
    assert [(p.row, p.field, p.rule) for p in answers[0].problems] == [
        (2, "prompt", "encoding"),
        (2, "locale", "locale"),
    ]


@pytest.mark.parametrize(
    ("row", "field", "rule"),
    [
        ("k1,=cmd|'/c calc'!A0,en-GB,Spring,1920x1080", "prompt", "formula"),
        ("k1,A glass,en-GB,@SUM(A1),1920x1080", "headline", "formula"),
        ("k1,A glass,en-GB,Spring,1x1", "aspects", "aspect"),
        ("k1,A glass,en-GB,Spring,1920x1080 1080x1080", "aspects", "aspect"),
        ("k1,A glass,en-GB,Spring,", "aspects", "empty"),
        ("k1,,en-GB,Spring,1920x1080", "prompt", "empty"),
        ("k1,A\0glass,en-GB,Spring,1920x1080", "prompt", "control"),
        ('k1,"A\nglass",en-GB,Spring,1920x1080', "prompt", "control"),
        (f"k1,{'x' * 1025},en-GB,Spring,1920x1080", "prompt", "length"),
        ("k 1,A glass,en-GB,Spring,1920x1080", "key", "key"),
        (",A glass,en-GB,Spring,1920x1080", "key", "key"),
    ],
)
def test_a_bad_cell_of_a_brief_is_named_and_its_neighbour_taken(
    row: str, field: str, rule: str
) -> None:
    """Row, column and rule, through the whole way from the file."""
    door = front_door()
    sheet = f"key,prompt,locale,headline,aspects\n{row}\nk9,A glass,en-GB,Spring,1920x1080"

    answers = door.intake.accept(
        read_csv(sheet.encode()).rows, customer=CUSTOMER, campaign=CAMPAIGN, partial=True
    )

    assert kinds(answers) == ["Invalid", "Recorded"]
    assert isinstance(answers[0], Invalid)
    assert [(p.row, p.field, p.rule) for p in answers[0].problems] == [(2, field, rule)]
