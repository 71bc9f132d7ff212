"""The job queue in SQS.

Belongs here: batches within SQS's limits, retries of single entries, dead letters. Does not: what
a message says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.ports.queue import Depth, JobQueue, Message

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import (
        DeleteMessageBatchRequestEntryTypeDef,
        MessageAttributeValueTypeDef,
        SendMessageBatchRequestEntryTypeDef,
    )

BATCH_ENTRIES: Final = 10
MESSAGE_BYTES: Final = 1_048_576
"""Largest message, attributes included (SQS API reference; 256 KiB until August 2025)."""
BATCH_BYTES: Final = 1_048_576
"""Largest sum of the messages of one batch."""
REASON: Final = "reason"
"""Message attribute of a dead letter that we sent ourselves."""
_VISIBLE: Final = "ApproximateNumberOfMessages"
_REASON_OVERHEAD: Final = len(REASON) + len("String")


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
    return f"{queue}-dlq"


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

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages in as few requests as the byte limits allow.

        Raises:
            ValueError: A message is too large; none was sent.
            ConnectionError: SQS went on refusing some; the others were sent.
        """
        for batch in list(batches(bodies)):
            self._send_batch(batch)

    def _send_batch(self, batch: Sequence[str]) -> None:
        left: list[SendMessageBatchRequestEntryTypeDef] = [
            {"Id": str(place), "MessageBody": body} for place, body in enumerate(batch)
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
        messages: list[Message] = []
        while len(messages) < most:
            answer = self._client.receive_message(
                QueueUrl=self._urls.jobs,
                MaxNumberOfMessages=min(BATCH_ENTRIES, most - len(messages)),
                MessageSystemAttributeNames=["ApproximateReceiveCount", "SenderId"],
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
                        # A role's has its session behind it.
                        sender=attested.get("SenderId", "").partition(":")[0],
                    )
                )
        return messages

    def delete(self, messages: Sequence[Message]) -> None:
        """Delete messages; one that is gone already is fine.

        Raises:
            ConnectionError: SQS went on refusing some; those come back.
        """
        for start in range(0, len(messages), BATCH_ENTRIES):
            self._delete_batch(messages[start : start + BATCH_ENTRIES])

    def _delete_batch(self, batch: Sequence[Message]) -> None:
        left: list[DeleteMessageBatchRequestEntryTypeDef] = [
            {"Id": str(place), "ReceiptHandle": message.receipt}
            for place, message in enumerate(batch)
        ]
        for _ in self._backoff.pauses():
            answer = self._client.delete_message_batch(QueueUrl=self._urls.jobs, Entries=left)
            # A sender's fault is a receipt that names nothing any more: that message is gone.
            refused = {
                entry["Id"] for entry in answer.get("Failed", []) if not entry["SenderFault"]
            }
            left = [entry for entry in left if entry["Id"] in refused]
            if not left:
                return
        raise ConnectionError(f"SQS refused to delete {len(left)} messages.")

    def depth(self) -> Depth:
        """Return SQS's own approximate counts."""
        return Depth(self._visible(self._urls.jobs), self._visible(self._urls.dead))

    def _visible(self, url: str) -> int:
        answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=[_VISIBLE])
        return int(answer["Attributes"][_VISIBLE])

    def quarantine(self, message: Message, *, reason: str) -> None:
        """Move a message that can't be read to the dead-letter queue with *reason*; send first."""
        room = MESSAGE_BYTES - len(message.body.encode()) - _REASON_OVERHEAD
        cut = reason.encode()[: max(0, room)].decode(errors="ignore")
        said: MessageAttributeValueTypeDef = {"DataType": "String", "StringValue": cut}
        attributes: Mapping[str, MessageAttributeValueTypeDef] = {REASON: said} if cut else {}
        self._client.send_message(
            QueueUrl=self._urls.dead, MessageBody=message.body, MessageAttributes=attributes
        )
        self.delete([message])


def batches(bodies: Sequence[str]) -> Iterator[list[str]]:
    """Cut *bodies*, in order, into batches within SQS's limits, measured in UTF-8 bytes.

    Raises:
        ValueError: A body alone is too large.
    """
    batch: list[str] = []
    batch_bytes = 0
    for body in bodies:
        size_bytes = len(body.encode())
        if size_bytes > MESSAGE_BYTES:
            raise ValueError(f"A message of {size_bytes} bytes is over {MESSAGE_BYTES}.")
        if len(batch) == BATCH_ENTRIES or batch_bytes + size_bytes > BATCH_BYTES:
            yield batch
            batch, batch_bytes = [], 0
        batch.append(body)
        batch_bytes += size_bytes
    if batch:
        yield batch
