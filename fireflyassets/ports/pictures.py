"""Looking at pictures as a port: what bytes really are. Not here: making new ones."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field


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


@dataclass(frozen=True, slots=True)
class Normal:
    """A picture that every vendor takes: 8 bits, RGB or grey, upright, and what was done to it."""

    content: bytes = field(repr=False)
    media_type: str
    width: int
    height: int
    changes: tuple[str, ...] = ()
    """In words for a person; empty where the bytes are as they came."""


@dataclass(frozen=True, slots=True)
class SlotView:
    """How one slot of a template looks before it is filled, coarsely."""

    layer: str
    box: tuple[int, int, int, int]
    """Left, top, right, bottom on the canvas."""
    tiles: bytes = field(repr=False)
    """Mean red, green and blue of each tile of a grid, row by row."""
    telling: tuple[int, ...] = field(repr=False)
    """The tiles that no other filled layer can change."""


class PictureReader(ABC):
    """Decodes pictures; the bytes decide, never a name or a header."""

    @abstractmethod
    def look(self, content: bytes, *, asked: tuple[int, int] | None = None) -> Seen | Unreadable:
        """Decode *content* whole and say what it is; never raises, whatever the bytes are.

        What is not of the *asked* width and height is told by its header and not decoded.
        """

    @abstractmethod
    def normal(self, content: bytes) -> Normal | Unreadable:
        """Return *content* as a reference that can be paid for, or why not; never raises."""

    @abstractmethod
    def slots(
        self, document: bytes, *, pictures: Collection[str], texts: Collection[str]
    ) -> list[SlotView]:
        """Return how a template's layers *pictures* look before they and *texts* are filled."""

    @abstractmethod
    def unfilled(self, content: bytes, slots: Collection[SlotView]) -> list[str]:
        """Return the layers in which a picture still shows what the template did."""

    @abstractmethod
    def perceptual(self, content: bytes) -> int:
        """Return the perceptual hash of a picture that decodes."""

    @abstractmethod
    def xmp(self, content: bytes) -> bytes | None:
        """Return the XMP packet that a picture holds; None where it holds none."""

    @abstractmethod
    def thumbnail(self, content: bytes, *, width: int) -> bytes:
        """Return *content* as WebP within a 4:3 box of *width* pixels."""
