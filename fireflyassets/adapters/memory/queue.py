"""The job queue in memory. Here: visibility, receives, dead letters. Not here: batches."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from uuid import uuid4

from fireflyassets.ports.clock import Clock
from fireflyassets.ports.queue import MAX_RECEIVES, Depth, JobQueue, Message, check_sizes


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message nobody could work with; *reason* is None where it was received too often."""

    body: str = field(repr=False)
    reason: str | None
    message: Message


class MemoryQueue(JobQueue):
    """Messages of one process, the oldest first."""

    def __init__(
        self,
        clock: Clock,
        *,
        visibility: timedelta = timedelta(seconds=60),
        sender: str = "this-process",
        most_bytes: int = 1024 * 1024,
    ) -> None:
        self._clock = clock
        self._visibility = visibility
        self._sender = sender
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._messages: dict[str, Message] = {}
        self._hidden_until: dict[str, datetime] = {}
        self._dead: list[DeadLetter] = []

    @property
    def dead(self) -> tuple[DeadLetter, ...]:
        """The dead letters so far."""
        with self._lock:
            return tuple(self._dead)

    @property
    def most_bytes(self) -> int:
        """The largest message that this queue takes, in UTF-8."""
        return self._most_bytes

    def send(self, bodies: Sequence[str], *, tenant: str | None = None) -> None:
        """Add messages.

        Raises:
            ValueError: A message is too large; none was added.
        """
        check_sizes(bodies, self._most_bytes)
        with self._lock:
            for body in bodies:
                message_id = str(uuid4())
                self._messages[message_id] = Message(
                    message_id, "", body, receives=0, tenant=tenant, sender=self._sender
                )

    def receive(self, *, most: int) -> list[Message]:
        """Return up to *most* visible messages and hide them for a while."""
        now = self._clock.now()
        with self._lock:
            self._bury()
            ready = [
                message
                for message in self._messages.values()
                if self._hidden_until.get(message.message_id, now) <= now
            ]
            return [self._hand_out(message, now) for message in ready[:most]]

    def _bury(self) -> None:
        now = self._clock.now()
        for message in list(self._messages.values()):
            hidden_until = self._hidden_until.get(message.message_id, now)
            if message.receives >= MAX_RECEIVES and hidden_until <= now:
                self._dead.append(DeadLetter(message.body, None, message))
                del self._messages[message.message_id]

    def _hand_out(self, message: Message, now: datetime) -> Message:
        handed = replace(message, receipt=str(uuid4()), receives=message.receives + 1)
        self._messages[message.message_id] = handed
        self._hidden_until[message.message_id] = now + self._visibility
        return handed

    def delete(self, messages: Sequence[Message]) -> None:
        """Delete messages; one that is gone already is fine."""
        with self._lock:
            for message in messages:
                self._messages.pop(message.message_id, None)
                self._hidden_until.pop(message.message_id, None)

    def put_off(self, message: Message, *, after: timedelta) -> None:
        """Let a received message come back no sooner than *after*."""
        with self._lock:
            self._hidden_until[message.message_id] = self._clock.now() + after

    def depth(self) -> Depth:
        """Return how many messages are visible, and how many are dead."""
        now = self._clock.now()
        with self._lock:
            self._bury()
            hidden = [self._hidden_until.get(name, now) > now for name in self._messages]
            return Depth(hidden.count(False), len(self._dead))

    def dead_letters(self, *, most: int) -> list[Message]:
        """Return up to *most* dead letters; they stay until they are deleted."""
        with self._lock:
            self._bury()
            return [letter.message for letter in self._dead[:most]]

    def delete_dead(self, messages: Sequence[Message]) -> None:
        """Delete dead letters; one that is gone already is fine."""
        gone = {message.message_id for message in messages}
        with self._lock:
            self._dead = [one for one in self._dead if one.message.message_id not in gone]

    def quarantine(self, message: Message, *, reason: str) -> None:
        """Make a message a dead letter with *reason*."""
        with self._lock:
            letter = replace(message, reason=reason)
            self._dead.append(DeadLetter(message.body, reason, letter))
        self.delete([message])
