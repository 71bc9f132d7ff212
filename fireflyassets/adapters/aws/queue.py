"""The job queue in SQS.

Belongs here: batches within SQS's limits, retries of single entries, dead letters. Does not: what
a message says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict
from uuid import uuid4

from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.ports.queue import Depth, JobQueue, Message, check_sizes

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import (
        DeleteMessageBatchRequestEntryTypeDef,
        MessageAttributeValueTypeDef,
        MessageTypeDef,
        SendMessageBatchRequestEntryTypeDef,
    )

BATCH_ENTRIES: Final = 10
MESSAGE_BYTES: Final = 1_048_576
"""Largest message, attributes included (SQS API reference; 256 KiB until August 2025)."""
BATCH_BYTES: Final = 1_048_576
"""Largest sum of the messages of one batch."""
_LONGEST_HIDDEN: Final = 43_200 - 60
"""Seconds: twelve hours are counted from the receive (SQS API reference)."""
FIFO: Final = ".fifo"
"""How the name of a queue ends that keeps the order within each tenant."""
REASON: Final = "reason"
"""Message attribute of a dead letter that we sent ourselves."""
_VISIBLE: Final = "ApproximateNumberOfMessages"
_REASON_OVERHEAD: Final = len(REASON) + len("String")


_NOBODY: Final = "-"
"""The group of messages that name no tenant, in a queue where all need one."""


class _Grouped(TypedDict):
    MessageGroupId: NotRequired[str]
    MessageDeduplicationId: NotRequired[str]


@dataclass(frozen=True, slots=True)
class QueueUrls:
    """Where the job queue and its dead letters are."""

    jobs: str
    dead: str


def find_queues(client: "SQSClient", queue: str) -> QueueUrls:
    """Look up an existing queue and its dead-letter queue by name."""
    jobs = client.get_queue_url(QueueName=queue)["QueueUrl"]
    return QueueUrls(jobs, client.get_queue_url(QueueName=dead_letter_name(queue))["QueueUrl"])


def dead_letter_name(queue: str) -> str:
    """Return the name of *queue*'s dead-letter queue."""
    plain = queue.removesuffix(FIFO)
    return f"{plain}-dlq{queue.removeprefix(plain)}"


class SqsQueue(JobQueue):
    """One queue, by its name, and its dead-letter queue. Safe to share by threads."""

    def __init__(self, client: "SQSClient", queue: str, *, backoff: Backoff | None = None) -> None:
        self._client = client
        self._queue = queue
        self._backoff = backoff or Backoff()

    @cached_property
    def _urls(self) -> QueueUrls:
        """Where the queues are, asked at first use."""
        return find_queues(self._client, self._queue)

    @property
    def most_bytes(self) -> int:
        """The largest message that this queue takes: SQS's bound, or the queue's own."""
        return self._most_bytes

    @cached_property
    def _most_bytes(self) -> int:
        return self._bound(self._urls.jobs)

    @cached_property
    def _most_bytes_dead(self) -> int:
        return self._bound(self._urls.dead)

    def _bound(self, url: str) -> int:
        name: QueueAttributeNameType = "MaximumMessageSize"
        told = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
        return min(MESSAGE_BYTES, int(told["Attributes"].get(name, MESSAGE_BYTES)))

    def send(self, bodies: Sequence[str], *, tenant: str | None = None) -> None:
        """Send messages in as few requests as the byte limits allow.

        Raises:
            ValueError: A message is too large; none was sent.
            ConnectionError: SQS went on refusing some; the others were sent.
        """
        if bodies:
            check_sizes(bodies, self.most_bytes)
        for batch in batches(bodies):
            self._send_batch(batch, tenant)

    def _grouped(self, tenant: str | None) -> "_Grouped":
        """Return what lets a queue serve tenants side by side: fair queues, and FIFO ones."""
        if not self._queue.endswith(FIFO):
            return {"MessageGroupId": tenant} if tenant else {}
        # New for each send, so that SQS drops none but its own client's repeats: a request that
        # was refused may come again within five minutes, once what stopped it is mended.
        return {"MessageGroupId": tenant or _NOBODY, "MessageDeduplicationId": uuid4().hex}

    def _send_batch(self, batch: Sequence[str], tenant: str | None) -> None:
        left: list[SendMessageBatchRequestEntryTypeDef] = [
            {"Id": str(place), "MessageBody": body, **self._grouped(tenant)}
            for place, body in enumerate(batch)
        ]
        codes: set[str] = set()
        for _ in self._backoff.pauses():
            answer = self._client.send_message_batch(QueueUrl=self._urls.jobs, Entries=left)
            refused = {entry["Id"]: entry for entry in answer.get("Failed", [])}
            left = [entry for entry in left if entry["Id"] in refused]
            codes = {entry["Code"] for entry in refused.values()}
            if not left or any(entry["SenderFault"] for entry in refused.values()):
                break
        if left:
            raise ConnectionError(f"SQS refused {len(left)} messages: {', '.join(sorted(codes))}.")

    def receive(self, *, most: int) -> list[Message]:
        """Return up to *most* messages without waiting; an empty list is not proof of none."""
        return self._received(self._urls.jobs, most)

    def _received(self, url: str, most: int) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < most:
            answer = self._client.receive_message(
                QueueUrl=url,
                MessageAttributeNames=[REASON],
                MaxNumberOfMessages=min(BATCH_ENTRIES, most - len(messages)),
                MessageSystemAttributeNames=[
                    "ApproximateReceiveCount",
                    "SenderId",
                    "MessageGroupId",
                ],
                WaitTimeSeconds=0,
            )
            batch = answer.get("Messages", [])
            if not batch:
                break
            for raw in batch:
                attested = raw.get("Attributes", {})
                messages.append(
                    Message(
                        message_id=raw.get("MessageId", ""),
                        receipt=raw.get("ReceiptHandle", ""),
                        body=raw.get("Body", ""),
                        receives=int(attested.get("ApproximateReceiveCount", "1")),
                        tenant=attested.get("MessageGroupId"),
                        # A role's has its session behind it.
                        sender=attested.get("SenderId", "").partition(":")[0],
                        reason=_reason(raw) if url == self._urls.dead else None,
                    )
                )
        return messages

    def delete(self, messages: Sequence[Message]) -> None:
        """Delete messages; one that is gone already is fine.

        Raises:
            ConnectionError: SQS went on refusing some; those come back.
        """
        self._delete_all(self._urls.jobs, messages)

    def dead_letters(self, *, most: int) -> list[Message]:
        """Return up to *most* dead letters; what is not deleted comes back."""
        return self._received(self._urls.dead, most)

    def delete_dead(self, messages: Sequence[Message]) -> None:
        """Delete dead letters; one that is gone already is fine.

        Raises:
            ConnectionError: SQS went on refusing some; those come back.
        """
        self._delete_all(self._urls.dead, messages)

    def _delete_all(self, url: str, messages: Sequence[Message]) -> None:
        for start in range(0, len(messages), BATCH_ENTRIES):
            self._delete_batch(url, messages[start : start + BATCH_ENTRIES])

    def _delete_batch(self, url: str, batch: Sequence[Message]) -> None:
        left: list[DeleteMessageBatchRequestEntryTypeDef] = [
            {"Id": str(place), "ReceiptHandle": message.receipt}
            for place, message in enumerate(batch)
        ]
        for _ in self._backoff.pauses():
            answer = self._client.delete_message_batch(QueueUrl=url, Entries=left)
            # A sender's fault is a receipt that names nothing any more: that message is gone.
            refused = {
                entry["Id"] for entry in answer.get("Failed", []) if not entry["SenderFault"]
            }
            left = [entry for entry in left if entry["Id"] in refused]
            if not left:
                return
        raise ConnectionError(f"SQS refused to delete {len(left)} messages.")

    def put_off(self, message: Message, *, after: timedelta) -> None:
        """Let a received message come back no sooner than *after*, at most twelve hours."""
        seconds = min(_LONGEST_HIDDEN, ceil(after.total_seconds()))
        self._client.change_message_visibility(
            QueueUrl=self._urls.jobs, ReceiptHandle=message.receipt, VisibilityTimeout=seconds
        )

    def depth(self) -> Depth:
        """Return SQS's own approximate counts."""
        return Depth(self._visible(self._urls.jobs), self._visible(self._urls.dead))

    def _visible(self, url: str) -> int:
        answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=[_VISIBLE])
        return int(answer["Attributes"][_VISIBLE])

    def quarantine(self, message: Message, *, reason: str) -> None:
        """Move a message that can't be read to the dead-letter queue with *reason*; send first."""
        room = self._most_bytes_dead - len(message.body.encode()) - _REASON_OVERHEAD
        cut = reason.encode()[: max(0, room)].decode(errors="ignore")
        said: MessageAttributeValueTypeDef = {"DataType": "String", "StringValue": cut}
        attributes: Mapping[str, MessageAttributeValueTypeDef] = {REASON: said} if cut else {}
        self._client.send_message(
            QueueUrl=self._urls.dead,
            MessageBody=message.body,
            MessageAttributes=attributes,
            **self._grouped(message.tenant),
        )
        self.delete([message])


def _reason(raw: "MessageTypeDef") -> str | None:
    said = raw.get("MessageAttributes", {})
    return said[REASON].get("StringValue") if REASON in said else None


def batches(bodies: Sequence[str]) -> Iterator[list[str]]:
    """Cut *bodies*, in order, into batches within SQS's limits, measured in UTF-8 bytes."""
    batch: list[str] = []
    batch_bytes = 0
    for body in bodies:
        size_bytes = len(body.encode())
        if len(batch) == BATCH_ENTRIES or batch_bytes + size_bytes > BATCH_BYTES:
            yield batch
            batch, batch_bytes = [], 0
        batch.append(body)
        batch_bytes += size_bytes
    if batch:
        yield batch
