"""The fonts that the twin draws with, and which of them draws which character.

Belongs here: the catalogue of the TTF files in this folder, and the order in which they stand
in for each other. Does not: setting text. No other font is ever used, so that a rendition looks
the same on every machine. Licences: the text files beside the fonts; origin: the README.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

from PIL import ImageFont

from fireflyassets.twin import sfnt

BUNDLED: Final = (
    "Fraunces-SemiBold",
    "Outfit-Medium",
    "NotoSans-Medium",
    "NotoSans-SemiBold",
    "NotoSansArabic-Medium",
    "NotoSansArabic-SemiBold",
)
"""PostScript names; the files are called the same."""

_HEAVY: Final = ("SemiBold", "Bold", "ExtraBold", "Black", "Heavy")


@dataclass(frozen=True, slots=True)
class Face:
    """One bundled font: its bytes, and the tables that say what it can draw."""

    name: str
    content: bytes
    tables: sfnt.Tables

    def has(self, character: str) -> bool:
        """Say whether the font has a glyph for *character*."""
        return ord(character) in self.tables.glyphs

    def kerning(self, left: str, right: str) -> float:
        """Return how much wider (or, below 0, closer) the pair stands, in ems."""
        glyphs = self.tables.glyphs
        pair = (glyphs.get(ord(left), 0), glyphs.get(ord(right), 0))
        return self.tables.kerning.get(pair, 0) / self.tables.units_per_em

    def advance(self, character: str) -> float:
        """Return the width of *character* in ems."""
        advances = self.tables.advances
        glyph = self.tables.glyphs[ord(character)]
        return advances[min(glyph, len(advances) - 1)] / self.tables.units_per_em

    @property
    def ascent(self) -> float:
        """Return how far the font reaches above the baseline, in ems."""
        return self.tables.ascent / self.tables.units_per_em

    @property
    def descent(self) -> float:
        """Return how far the font reaches below the baseline, in ems."""
        return self.tables.descent / self.tables.units_per_em

    @property
    def joins(self) -> bool:
        """Say whether its letters join, so that spacing them out would tear them apart."""
        return "Arabic" in self.name

    def at(self, size: float) -> ImageFont.FreeTypeFont:
        """Return the font at *size* pixels per em; a new one, since they are not thread-safe.

        Always the basic layout: the other one depends on a library of the system.
        """
        return ImageFont.truetype(BytesIO(self.content), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def face(name: str) -> Face | None:
    """Return the bundled font of that PostScript *name*, if there is one."""
    if name not in BUNDLED:
        return None
    content = files(__name__).joinpath(f"{name}.ttf").read_bytes()
    return Face(name, content, sfnt.read(content))


def stand_ins(name: str) -> tuple[Face, ...]:
    """Return the fonts that draw what font *name* lacks, in order, of a weight like its own."""
    weight = "SemiBold" if name.endswith(_HEAVY) else "Medium"
    found = (face(f"NotoSans-{weight}"), face(f"NotoSansArabic-{weight}"))
    return tuple(each for each in found if each is not None and each.name != name)


def missing(text: Iterable[str], chain: Iterable[Face]) -> tuple[str, ...]:
    """Return the characters of *text* that no font of *chain* can draw, each once."""
    faces = tuple(chain)
    return tuple(
        dict.fromkeys(
            character for character in text if not any(each.has(character) for each in faces)
        )
    )
