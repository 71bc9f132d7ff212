"""Looking at pictures as a port: what bytes really are. Not here: changing them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture that decodes to its last row."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes that are no picture, or only a part of one."""

    reason: str


class PictureReader(ABC):
    """Decodes pictures; the bytes decide, never a name or a header."""

    @abstractmethod
    def look(self, content: bytes) -> Seen | Unreadable:
        """Decode *content* whole and say what it is."""

    @abstractmethod
    def thumbnail(self, content: bytes, *, width: int) -> bytes:
        """Return *content* as WebP within a 4:3 box of *width* pixels."""
