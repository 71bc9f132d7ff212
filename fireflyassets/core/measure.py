"""A text measured as one line, letter by letter, from the fonts that draw it.

Belongs here: which font draws which letter, its advance, kerning and tracking. Does not: lines
and boxes (``core/typesetting.py``), reading fonts (``adapters/font_file.py``).
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from fireflyassets.core import arabic
from fireflyassets.core.font import Font, Metrics
from fireflyassets.core.text_style import TextStyle

_UNSEEN: Final = frozenset({"Cf", "Cc"})
_SELECTOR: Final = "\ufe00"
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_BEH: Final = "\u0628"
"""A letter that joins: a font that has it is not spaced out, which would tear letters apart."""


def is_seen(letter: str) -> bool:
    """Say whether a letter takes ink or room at all."""
    return letter != _SELECTOR and unicodedata.category(letter) not in _UNSEEN


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """A text measured as one line, in ems."""

    text: str
    starts: Sequence[float]
    """Where each letter of the text begins; one more for the end."""
    trails: Sequence[float]
    """What each letter gives to the next one (kerning, tracking) and loses at a line's end."""
    height: float

    def width(self, start: int, end: int) -> float:
        """Return the width of a piece of the text."""
        return self.starts[end] - self.starts[start] - (self.trails[end - 1] if end else 0.0)

    @classmethod
    def of(cls, text: str, style: TextStyle, fonts: Sequence[tuple[Font, Metrics]]) -> Self:
        """Measure *text*, each letter by the first font that draws it."""
        forms = arabic.joined(text)
        turned = style.of(text).right_to_left
        glyphs = [_glyph(form, fonts, turned=turned) for form in forms]
        both_ways = any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text)
        starts, trails = [0.0], list[float]()
        for index, glyph in enumerate(glyphs):
            if glyph is None:
                trails.append(trails[-1] if trails else 0.0)
                starts.append(starts[-1])
                continue
            follows = next((one for one in glyphs[index + 1 :] if one), None)
            trails.append(_trail(glyph, follows, style, both_ways=both_ways))
            starts.append(starts[-1] + glyph.advance + trails[-1])
        _, main = fonts[0]
        height = (main.ascent + main.descent) / main.units
        return cls(text, starts, trails, height)


@dataclass(frozen=True, slots=True)
class _Glyph:
    letters: str
    font: Font
    metrics: Metrics
    advance: float


def _glyph(form: str, fonts: Sequence[tuple[Font, Metrics]], *, turned: bool) -> _Glyph | None:
    """Return what draws a letter; where no font has its form, the plain letters it is made of.

    In a text from the right, spaces and marks come from the fonts that draw its letters.
    """
    if not form or not is_seen(form):
        return None
    neutral = turned and unicodedata.category(form)[0] in "PZS"
    ordered = [*fonts[1:], fonts[0]] if neutral else fonts
    for letters in (form, unicodedata.normalize("NFKC", form)):
        for font, metrics in ordered:
            if all(letter in metrics.advances for letter in letters):
                units = sum(metrics.advances[letter] for letter in letters)
                return _Glyph(letters, font, metrics, units / metrics.units)
    return None


def _trail(left: _Glyph, right: _Glyph | None, style: TextStyle, *, both_ways: bool) -> float:
    """Return the kerning and tracking behind a letter, in ems.

    Where a text has letters of both directions, their order is not worked out: a pair counts as
    wide as it may stand.
    """
    if right is None:
        return 0.0
    kerned = 0
    if left.font is right.font:
        kerned = _kerned(left, right)
        if both_ways:
            kerned = max(0, kerned, _kerned(right, left))
    joins = left.font.draws(_BEH)
    return kerned / left.metrics.units + (0.0 if joins else float(style.tracking) / 1000)


def _kerned(left: _Glyph, right: _Glyph) -> int:
    return left.metrics.kerning.get(left.letters, {}).get(right.letters, 0)
