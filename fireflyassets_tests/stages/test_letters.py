"""Dead letters over memory ports: matched to the ledger, or put aside with the reason."""

import json
from dataclasses import asdict, replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import ids
from fireflyassets.core.budget import Cap
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.ports.queue import MAX_RECEIVES, JobQueue
from fireflyassets.stages.letters import Kind, Letter, Letters, Sorted
from fireflyassets.stages.queue import Senders, drain
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
)
from fireflyassets_tests.stages.test_queue import body


def letters(
    door: FrontDoor, queue: JobQueue | None = None, senders: Senders | None = None
) -> Letters:
    """Return the use case over a door's ports."""
    return Letters(queue or door.queue, door.intake, senders or {})


def redriven(door: FrontDoor, text: str, *, tenant: str | None = None, sender: str = "") -> Letters:
    """Send a message that is received too often; return the letters it is among."""
    queue = MemoryQueue(door.clock, sender=sender)
    queue.send([text], tenant=tenant)
    for _ in range(MAX_RECEIVES):
        queue.receive(most=1)
        door.clock.jump(timedelta(hours=1))
    return letters(door, queue)


def aside(use: Letters) -> Letter:
    """Sort the one letter and return it as it was put aside."""
    assert use.sort(most=10) == Sorted(put_aside=1)
    assert use.queue.depth().dead == 0
    (letter,) = use.put_aside()
    return letter


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<xml/>", Kind.FOREIGN),
        ("\u0000\u200f", Kind.FOREIGN),
        (json.dumps({"version": 1, "wake": ["no-such-job"]}), Kind.UNKNOWN_JOB),
        (body(campaign="none"), Kind.REFUSED),
        (body(locale="fr-FR"), Kind.REFUSED),
        (body(), Kind.UNREAD),
    ],
)
def test_what_no_job_answers_for_is_put_aside_with_the_reason(text: str, kind: Kind) -> None:
    """Under a key of its own, whole, and off the queue."""
    door = front_door()

    letter = aside(redriven(door, text))

    assert (letter.kind, letter.body) == (kind, text)
    assert letter.reason
    assert "elderflower" not in letter.reason
    assert door.objects.exists(letter.key)


def test_a_message_of_a_known_job_just_goes() -> None:
    """The row is the truth, wherever the job stands; its message is a shadow."""
    door = front_door()
    door.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    job = ids.job_id(CUSTOMER, "job-1")

    for text in (body(), json.dumps({"version": 1, "wake": [job]})):
        use = redriven(door, text, tenant=CUSTOMER)
        assert use.sort(most=10) == Sorted(known=1)
        assert use.queue.depth().dead == 0

    assert door.objects.keys(ids.LETTERS) == []


@pytest.mark.parametrize("wakes", [True, False])
def test_another_tenant_s_job_is_not_touched(*, wakes: bool) -> None:
    """What came as one tenant's and names another's is put aside, and never becomes a job."""
    door = front_door()
    door.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    job = ids.job_id(CUSTOMER, "job-1")
    text = json.dumps({"version": 1, "wake": [job]}) if wakes else body("other")

    use = redriven(door, text, tenant="bolt")
    letter = aside(use)

    assert letter.kind is Kind.OTHER_TENANT
    assert not use.send_on(letter)
    assert len(door.ledger.rows()) == 1


def test_a_sender_s_own_reason_is_none_of_ours() -> None:
    """A bound sender that marks its message as judged is judged all the same."""
    door = front_door()
    queue = MemoryQueue(door.clock, sender="AROABOLT")
    queue.send([body()])
    (message,) = queue.receive(most=1)
    queue.quarantine(message, reason="It is fine.")
    use = letters(door, queue, {"AROABOLT": ("bolt",)})

    letter = aside(use)

    assert letter.kind is Kind.OTHER_TENANT
    assert not use.send_on(replace(letter, kind=Kind.REFUSED))
    assert door.ledger.rows() == []


def test_a_refused_request_keeps_the_reason_of_its_day() -> None:
    door = front_door()
    door.queue.send([body(locale="fr-FR")])
    drain(door.queue, door.intake, most=10)

    letter = aside(letters(door))

    assert (letter.kind, letter.customer, letter.campaign) == (Kind.REFUSED, CUSTOMER, CAMPAIGN)
    assert "fr-FR" in letter.reason
    assert not letters(door).send_on(letter)


def test_a_letter_sent_on_becomes_one_job_however_often() -> None:
    """Two who send it on at once make one job, and the letter is gone."""
    door = front_door()
    use = redriven(door, body())
    letter = aside(use)

    assert use.send_on(letter)
    assert not use.send_on(letter)

    assert [row.idempotency_key for row in door.ledger.rows()] == ["job-1"]
    assert list(use.put_aside()) == []


class Dwindling(FixedCatalogue):
    """A catalogue in which somebody else takes the budget after a while."""

    looks = 99
    """So often nobody has taken it yet."""

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return no cap at first, and then one that is used up."""
        self.looks -= 1
        return (Cap("customer", Decimal(1), (), "a test"),) if self.looks < 0 else ()


def test_a_letter_that_is_refused_at_the_last_moment_is_kept() -> None:
    """What the budget does not take any more is neither a job nor lost."""
    catalogue = Dwindling(config())
    door = front_door(catalogue)
    use = redriven(door, body())
    letter = aside(use)
    catalogue.looks = 1

    assert not use.send_on(letter)

    assert door.ledger.rows() == []
    assert list(use.put_aside()) == [letter]


def test_a_dropped_letter_is_gone_and_on_record_without_its_text() -> None:
    """Named, with a reason; no other letter goes with it, and twice is once."""
    door = front_door()
    use = redriven(door, body(locale="fr-FR"))
    letter = aside(use)
    other = replace(letter, body="<xml/>")
    content = json.dumps(asdict(other), default=str).encode()
    door.objects.put(other.key, content, media_type="application/json")

    assert use.drop([letter.key, "dead-letters/none.json"], by="ann", why="a typo") == [letter.key]
    assert use.drop([letter.key], by="ann", why="a typo") == []

    assert door.objects.keys(ids.LETTERS) == [other.key]
    (record,) = door.objects.keys("replays/")
    told = json.loads(door.objects.get(record) or b"")
    (kept,) = told["dropped"]
    assert (told["by"], told["why"]) == ("ann", "a typo")
    assert (kept["key"], kept["kind"], kept["body"]) == (letter.key, "refused", None)


class NoBucket(MemoryObjects):
    """A bucket that can't be written."""

    def put(self, key: str, content: bytes, **_: object) -> None:
        raise StoreUnavailable("S3", "NoSuchBucket")


def test_a_letter_stays_in_the_queue_until_it_lies_elsewhere() -> None:
    """Written first, deleted then: an outage loses nothing."""
    door = front_door()
    use = redriven(door, "<xml/>")
    broken = replace(use, intake=replace(use.intake, objects=NoBucket()))

    with pytest.raises(StoreUnavailable):
        broken.sort(most=10)

    assert use.queue.depth().dead == 1
    assert aside(use).kind is Kind.FOREIGN
