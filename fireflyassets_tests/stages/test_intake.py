"""Intake over memory ports. Here: what is written, in which order, and what is not."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core import ids, manifest
from fireflyassets.core.brief import Row, read_csv
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.errors import UnknownCampaign, UnusableConfiguration
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import RateCard
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded
from fireflyassets.stages.intake import Answer, Invalid, Withheld
from fireflyassets_tests.adapters.project_folder import REPOSITORY
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
    stored_manifest,
)


def accept(door: FrontDoor, *rows: Row, partial: bool = False) -> list[Answer]:
    return door.intake.accept(
        rows,
        customer=CUSTOMER,
        campaign=CAMPAIGN,
        partial=partial,
    )


def kinds(answers: Sequence[Answer]) -> list[str]:
    return [type(answer).__name__ for answer in answers]


def older_ledger(door: FrontDoor, row: JobRow) -> MemoryLedger:
    """Return a ledger whose row was hashed as once: the aspects in the order of its campaign."""
    request = manifest.load(stored_manifest(door, row) or b"")
    said = [request.customer, request.campaign, request.prompt, request.locale, request.headline]
    text = json.dumps([*said, list(request.aspects)], ensure_ascii=False)
    ledger = MemoryLedger()
    ledger.record([replace(row, body_hash=hashlib.sha256(text.encode()).hexdigest())])
    return ledger


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
    content = stored_manifest(door, row)
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
def test_nothing_is_written_that_can_not_be_priced(cards: tuple[RateCard, ...]) -> None:
    """No job is accepted at a made-up price."""
    door = front_door(FixedCatalogue(config(), cards=cards))

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


@pytest.mark.parametrize(
    "now",
    [
        {"aspects": ASPECTS[::-1], "templates": {one: f"{one}.psd" for one in ASPECTS[::-1]}},
        {"aspects": ASPECTS[:1], "templates": {ASPECTS[0]: "a.psd"}},
        {"headline_limit": 5},
        {"locales": ("de-DE",)},
        {"campaign": "autumn-launch"},
    ],
    ids=["aspects turned round", "aspect gone", "short headlines", "locale gone", "campaign gone"],
)
@pytest.mark.parametrize("hashed_by", ["today", "its campaign's order"])
def test_what_was_accepted_once_stays_accepted(now: dict[str, object], hashed_by: str) -> None:
    """A lost answer is asked for again; no edit of the campaign may turn it into a refusal."""
    door = front_door()
    (first,) = accept(door, asked())
    assert isinstance(first, Recorded)
    ledger = door.ledger if hashed_by == "today" else older_ledger(door, first.row)
    later = replace(door.intake, ledger=ledger, catalogue=FixedCatalogue(config(**now)))

    (told,) = later.accept(
        [asked(aspects=(ASPECTS[1], ASPECTS[0], ASPECTS[2]))], customer=CUSTOMER, campaign=CAMPAIGN
    )

    assert isinstance(told, Duplicate)


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "half \ud83d"},
        {"aspects": (*ASPECTS, ASPECTS[0])},
        {"aspects": ()},
        {"reference": "no-picture"},
    ],
    ids=["half a letter", "an aspect twice", "no aspect", "no such reference"],
)
def test_a_known_key_excuses_nothing_else(other: dict[str, object]) -> None:
    """What differs from the request that was taken is judged by the rules, and refused."""
    door = front_door()
    accept(door, asked())

    assert kinds(accept(door, asked(None, **other))) == ["Invalid"]


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


def test_the_demo_brief_is_accepted_whole() -> None:
    """Twenty-four different jobs, eight in each language, priced at 3.5 operations each."""
    door = front_door(FileCatalogue(REPOSITORY))
    told = read_csv((REPOSITORY / "campaigns/acme/spring-launch/brief.csv").read_bytes())

    answers = door.intake.accept(told.rows, customer=CUSTOMER, campaign=CAMPAIGN)

    assert kinds(answers) == ["Recorded"] * 24
    raws = [row.raw for row in told.rows if row.raw]
    assert len({raw.prompt for raw in raws}) == len({raw.headline for raw in raws}) == 24
    assert Counter(raw.locale for raw in raws) == {"en-GB": 8, "de-DE": 8, "ar-AE": 8}
    rows = door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
    assert sum((row.cost_estimate for row in rows), Decimal(0)) == 84
    assert [row.idempotency_key for row in rows] == [raw.key for raw in raws]
