"""The drain of the job queue over memory ports. Here: what leaves it, how, and what stays."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import ids
from fireflyassets.core.budget import Block
from fireflyassets.core.errors import OwnershipLost, StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.entries import Recording
from fireflyassets.ports.queue import MAX_RECEIVES, Message
from fireflyassets.stages.queue import Drained, drain
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    GOOD,
    FakeClock,
    FixedCatalogue,
    FrontDoor,
    asked,
    card,
    config,
    front_door,
    stored_manifest,
)

HOUR = timedelta(hours=1)


def body(key: str = "job-1", **changes: object) -> str:
    said = {
        "version": 1,
        "customer": CUSTOMER,
        "campaign": CAMPAIGN,
        "idempotencyKey": key,
        "prompt": GOOD.prompt,
        "locale": GOOD.locale,
        "headline": GOOD.headline,
        "aspects": list(GOOD.aspects),
    }
    return json.dumps(said | changes)


def left(door: FrontDoor) -> list[Message]:
    """Return what is still in the queue once everything is visible again."""
    door.clock.jump(HOUR)
    return door.queue.receive(most=1_000)


def test_requests_become_rows_and_leave_the_queue() -> None:
    """The same path as the API: row and manifest, and no wake-up for what is being dispatched."""
    door = front_door()
    door.queue.send([body("a"), body("b"), body("c", customer="bolt")])

    told = drain(door.queue, door.intake, most=100)

    assert told == Drained(recorded=3)
    assert len(door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == 2
    row = door.ledger.job(ids.job_id("bolt", "c"))
    assert row is not None
    assert stored_manifest(door, row)
    assert left(door) == []


def test_a_sender_speaks_for_its_own_customers_alone() -> None:
    """Who sent a message is what the queue attests, whatever the message says."""
    door = front_door()
    producer = MemoryQueue(door.clock, sender="AROAPRODUCER")
    stranger = MemoryQueue(door.clock, sender="AROASTRANGER")
    bound = {"AROAPRODUCER": (CUSTOMER,)}
    for queue in (producer, stranger):
        queue.send([body("a"), body("b", customer="bolt"), json.dumps({"version": 1, "wake": []})])

    told = [drain(queue, door.intake, most=10, senders=bound) for queue in (producer, stranger)]

    assert told == [Drained(recorded=1, wakes=1, quarantined=1), Drained(wakes=1, quarantined=2)]
    assert door.ledger.job(ids.job_id("bolt", "b")) is None
    assert [letter.body for letter in producer.dead] == [body("b", customer="bolt")]
    assert {letter.reason for letter in (*producer.dead, *stranger.dead)} == {
        (
            "customer (sender): This sender may not ask for jobs of this customer. "
            "Let FIREFLYASSETS_QUEUE_SENDERS name both."
        )
    }


def test_known_jobs_and_wakes_pass() -> None:
    """Neither is an error, and neither writes anything."""
    door = front_door()
    door.intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    door.queue.send([body(), body(), json.dumps({"version": 1, "wake": ["gone"]})])

    told = drain(door.queue, door.intake, most=100)

    assert told == Drained(repeated=2, wakes=2)
    assert len(door.ledger.outbox) == 1
    assert left(door) == []
    assert door.queue.dead == ()


def test_one_slice_may_hold_a_request_twice() -> None:
    """Delivery is at least once."""
    door = front_door()
    door.queue.send([body(), body()])

    assert drain(door.queue, door.intake, most=100) == Drained(recorded=1, repeated=1)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("not json", "message (json)"),
        ("[]", "message (type)"),
        ("{}", "version (version)"),
        (body(customer="../acme"), "customer (slug)"),
        (body(prompt=""), "prompt (empty)"),
        (body(prompt="half \ud83d"), "prompt (surrogate)"),
        (body(prompt="bell \u0007"), "prompt (control)"),
        (body(locale="fr-FR"), "locale (locale)"),
        (body(aspects=["1x1"]), "aspects (aspect)"),
        (body(aspects="1920x1080"), "aspects (type)"),
        (body(key="a/b"), "idempotencyKey (key)"),
        (body(colour="red"), "colour (unknown)"),
        (body(campaign="nothing"), "There is no campaign 'acme/nothing'"),
    ],
)
def test_hopeless_messages_are_put_aside_with_a_reason(bad: str, reason: str) -> None:
    """They go to the dead letters at once, and hold up none of their neighbours."""
    door = front_door()
    door.queue.send([body("a"), bad, body("b")])

    told = drain(door.queue, door.intake, most=100)

    assert told == Drained(recorded=2, quarantined=1)
    assert [letter.body for letter in door.queue.dead] == [bad]
    assert reason in str(door.queue.dead[0].reason)
    assert left(door) == []


def test_another_body_under_a_known_key_is_put_aside() -> None:
    """The first request stays; the reason names its job."""
    door = front_door()
    door.queue.send([body()])
    drain(door.queue, door.intake, most=100)
    door.queue.send([body(prompt="Another")])

    assert drain(door.queue, door.intake, most=100) == Drained(quarantined=1)
    assert ids.job_id(CUSTOMER, "job-1") in str(door.queue.dead[0].reason)


def test_reasons_hold_no_text_of_the_request() -> None:
    """A reason travels into logs and attributes; a prompt must not."""
    door = front_door()
    door.queue.send([body(prompt="SECRETWORD\u0007" * 200, headline="SECRETWORD" * 10)])

    drain(door.queue, door.intake, most=100)

    assert "SECRETWORD" not in str(door.queue.dead[0].reason)
    assert len(str(door.queue.dead[0].reason)) <= 1_000


def test_a_request_of_many_bytes_is_refused_by_its_rule_and_kept_whole() -> None:
    """Three-byte letters count as they travel; what is too long is named, not cut."""
    door = front_door()
    large = body(prompt="\u6f22" * 130_000)
    door.queue.send([large])

    assert drain(door.queue, door.intake, most=10) == Drained(quarantined=1)

    (letter,) = door.queue.dead
    assert letter.body == large
    assert str(letter.reason).startswith("prompt (length): prompt has 130000 code points")


def test_a_reason_says_what_is_wrong_and_not_only_the_cure() -> None:
    """Who reads dead letters has no other place that says it."""
    door = front_door()
    door.queue.send([body(headline="x" * 60), body(locale="fr-FR"), body(key="")])

    drain(door.queue, door.intake, most=100)

    assert [letter.reason for letter in door.queue.dead] == [
        "headline (length): headline has 60 code points; at most 38 are allowed. Shorten it by 22.",
        "locale (locale): 'fr-FR' is not a locale of the campaign. Use one of en-GB, de-DE, ar-AE.",
        (
            "idempotencyKey (key): The idempotency key is missing. "
            "Send 1-64 characters of A-Z a-z 0-9 _ -; a UUID is advised."
        ),
    ]


def test_a_campaign_that_can_not_be_priced_takes_no_other_down() -> None:
    """Its messages wait for the card, and leave with the reason; the neighbour's are recorded."""
    odd = config(
        customer="bolt",
        recipe={
            "steps": [
                {"name": "art", "kind": "generate", "model": "image4_ultra"},
                {"name": "layout", "kind": "compose", "inputs": {"Hero": "art.picture"}},
            ]
        },
    )
    door = front_door(FixedCatalogue(config(), odd, cards=(card(),)))
    door.queue.send([body(customer="bolt"), body()])

    told = drain(door.queue, door.intake, most=100)

    assert told == Drained(recorded=1, waiting=1)
    for _ in range(MAX_RECEIVES - 1):
        door.clock.jump(timedelta(minutes=5))
        drain(door.queue, door.intake, most=100)
    assert "image4_ultra" in str(door.queue.dead[0].reason)


def test_no_more_than_asked_is_taken() -> None:
    """The rest stays for the next tick."""
    door = front_door()
    door.queue.send([body(f"k{n}") for n in range(150)])

    assert drain(door.queue, door.intake, most=120).received == 120
    assert len(left(door)) == 30


class SlowLedger(MemoryLedger):
    """A ledger whose every write takes seven seconds."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        self._clock.jump(timedelta(seconds=7))
        return super().record(rows, block)


def test_a_drain_ends_when_its_time_is_spent() -> None:
    """A sensor's tick is killed after a minute; slices begun within 20 seconds are finished."""
    door = front_door()
    intake = replace(door.intake, ledger=SlowLedger(door.clock))
    door.queue.send([body(f"k{n}") for n in range(400)])

    told = drain(door.queue, intake, most=400, budget=timedelta(seconds=20))

    assert told == Drained(recorded=150)


class FlickeringQueue(MemoryQueue):
    """A queue whose first answer is empty though it holds messages."""

    flickered = False

    def receive(self, *, most: int) -> list[Message]:
        if not self.flickered:
            self.flickered = True
            return []
        return super().receive(most=most)


def test_one_empty_answer_is_not_the_end() -> None:
    """Queues of many servers answer from some of them."""
    door = front_door()
    queue = FlickeringQueue(door.clock)
    queue.send([body()])

    assert drain(queue, door.intake, most=10) == Drained(recorded=1)


class FailingLedger(MemoryLedger):
    """A ledger that can't be written to."""

    def record(self, rows: Iterable[JobRow], block: Block | None = None) -> list[Recording]:
        raise OwnershipLost("The ledger does not answer.")


def test_nothing_is_deleted_that_is_not_durable() -> None:
    """The messages come back, and are recorded then."""
    door = front_door()
    door.queue.send([body("a"), body("b")])
    broken = replace(door.intake, ledger=FailingLedger())
    with pytest.raises(OwnershipLost):
        drain(door.queue, broken, most=100)

    door.clock.jump(HOUR)

    assert drain(door.queue, door.intake, most=100) == Drained(recorded=2)
    assert door.queue.dead == ()


class AbsentLedger(MemoryLedger):
    """A ledger whose store is away."""

    def ready(self) -> None:
        raise StoreUnavailable("The ledger", "a test")


class AbsentObjects(MemoryObjects):
    """A bucket whose store is away."""

    def exists(self, key: str) -> bool:
        raise StoreUnavailable("The bucket", key)

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        raise StoreUnavailable("The bucket", f"{key} {media_type} {len(content)} {tags}")


@pytest.mark.parametrize(
    "away",
    [{"ledger": AbsentLedger()}, {"objects": AbsentObjects()}],
    ids=["ledger", "bucket"],
)
def test_no_outage_of_a_store_makes_a_dead_letter(
    away: dict[str, MemoryLedger | MemoryObjects],
) -> None:
    """However long it lasts, no message is received meanwhile: the third time would be its last.

    Not of the bucket either: requests are stored there before their rows.
    """
    door = front_door()
    door.queue.send([body("a")])
    absent = replace(door.intake, **away)
    for _ in range(3 * MAX_RECEIVES):
        with pytest.raises(StoreUnavailable):
            drain(door.queue, absent, most=100)
        door.clock.jump(HOUR)

    assert drain(door.queue, door.intake, most=100) == Drained(recorded=1)
    assert door.queue.dead == ()


class ForgetfulQueue(MemoryQueue):
    """A queue that loses deletions: the process died between the write and the delete."""

    def delete(self, messages: Sequence[Message]) -> None:
        return


def test_a_crash_before_the_delete_leaves_a_repeat_not_a_loss() -> None:
    """The message comes back and passes as known."""
    door = front_door()
    queue = ForgetfulQueue(door.clock)
    queue.send([body()])
    drain(queue, door.intake, most=10)
    door.clock.jump(HOUR)

    assert drain(queue, door.intake, most=1) == Drained(repeated=1)
    assert len(door.ledger.outbox) == 1


def test_order_of_answers_follows_the_messages_of_each_customer() -> None:
    """Grouping by campaign never gives one message another one's answer."""
    door = front_door()
    bad = [body(f"bad{n}", prompt="", customer=("acme", "bolt")[n % 2]) for n in range(4)]
    good = [body(f"ok{n}", customer=("bolt", "acme")[n % 2]) for n in range(4)]
    door.queue.send([each for pair in zip(bad, good, strict=True) for each in pair])

    told = drain(door.queue, door.intake, most=100)

    assert told == Drained(recorded=4, quarantined=4)
    assert sorted(letter.body for letter in door.queue.dead) == sorted(bad)
    assert replace(told, recorded=0).received == 4


class RefusingQueue(MemoryQueue):
    """A queue that can't move one of its messages."""

    def quarantine(self, message: Message, *, reason: str) -> None:
        if message.body == "poison":
            raise ValueError("The message is too long.")
        super().quarantine(message, reason=reason)


def test_a_message_that_can_not_be_put_aside_costs_no_neighbour() -> None:
    """It comes back and is buried by the queue in the end; the others pass at once."""
    door = front_door()
    queue = RefusingQueue(door.clock)
    queue.send(["poison", "not json", body("a"), body("b", customer="bolt")])

    with pytest.raises(ValueError, match="too long"):
        drain(queue, door.intake, most=100)

    assert door.ledger.job(ids.job_id(CUSTOMER, "a"))
    assert door.ledger.job(ids.job_id("bolt", "b"))
    assert [letter.body for letter in queue.dead] == ["not json"]
    door.clock.jump(HOUR)
    assert [message.body for message in queue.receive(most=10)] == ["poison"]


class TrippingLedger(MemoryLedger):
    """A ledger in which one key meets a fault of ours."""

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        if any(row.idempotency_key == "trap" for row in rows):
            raise ArithmeticError("a fault of ours")
        return super().record(rows, block)


def test_a_request_that_meets_a_fault_of_ours_is_put_aside_alone_and_says_so() -> None:
    """Its neighbours of the same campaign are recorded; it leaves at the last try, with a word."""
    door = front_door()
    ledger = TrippingLedger()
    intake = replace(door.intake, ledger=ledger)
    door.queue.send([body("a"), body("trap"), body("b")])

    for _ in range(MAX_RECEIVES):
        with pytest.raises(ArithmeticError):
            drain(door.queue, intake, most=100)
        door.clock.jump(HOUR)

    assert ledger.job(ids.job_id(CUSTOMER, "a"))
    assert ledger.job(ids.job_id(CUSTOMER, "b"))
    assert [letter.reason for letter in door.queue.dead] == [
        "It failed here 3 times, with ArithmeticError."
    ]


def test_a_known_request_passes_beside_a_new_one_of_a_campaign_that_is_gone() -> None:
    """Delivery is at least once: its job is in the ledger, so nobody need look at a dead letter."""
    door = front_door()
    door.queue.send([body("a")])
    drain(door.queue, door.intake, most=10)
    door.queue.send([body("a"), body("b")])

    told = drain(door.queue, replace(door.intake, catalogue=FixedCatalogue()), most=10)

    assert told == Drained(repeated=1, quarantined=1)
    assert [letter.body for letter in door.queue.dead] == [body("b")]
