"""A font as values: which characters it draws, and how wide it draws them.

Belongs here: coverage, advances and kerning, and their JSON. Does not: reading font files
(``adapters/font_file.py``), lines and boxes (``core/typesetting.py``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

Kerning = Mapping[str, Mapping[str, int]]
"""Left character -> right one -> units by which the pair stands wider (below 0: closer)."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The measures of a font, in units of which *units* make an em."""

    units: int
    ascent: int
    descent: int
    advances: Mapping[str, int]
    """Character -> width. These are all the characters that the font draws."""
    kerning: Kerning = field(default_factory=dict[str, Mapping[str, int]])


@dataclass(frozen=True, slots=True)
class Font:
    """A font by its PostScript name, as far as it is known."""

    name: str
    glyphs: str
    """The characters that it draws, as `ranges` writes them."""
    metrics: Metrics | None = None
    """None where there is no file of it, as for the vendor's own fonts."""

    def draws(self, character: str) -> bool:
        """Say whether the font has a glyph for *character*."""
        if self.metrics is not None:
            return character in self.metrics.advances
        return ord(character) in _points(self.glyphs)

    def to_json(self) -> dict[str, object]:
        """Return the font as JSON; `from_json` reads it back."""
        metrics = self.metrics
        # Its maps as they are: copies of ten thousand numbers took a third of a campaign's load.
        known = metrics and {name: getattr(metrics, name) for name in metrics.__slots__}
        return {"name": self.name, "glyphs": self.glyphs, "metrics": known}


def from_json(said: Mapping[str, Any]) -> Font:
    """Return a font that `Font.to_json` wrote."""
    metrics = said["metrics"]
    return Font(said["name"], said["glyphs"], Metrics(**metrics) if metrics else None)


def ranges(characters: Iterable[str]) -> str:
    """Return *characters* as ranges of code points: ``20-7E A0 2013-2014``."""
    return " ".join(
        f"{first:X}" if first == last else f"{first:X}-{last:X}"
        for first, last in _runs(sorted({ord(character) for character in characters}))
    )


def _runs(points: list[int]) -> Iterator[tuple[int, int]]:
    first = 0
    for index, point in enumerate(points):
        if index + 1 == len(points) or points[index + 1] != point + 1:
            yield points[first], point
            first = index + 1


@lru_cache(maxsize=64)
def _points(glyphs: str) -> frozenset[int]:
    found: set[int] = set()
    for part in glyphs.split():
        first, _, last = part.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)
