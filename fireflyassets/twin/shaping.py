"""From a text as written to the characters as they stand, left to right.

Belongs here: joining Arabic letters, reading direction, where a line may break, and which font
draws which character. Does not: sizes and places. Needs no shaping engine of the system: Arabic
is joined by replacing letters with Unicode's presentation forms, which the fonts carry.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol, cast

import arabic_reshaper
import bidi
from bidi.mirror import MIRRORED

from fireflyassets.twin.fonts import Face

_STRONG: Final = {"L": False, "R": True, "AL": True}
_INVISIBLE: Final = frozenset({"Cf", "Cc"})
_BREAK_AFTER_DASH: Final = re.compile(r"(?<=\w[-\u2013\u2014])(?=\w)")
_CHANCES: Final = re.compile("([ \u200b]+)")
_LINE_ENDS: Final = re.compile("\r\n|[\r\n\x03\u2028\u2029]")


_MARKER: Final = "\ufe00"
_MIRRORED: Final = MIRRORED


class _Reshaper(Protocol):
    def reshape(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character with the font that draws it."""

    character: str
    face: Face


def paragraphs(text: str) -> list[str]:
    """Split *text* at its line ends; Photoshop writes a carriage return or ETX."""
    composed = unicodedata.normalize("NFC", text.replace("\t", " "))
    return _LINE_ENDS.split(composed)


def is_right_to_left(text: str) -> bool:
    """Say which way a paragraph reads: its first letter with a direction decides."""
    for character in text:
        direction = _STRONG.get(unicodedata.bidirectional(character))
        if direction is not None:
            return direction
    return False


def breakable(text: str) -> list[str]:
    """Split *text* into words and the chances to break between them, alternating.

    A chance is white space, or empty after a dash inside a word. A no-break space is none.
    """
    chances = _BREAK_AFTER_DASH.sub("\u200b", text.strip(" "))
    return [part.replace("\u200b", "") for part in _CHANCES.split(chances)]


def visual(line: str, *, right_to_left: bool) -> str:
    """Return the characters of one line as they stand from left to right, Arabic joined."""
    joined = _reshaper().reshape(line.replace(_MARKER, ""))
    ordered = _ordered(joined, right_to_left=right_to_left)
    return "".join(each for each in ordered if unicodedata.category(each) not in _INVISIBLE)


def _ordered(line: str, *, right_to_left: bool) -> str:
    """Put a line's characters in visual order, brackets mirrored where they read from the right.

    The bidi package orders but does not mirror. A mark put behind each bracket follows it
    everywhere (it is a non-spacing mark, rules W1 and N0 of UAX #9), and ends up before those
    that were turned round.
    """
    brackets, marked = _brackets()
    text = brackets.sub(lambda found: found[0] + _MARKER, line)
    shown = cast("str", bidi.get_display(text, base_dir="R" if right_to_left else "L"))
    return marked.sub(lambda found: _MIRRORED[found[1]] if found[1] else found[2], shown)


@cache
def _brackets() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds brackets, and what finds them with the marker before or behind."""
    bracket = f"[{re.escape(''.join(_MIRRORED))}]"
    marked = f"{_MARKER}({bracket})|({bracket}){_MARKER}"
    return re.compile(bracket), re.compile(marked)


def glyphs(characters: str, chain: Iterable[Face], *, right_to_left: bool) -> Iterator[Glyph]:
    """Yield each character with the first font of *chain* that has it; all must have one.

    In a text that reads from the right, spaces and punctuation come from the stand-in fonts,
    since those go with the Arabic letters beside them.
    """
    main, *others = chain
    for character in characters:
        neutral = unicodedata.category(character)[0] in "PZS"
        faces = [*others, main] if right_to_left and neutral else [main, *others]
        yield Glyph(character, next(face for face in faces if face.has(character)))


@cache
def _reshaper() -> _Reshaper:
    """Return the joiner of Arabic letters; vowel marks stay, since they are part of the copy."""
    return cast("_Reshaper", arabic_reshaper.ArabicReshaper({"delete_harakat": False}))
