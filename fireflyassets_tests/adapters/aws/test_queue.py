"""How the SQS queue cuts batches and what it does about refused entries.

Here: limits in bytes, retries of single entries, reasons that do not fit. Not here: what a queue
promises (`fireflyassets_tests/contracts/test_queue`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.provision import provision_queues
from fireflyassets.adapters.aws.queue import BATCH_BYTES, MESSAGE_BYTES, REASON, SqsQueue, batches
from fireflyassets_tests.adapters.aws.conftest import Waits
from fireflyassets_tests.aws_clients import Wire, aws_environment
from fireflyassets_tests.contracts.stores import unique

SIZES = st.sampled_from([1, 3, BATCH_BYTES // 10, BATCH_BYTES // 3, BATCH_BYTES])


@dataclass(frozen=True)
class WiredQueue:
    """A queue with a client of its own and its wire."""

    queue: SqsQueue
    wire: Wire
    waits: Waits
    dead: Callable[[], list[Any]]


@pytest.fixture
def wired_queue(ministack: str) -> Iterator[WiredQueue]:
    """Yield an empty queue whose answers can be tampered with."""
    name = unique("wired")
    with aws_environment(ministack):
        client = clients.sqs()
    urls = provision_queues(client, name)
    waits = Waits()

    def dead() -> list[Any]:
        answer = client.receive_message(QueueUrl=urls.dead, MessageAttributeNames=["All"])
        return list(answer.get("Messages", []))

    yield WiredQueue(
        SqsQueue(client, name, backoff=waits.backoff(tries=4)), Wire(client), waits, dead
    )
    client.close()


@settings(deadline=None, database=None, max_examples=60)
@given(st.lists(SIZES, max_size=25))
@example([1] * 25)
def test_batches_lose_nothing_and_break_no_limit(sizes: list[int]) -> None:
    """All bodies come in order; no batch is over its limits, and none could take one more."""
    bodies = ["é" * (size // 2) + "x" * (size % 2) for size in sizes]

    cut = list(batches(bodies))

    assert [body for batch in cut for body in batch] == bodies
    weights = [sum(len(body.encode()) for body in batch) for batch in cut]
    assert all(weight <= BATCH_BYTES for weight in weights)
    assert all(1 <= len(batch) <= 10 for batch in cut)
    for batch, weight, following in zip(cut, weights, cut[1:], strict=False):
        assert len(batch) == 10 or weight + len(following[0].encode()) > BATCH_BYTES


def test_sizes_are_bytes_and_not_letters() -> None:
    """A body of four-byte letters is as large as it travels."""
    assert len(list(batches(["😀" * (BATCH_BYTES // 8)] * 2))) == 1
    assert len(list(batches(["😀" * (BATCH_BYTES // 8)] * 2 + ["x"]))) == 2


@pytest.mark.stack
def test_the_queues_own_bound_counts(wired_queue: WiredQueue) -> None:
    """A queue that still takes 256 KiB is asked, once, before anything is sent."""
    wired_queue.wire.answer(
        "GetQueueAttributes",
        b'{"Attributes": {"MaximumMessageSize": "262144"}}',
        times=1,
        status=200,
    )

    with pytest.raises(ValueError, match="is over 262144"):
        wired_queue.queue.send(["fine", "x" * 262_145])
    wired_queue.queue.send(["x" * 262_144])

    assert wired_queue.wire.sent.count("GetQueueAttributes") == 1
    assert len(wired_queue.queue.receive(most=10)) == 1


@pytest.mark.stack
def test_a_fifo_queue_keeps_tenants_apart(ministack: str) -> None:
    """And drops none: what was refused may be sent again at once. Dead letters go along."""
    name = f"{unique('fifo')}.fifo"
    with aws_environment(ministack):
        client = clients.sqs()
    provision_queues(client, name)
    queue = SqsQueue(client, name)
    queue.send(["one", "two", "one"], tenant="acme")
    queue.send(["three"])

    messages = [message for _ in range(3) for message in queue.receive(most=10)]
    queue.quarantine(messages[0], reason="a test")
    queue.delete(messages[1:])

    assert [(message.body, message.tenant) for message in messages] == [
        ("one", "acme"),
        ("two", "acme"),
        ("one", "acme"),
        ("three", "-"),
    ]
    client.close()


@pytest.mark.stack
def test_a_reason_is_cut_to_what_the_dead_letter_queue_takes(wired_queue: WiredQueue) -> None:
    """A request of nearly the queue's own bound still becomes a dead letter."""
    wired_queue.wire.answer(
        "GetQueueAttributes",
        b'{"Attributes": {"MaximumMessageSize": "262144"}}',
        times=2,
        status=200,
    )

    body = "x" * 262_000
    wired_queue.queue.send([body])
    (message,) = wired_queue.queue.receive(most=1)

    wired_queue.queue.quarantine(message, reason="r" * 900)

    (letter,) = wired_queue.dead()
    said = letter["MessageAttributes"][REASON]["StringValue"]
    assert len(body) + len(said) + len(REASON) + len("String") == 262_144


@pytest.mark.stack
def test_nothing_is_sent_with_too_large_a_message(wired_queue: WiredQueue) -> None:
    with pytest.raises(ValueError, match="is over"):
        wired_queue.queue.send(["fine"] * 11 + ["x" * (MESSAGE_BYTES + 1)])

    assert wired_queue.queue.receive(most=10) == []


@pytest.mark.stack
def test_large_messages_go_in_batches_of_their_own(wired_queue: WiredQueue) -> None:
    """What does not fit one request goes in two, and the largest message passes."""
    bodies = ["a" * 600_000, "b" * 600_000, "c" * MESSAGE_BYTES]

    wired_queue.queue.send(bodies)

    assert wired_queue.wire.sent.count("SendMessageBatch") == 3
    received = wired_queue.queue.receive(most=3)
    assert sorted(message.body for message in received) == bodies


@pytest.mark.stack
def test_only_refused_entries_are_sent_again(wired_queue: WiredQueue) -> None:
    """The service may take some entries of a batch and not others."""
    wired_queue.wire.rewrite("SendMessageBatch", lambda answer: _refuse(answer, "2"))

    wired_queue.queue.send([str(n) for n in range(5)])

    # The emulator took it the first time too: so much for exactly once.
    received = wired_queue.queue.receive(most=10)
    assert sorted(message.body for message in received) == ["0", "1", "2", "2", "3", "4"]
    assert len(wired_queue.waits.waited) == 1


@pytest.mark.stack
def test_entries_that_stay_refused_are_an_error(wired_queue: WiredQueue) -> None:
    """The caller hears that a message may not have been sent, after all tries."""
    wired_queue.wire.answer(
        "SendMessageBatch",
        b'{"Failed": [{"Id": "0", "SenderFault": false, "Code": "InternalError"}]}',
        times=9,
        status=200,
    )

    with pytest.raises(ConnectionError, match="1 messages: InternalError"):
        wired_queue.queue.send(["one", "two"])

    assert len(wired_queue.waits.waited) == 3


@pytest.mark.stack
def test_entries_at_fault_are_an_error_at_once(wired_queue: WiredQueue) -> None:
    wired_queue.wire.rewrite(
        "SendMessageBatch", lambda answer: _refuse(answer, "0", sender_fault=True)
    )

    with pytest.raises(ConnectionError, match="InternalError"):
        wired_queue.queue.send(["one"])

    assert wired_queue.waits.waited == []


@pytest.mark.stack
def test_refused_deletions_are_repeated(wired_queue: WiredQueue) -> None:
    """A deletion that failed for now is made good; one of a message that is gone is fine."""
    wired_queue.queue.send(["one", "two"])
    messages = wired_queue.queue.receive(most=2)
    wired_queue.wire.rewrite("DeleteMessageBatch", lambda answer: _refuse(answer, "1"))

    wired_queue.queue.delete(messages)

    assert wired_queue.wire.sent.count("DeleteMessageBatch") == 2
    wired_queue.wire.rewrite(
        "DeleteMessageBatch", lambda answer: _refuse(answer, "0", sender_fault=True)
    )
    wired_queue.queue.delete(messages)
    assert wired_queue.wire.sent.count("DeleteMessageBatch") == 3


@pytest.mark.stack
def test_deletions_that_stay_refused_are_an_error(wired_queue: WiredQueue) -> None:
    wired_queue.queue.send(["one"])
    messages = wired_queue.queue.receive(most=1)
    wired_queue.wire.answer(
        "DeleteMessageBatch",
        b'{"Failed": [{"Id": "0", "SenderFault": false, "Code": "InternalError"}]}',
        times=9,
        status=200,
    )

    with pytest.raises(ConnectionError, match="delete 1"):
        wired_queue.queue.delete(messages)


@pytest.mark.stack
@pytest.mark.parametrize(("room", "said"), [(40, "x" * 28), (12, None), (0, None)])
def test_reason_is_cut_to_the_room_that_the_body_leaves(
    wired_queue: WiredQueue, room: int, said: str | None
) -> None:
    """A message of the largest size can be quarantined too."""
    body = "b" * (MESSAGE_BYTES - room)
    wired_queue.queue.send([body])
    (message,) = wired_queue.queue.receive(most=1)

    wired_queue.queue.quarantine(message, reason="x" * 100)

    (letter,) = wired_queue.dead()
    assert letter["Body"] == body
    attributes = letter.get("MessageAttributes", {})
    assert attributes.get(REASON, {}).get("StringValue") == said


def _refuse(answer: dict[str, Any], entry: str, *, sender_fault: bool = False) -> None:
    answer["Successful"] = [done for done in answer["Successful"] if done["Id"] != entry]
    answer["Failed"] = [{"Id": entry, "SenderFault": sender_fault, "Code": "InternalError"}]
