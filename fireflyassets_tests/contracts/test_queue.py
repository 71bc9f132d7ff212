"""What every job queue promises, whatever keeps its messages.

Here: sending, receiving, deleting and dead letters. Not here: batches and retries of SQS
(`fireflyassets_tests/adapters/aws/test_queue`).
"""

from datetime import timedelta

import pytest

from fireflyassets.ports.queue import MAX_RECEIVES, Depth, JobQueue, Message
from fireflyassets_tests.contracts.stores import QueueWorlds

PATIENT = timedelta(minutes=1)
"""Longer than any test: what was received stays hidden."""
AT_ONCE = timedelta(0)
"""What was received and not deleted comes back at once."""


def test_all_messages_arrive(queue_worlds: QueueWorlds) -> None:
    """More messages than one request holds arrive, once each while they are hidden."""
    world = queue_worlds(PATIENT)
    bodies = [f"job {n} é" for n in range(37)]

    world.queue.send(bodies)

    received = _drained(world.queue, 37)
    assert sorted(message.body for message in received) == sorted(bodies)
    assert len({message.receipt for message in received}) == 37
    assert {message.receives for message in received} == {1}
    assert world.queue.receive(most=10) == []


def test_no_more_than_asked_for_are_received(queue_worlds: QueueWorlds) -> None:
    world = queue_worlds(PATIENT)
    world.queue.send([str(n) for n in range(30)])

    assert len(world.queue.receive(most=13)) == 13
    assert world.queue.receive(most=0) == []


def test_a_message_names_its_sender(queue_worlds: QueueWorlds) -> None:
    """Attested by the queue: the body has no say in it."""
    world = queue_worlds(PATIENT)
    world.queue.send(["one", "two"])

    senders = {message.sender for message in world.queue.receive(most=10)}

    assert len(senders) == 1
    assert "" not in senders


def test_a_message_names_its_tenant(queue_worlds: QueueWorlds) -> None:
    """As its sender said, or not at all."""
    world = queue_worlds(PATIENT)
    world.queue.send(["one", "two"], tenant="acme")
    world.queue.send(["three"])

    received = {message.body: message.tenant for message in _drained(world.queue, 3)}

    assert received == {"one": "acme", "two": "acme", "three": None}


def test_too_large_a_message_is_refused_with_all_beside_it(queue_worlds: QueueWorlds) -> None:
    """Letters of several bytes are as large as they travel."""
    world = queue_worlds(PATIENT)
    most = world.queue.most_bytes

    with pytest.raises(ValueError, match="is over"):
        world.queue.send(["fine", "é" * (most // 2) + "x"])

    assert world.queue.receive(most=10) == []


def test_nothing_is_sent_and_deleted_without_a_fuss(queue_worlds: QueueWorlds) -> None:
    world = queue_worlds(PATIENT)

    world.queue.send([])
    world.queue.delete([])

    assert world.queue.receive(most=10) == []


def test_message_that_is_not_deleted_comes_back(queue_worlds: QueueWorlds) -> None:
    """A reader that dies loses nothing, and the next one sees that it is not the first."""
    world = queue_worlds(AT_ONCE)
    world.queue.send(["one"])

    first, second = _next(world.queue), _next(world.queue)

    assert (first.body, first.receives) == ("one", 1)
    assert (second.body, second.receives) == ("one", 2)


def test_message_that_is_put_off_stays_away(queue_worlds: QueueWorlds) -> None:
    """However soon others come back, and it is no dead letter by it."""
    world = queue_worlds(AT_ONCE)
    world.queue.send(["one"])
    first = _next(world.queue)

    world.queue.put_off(first, after=timedelta(hours=13))

    assert world.queue.receive(most=10) == []
    assert world.dead() == []


def test_deleted_message_does_not_come_back(queue_worlds: QueueWorlds) -> None:
    """Many are deleted at once; deleting them again is fine."""
    world = queue_worlds(AT_ONCE)
    world.queue.send([str(n) for n in range(25)])
    gone: list[Message] = []
    while batch := world.queue.receive(most=1):
        world.queue.delete(batch)
        gone += batch

    world.queue.delete(gone)

    assert len(gone) == 25
    assert world.queue.receive(most=10) == []
    assert world.dead() == []


def test_message_received_too_often_is_a_dead_letter(queue_worlds: QueueWorlds) -> None:
    """The fourth reader does not get what three could not work with."""
    world = queue_worlds(AT_ONCE)
    world.queue.send(["poison"])

    receives = [_next(world.queue).receives for _ in range(3)]

    assert receives == [1, 2, 3]
    assert world.queue.receive(most=1) == []
    assert world.dead() == [("poison", None)]


def test_quarantined_message_is_a_dead_letter_with_its_reason(queue_worlds: QueueWorlds) -> None:
    """What can't be read leaves the queue at once and says why."""
    world = queue_worlds(AT_ONCE)
    world.queue.send(["{not json"])

    world.queue.quarantine(_next(world.queue), reason="Body is not JSON: é.")

    assert world.queue.receive(most=1) == []
    assert world.dead() == [("{not json", "Body is not JSON: é.")]


def _next(queue: JobQueue) -> Message:
    (message,) = queue.receive(most=1)
    return message


def _drained(queue: JobQueue, count: int) -> list[Message]:
    received: list[Message] = []
    while len(received) < count and (batch := queue.receive(most=count)):
        received += batch
    return received


def test_the_depth_counts_what_can_be_received_and_dead_letters(queue_worlds: QueueWorlds) -> None:
    """Hidden messages are in nobody's count; a quarantined one is a dead letter."""
    world = queue_worlds(PATIENT)
    assert world.queue.depth() == Depth(0, 0)

    world.queue.send(["one", "two", "three"])
    assert world.queue.depth() == Depth(3, 0)

    (message,) = world.queue.receive(most=1)
    assert world.queue.depth() == Depth(2, 0)
    world.queue.quarantine(message, reason="unreadable")
    assert world.queue.depth() == Depth(2, 1)


def test_dead_letters_are_read_with_their_reason_and_deleted(queue_worlds: QueueWorlds) -> None:
    """Ours have a reason, the queue's own have none; what is deleted does not come back."""
    world = queue_worlds(AT_ONCE)
    world.queue.send(["ours"], tenant="acme")
    world.queue.quarantine(_next(world.queue), reason="It is odd.")
    world.queue.send(["theirs"], tenant="acme")
    for _ in range(MAX_RECEIVES):
        _next(world.queue)
    world.queue.receive(most=1)

    letters = world.queue.dead_letters(most=10)

    found = {one.body: (one.reason, one.tenant) for one in letters}
    assert found == {"ours": ("It is odd.", "acme"), "theirs": (None, "acme")}
    world.queue.delete_dead(letters)
    world.queue.delete_dead([])
    assert world.queue.depth() == Depth(0, 0)
