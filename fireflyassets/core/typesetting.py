"""Typesetting: whether a text can be set into a layer, and how; decided before anything is paid.

Belongs here: missing characters, lines by measure or budget, the smaller type or the breaks that a
rule allows. Does not: reading fonts and documents (adapters), which texts a job has
(``core/copy_check.py``). What Photoshop would set otherwise by a hair is refused rather than paid.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, inf
from typing import Final

from fireflyassets.core.font import Font
from fireflyassets.core.measure import MeasuredLine, is_seen
from fireflyassets.core.text_rule import Fit, TextFrame, TextRule
from fireflyassets.core.text_style import TextStyle

LINE_END: Final = "\r"
"""What Photoshop itself writes between paragraphs."""
_AUTO_LEADING: Final = 1.2
_TOLERANCE: Final = 1.0
"""Pixels by which lines may pass the bottom of their box: one row of anti-aliasing."""
_HAIR: Final = 1e-9
"""Ems that a sum of fractions may be off."""
_CHANCES: Final = re.compile(" +|(?<=\\w[-\u2013\u2014])(?=\\w)")
_MOST_NAMED: Final = 12


@dataclass(frozen=True, slots=True)
class Setting:
    """How a text is set."""

    words: str
    """With the breaks that the rule asks for."""
    percent: int = 100
    """Of the declared size and leading."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a text can't be set, and how its writer mends it."""

    rule: str
    what: str
    fix: str


def fit(words: str, frame: TextFrame, locale: str, fonts: Mapping[str, Font]) -> Setting | Misfit:
    """Return how *words* are set into *frame*; by the budget alone where a font is not known."""
    rule = frame.rules.get(locale)
    if rule is None:
        return Setting(words)
    if len(words) > rule.most:
        what = f"it has {len(words)} code points, and at most {rule.most} fit"
        return Misfit("budget", what, f"Shorten it by {len(words) - rule.most}.")
    names = dict.fromkeys(rule.fonts or (frame.style.font,))
    known = [fonts[name] for name in names if name in fonts]
    return (
        _by_budget(words, rule) if len(known) < len(names) else _by_fonts(words, frame, rule, known)
    )


def _by_fonts(
    words: str, frame: TextFrame, rule: TextRule, known: Sequence[Font]
) -> Setting | Misfit:
    text = _shown(words, frame.style)
    if lacking := _lacking(text, known):
        return Misfit("glyphs", f"no font of it draws {_named(lacking)}", _OTHER_WORDS)
    measured = [(font, font.metrics) for font in known if font.metrics is not None]
    if len(measured) < len(known) or (frame.size is None and rule.fit is Fit.LINES):
        return _by_budget(words, rule)
    told = _by_measure(MeasuredLine.of(text, frame.style, measured), frame, rule)
    if isinstance(told, Misfit) or rule.fit is Fit.LINES:
        return told
    return replace(told, words=words)


# -- characters -------------------------------------------------------------------------------
_OTHER_WORDS: Final = "Write it without them, or in letters that the locale's fonts have."


def _shown(words: str, style: TextStyle) -> str:
    """Return the letters that are set for *words*."""
    text = unicodedata.normalize("NFC", words).strip(" ")
    return text.upper() if style.capitals == "all_caps" else text


def _lacking(text: str, fonts: Sequence[Font]) -> tuple[str, ...]:
    """Return the characters that no font draws, each once."""
    return tuple(
        dict.fromkeys(
            letter
            for letter in text
            if is_seen(letter) and not any(font.draws(letter) for font in fonts)
        )
    )


def _named(characters: Sequence[str]) -> str:
    named = ", ".join(f"{one!r} (U+{ord(one):04X})" for one in characters[:_MOST_NAMED])
    more = len(characters) - _MOST_NAMED
    return named if more <= 0 else f"{named} and {more} more"


# -- lines ------------------------------------------------------------------------------------
Span = tuple[int, int]
"""Where a piece of a text begins and ends."""


def _pieces(text: str) -> list[Span]:
    """Return the words of *text*; a line may end between any two."""
    ends = [(0, 0), *(found.span() for found in _CHANCES.finditer(text)), (len(text), len(text))]
    return [(left[1], right[0]) for left, right in pairwise(ends)]


def _lines(words: Sequence[Span], width: Callable[[int, int], float], limit: float) -> list[Span]:
    """Fill lines up to *limit* with as many words as they take, at least one each."""
    lines: list[Span] = []
    for start, end in words:
        if lines and width(lines[-1][0], end) <= limit:
            lines[-1] = (lines[-1][0], end)
        else:
            lines.append((start, end))
    return lines


def _by_budget(words: str, rule: TextRule) -> Setting | Misfit:
    """Set a text without measures: each code point takes its share of the budget."""
    if rule.fit is not Fit.LINES or rule.max_lines is None:
        return Setting(words, min(100, rule.budget * 100 // max(1, len(words))))
    text = words.strip(" ")
    limit = -(-rule.budget // rule.max_lines)
    lines = _lines(_pieces(text), lambda start, end: end - start, limit)
    if len(lines) > rule.max_lines or any(end - start > limit for start, end in lines):
        what = f"it does not break into {rule.max_lines} lines of {limit} code points"
        return Misfit("lines", what, "Shorten it, or use shorter words.")
    return Setting(LINE_END.join(text[start:end] for start, end in lines))


def _by_measure(line: MeasuredLine, frame: TextFrame, rule: TextRule) -> Setting | Misfit:
    """Set a text at the largest size that the rule allows and the box takes."""
    told = _at(100, line, frame, rule)
    for percent in range(99, (rule.shrink_to or 100) - 1, -1):
        if isinstance(told, Setting):
            break
        told = _at(percent, line, frame, rule)
    return told


def _at(percent: int, line: MeasuredLine, frame: TextFrame, rule: TextRule) -> Setting | Misfit:
    size = float(frame.style.size) * percent / 100
    leading = float(frame.style.leading or 0) * percent / 100 or size * _AUTO_LEADING
    width, height = frame.size or (inf, inf)
    limit = width / size + _HAIR
    lines = _lines(_pieces(line.text), line.width, limit)
    start, end = max(lines, key=lambda span: line.width(*span))
    if (wide := line.width(start, end)) > limit:
        return _too_wide(end - start, wide * size, width)
    most = min(rule.max_lines or inf, (height + _TOLERANCE - line.height * size) // leading + 1)
    if len(lines) > most:
        fitting = lines[int(most) - 1][1] if most >= 1 else 0
        what = f"it takes {len(lines)} lines of {width:.0f} px, and {max(0, most):.0f} fit"
        return Misfit("lines", what, f"Shorten it by about {len(line.text) - fitting} letters.")
    return Setting(LINE_END.join(line.text[start:end] for start, end in lines), percent)


def _too_wide(letters: int, wide: float, width: float) -> Misfit:
    excess = ceil(letters * (1 - width / wide))
    what = f"a word of {letters} letters is {wide:.0f} px wide, and a line {width:.0f} px"
    return Misfit("width", what, f"Use a shorter word, by about {excess} letters.")
