"""The job queue as a port: a door for producers and a wake-up, never the truth.

Belongs here: messages as opaque bodies. Does not: what they say (``core/message.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

MAX_RECEIVES: Final = 3
"""How often a message is received before the queue itself makes it a dead letter."""


@dataclass(frozen=True, slots=True)
class Message:
    """One received message; *receipt* deletes it."""

    message_id: str
    receipt: str = field(repr=False)
    body: str = field(repr=False)
    receives: int = 1
    tenant: str | None = None
    """Whose it is, as its sender said; a queue serves tenants side by side by it."""
    sender: str = ""
    """Who put it there, as the queue itself attests: nothing that the sender writes can change it.
    In SQS the unique id of an IAM user or role; sessions of one role are one sender."""
    reason: str | None = None
    """Why we made it a dead letter; None where the queue did, or it is none."""


@dataclass(frozen=True, slots=True)
class Depth:
    """How many messages there are, about: those that can be received, and dead letters."""

    waiting: int
    dead: int


class JobQueue(ABC):
    """At least once, in any order. A message that is not deleted comes back."""

    @property
    @abstractmethod
    def most_bytes(self) -> int:
        """The largest message that this queue takes, in UTF-8."""

    @abstractmethod
    def send(self, bodies: Sequence[str], *, tenant: str | None = None) -> None:
        """Send messages in as few requests as the byte limits allow.

        Those of one *tenant* delay no other's, where the queue can tell them apart.

        Raises:
            ValueError: A message is too large; none was sent.
        """

    @abstractmethod
    def receive(self, *, most: int) -> list[Message]:
        """Return up to *most* messages without waiting; an empty list is not proof of none."""

    @abstractmethod
    def delete(self, messages: Sequence[Message]) -> None:
        """Delete messages; one that is gone already is fine."""

    @abstractmethod
    def put_off(self, message: Message, *, after: timedelta) -> None:
        """Let a received message come back no sooner than *after*, at most twelve hours."""

    @abstractmethod
    def depth(self) -> Depth:
        """Return how deep the queue and its dead-letter queue are."""

    @abstractmethod
    def dead_letters(self, *, most: int) -> list[Message]:
        """Return up to *most* dead letters, as `receive` does; what is not deleted comes back."""

    @abstractmethod
    def delete_dead(self, messages: Sequence[Message]) -> None:
        """Delete dead letters; one that is gone already is fine."""

    @abstractmethod
    def quarantine(self, message: Message, *, reason: str) -> None:
        """Move a message that can't be read to the dead-letter queue with *reason*; send first."""


def check_sizes(bodies: Sequence[str], most_bytes: int) -> None:
    """Refuse a message that is over a queue's bound.

    Raises:
        ValueError: One is.
    """
    for body in bodies:
        size_bytes = len(body.encode())
        if size_bytes > most_bytes:
            raise ValueError(f"A message of {size_bytes} bytes is over {most_bytes}.")
