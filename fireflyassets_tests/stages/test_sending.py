"""A producer's requests through queue and bucket. Here: sizes, pointers, whose they are."""

import hashlib
from dataclasses import replace

import pytest

from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import ids
from fireflyassets.core.message import BODY_LIMIT, Pointed, Requested, pointer_body, request_body
from fireflyassets.stages.queue import Drained, drain
from fireflyassets.stages.sending import send_requests
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, GOOD, FrontDoor, front_door

SMALL = 1_500
LONG = replace(GOOD, key="long", prompt="é" * 1_000)


def requested(*, customer: str = CUSTOMER, **changes: object) -> Requested:
    return Requested(customer, CAMPAIGN, replace(GOOD, **changes))


def small(door: FrontDoor) -> MemoryQueue:
    """Return a queue that takes less than the longest legal request."""
    return MemoryQueue(door.clock, most_bytes=SMALL)


def test_requests_arrive_with_their_tenants() -> None:
    """A queue can serve one customer's few beside another's many."""
    door = front_door()
    send_requests(
        door.queue, door.objects, [requested(), requested(customer="bolt"), requested(key="k2")]
    )

    tenants = [message.tenant for message in door.queue.receive(most=10)]

    assert sorted(map(str, tenants)) == ["acme", "acme", "bolt"]
    assert not door.objects.objects


def test_what_the_queue_does_not_take_goes_through_the_bucket() -> None:
    """Bytes count, not letters; the job is the same, and its message leaves once it is durable."""
    door = front_door()
    queue = small(door)
    intake = replace(door.intake, queue=queue)

    send_requests(queue, door.objects, [Requested(CUSTOMER, CAMPAIGN, LONG), requested()])
    told = drain(queue, intake, most=10)

    assert told == Drained(recorded=2)
    row = door.ledger.job(ids.job_id(CUSTOMER, "long"))
    assert row is not None
    assert queue.receive(most=10) == []


def test_a_request_that_nobody_reads_is_refused_before_anything_is_sent() -> None:
    """Neither message nor object is left behind."""
    door = front_door()

    with pytest.raises(ValueError, match=f"is over {BODY_LIMIT}"):
        send_requests(
            door.queue, door.objects, [requested(), requested(prompt="é" * (BODY_LIMIT // 2))]
        )

    assert door.queue.receive(most=10) == []
    assert not door.objects.objects


def test_a_pointer_is_believed_for_its_own_customer_and_bytes_alone() -> None:
    """It opens nobody else's request, nothing that was changed, and no second pointer."""
    door = front_door()
    mine = request_body(requested()).encode()
    theirs = request_body(requested(customer="bolt")).encode()
    nested = pointer_body(Pointed(CUSTOMER, "0" * 64)).encode()
    digests = [hashlib.sha256(content).hexdigest() for content in (theirs, nested)]
    for content, digest in zip((theirs, nested), digests, strict=True):
        door.objects.put(ids.inbox_key(CUSTOMER, digest), content, media_type="application/json")
    changed = hashlib.sha256(b"other").hexdigest()
    door.objects.put(ids.inbox_key(CUSTOMER, changed), mine, media_type="application/json")
    door.queue.send([pointer_body(Pointed(CUSTOMER, one)) for one in (*digests, changed, "f" * 64)])

    told = drain(door.queue, door.intake, most=10)

    assert told == Drained(quarantined=4)
    reasons = [str(letter.reason).partition(":")[0] for letter in door.queue.dead]
    assert reasons == ["manifest (type)"] * 3 + ["manifest (gone)"]


def test_a_pointer_of_a_sender_that_may_not_is_not_even_opened() -> None:
    """A sender bound to one customer learns nothing of another's objects."""
    door = front_door()
    door.queue.send([pointer_body(Pointed("bolt", "f" * 64))])

    drain(door.queue, door.intake, most=10, senders={"this-process": ("acme",)})

    (letter,) = door.queue.dead
    assert str(letter.reason).startswith("customer (sender)")
