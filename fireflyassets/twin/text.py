"""Set a text into a box: wrapped, aligned, drawn, or refused.

Belongs here: lines and places of glyphs, and the mask they make. Does not: which characters
(shaping), which fonts (fonts), where in a document a box stands (composite). Nothing is ever
shrunk or cut: a text that does not fit is an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil
from typing import Final, Literal

from PIL import Image, ImageChops, ImageDraw, ImageFont

from fireflyassets.twin import fonts, shaping
from fireflyassets.twin.refusals import MissingFont, MissingGlyphs, TextOverflow
from fireflyassets.twin.shaping import Glyph

Align = Literal["left", "right", "center"]

MAX_CHARACTERS: Final = 5_000
"""Far beyond any box; keeps a hostile text from taking minutes."""
_TOLERANCE: Final = 1.0
"""Pixels by which ink may pass the bottom of its box: one row of anti-aliasing."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a layer sets its text; sizes in pixels, tracking in ems."""

    font: str
    size: float
    leading: float
    align: Align = "left"
    tracking: float = 0.0
    capitals: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its glyphs from left to right, where each begins, and the whole width."""

    glyphs: tuple[Glyph, ...]
    starts: tuple[float, ...]
    width: float
    right_to_left: bool


@dataclass(frozen=True, slots=True)
class Ink:
    """A drawn text: its coverage, and where the box's corner lies inside the mask.

    For a text without a box the corner is where the first baseline begins (or ends, or has its
    middle, as the alignment says).
    """

    mask: Image.Image
    origin: tuple[int, int]


def chain(style: Style, *, missing_font: str) -> tuple[fonts.Face, ...]:
    """Return the fonts of a style: its own, then the stand-ins.

    Raises:
        MissingFont: The font is not bundled and *missing_font* is not ``use_default``.
    """
    own = fonts.face(style.font)
    if own is None and missing_font != "use_default":
        raise MissingFont(
            f"The font {style.font!r} is not available; use one of {', '.join(fonts.BUNDLED)}."
        )
    return (*(() if own is None else (own,)), *fonts.stand_ins(style.font))


def draw(
    text: str, style: Style, box: tuple[float, float] | None, *, missing_font: str = "fail"
) -> Ink:
    """Draw *text* into a *box* (width, height), or on one point's baseline without a box.

    Raises:
        MissingFont: The style's font is not bundled.
        MissingGlyphs: No font has one of the characters.
        TextOverflow: A word is wider than the box, or the lines are higher.
    """
    if len(text) > MAX_CHARACTERS:
        raise TextOverflow(f"The text has {len(text)} characters; at most {MAX_CHARACTERS} fit.")
    faces = chain(style, missing_font=missing_font)
    lines = list(_wrapped(text, style, faces, box[0] if box else None))
    if box is not None:
        _check_height(len(lines), style, faces, box[1])
    ink = _drawn(lines, style, faces, box)
    bottom = (ink.mask.getbbox() or (0, 0, 0, 0))[3]
    if box is not None and bottom > ink.origin[1] + box[1] + _TOLERANCE:
        raise TextOverflow(_too_high(len(lines), style, box[1]))
    return ink


def _wrapped(
    text: str, style: Style, faces: Sequence[fonts.Face], width: float | None
) -> Iterator[Line]:
    for paragraph in shaping.paragraphs(text.upper() if style.capitals else text):
        right_to_left = shaping.is_right_to_left(paragraph)
        words = shaping.breakable(paragraph)
        written = words[0]
        line = _line(written, style, faces, right_to_left=right_to_left)
        for chance, word in zip(words[1::2], words[2::2], strict=True):
            longer = _line(written + chance + word, style, faces, right_to_left=right_to_left)
            if width is None or longer.width <= width:
                written, line = written + chance + word, longer
                continue
            yield _narrow(line, style, width)
            written = word
            line = _line(written, style, faces, right_to_left=right_to_left)
        yield _narrow(line, style, width)


def _narrow(line: Line, style: Style, width: float | None) -> Line:
    if width is not None and line.width > width:
        raise TextOverflow(
            f"A word is {line.width:.0f} px wide at {style.size:g} px, but the layer's box is "
            f"{width:.0f} px; shorten it, or widen the box in the template."
        )
    return line


def _line(text: str, style: Style, faces: Sequence[fonts.Face], *, right_to_left: bool) -> Line:
    characters = shaping.visual(text, right_to_left=right_to_left)
    if lacking := fonts.missing(characters, faces):
        points = ", ".join(f"U+{ord(each):04X}" for each in lacking)
        raise MissingGlyphs(f"No available font can draw {points}; change the text.")
    glyphs = tuple(shaping.glyphs(characters, faces, right_to_left=right_to_left))
    starts = [0.0]
    for left, right in zip_longest(glyphs, glyphs[1:]):
        starts.append(starts[-1] + _advance(left, right, style))
    return Line(glyphs, tuple(starts[:-1]), starts[-1], right_to_left)


def _advance(left: Glyph, right: Glyph | None, style: Style) -> float:
    """Return the pixels from one glyph's start to the next one's."""
    width = left.face.advance(left.character)
    if right is not None and right.face is left.face:
        width += left.face.kerning(left.character, right.character)
    if right is not None and not left.face.joins:
        width += style.tracking
    return width * style.size


def _check_height(lines: int, style: Style, faces: Sequence[fonts.Face], height: float) -> None:
    main = faces[0]
    needed = (main.ascent + main.descent) * style.size + (lines - 1) * style.leading
    if needed > height + _TOLERANCE:
        raise TextOverflow(_too_high(lines, style, height))


def _too_high(lines: int, style: Style, height: float) -> str:
    return (
        f"The text takes {lines} line(s) of {style.leading:g} px, but the layer's box is "
        f"{height:.0f} px high; shorten it, or enlarge the box in the template."
    )


def _drawn(
    lines: Sequence[Line],
    style: Style,
    faces: Sequence[fonts.Face],
    box: tuple[float, float] | None,
) -> Ink:
    """Draw the lines with an em of room on each side, so that no accent or swash is cut."""
    room = ceil(style.size)
    widest = max(line.width for line in lines)
    width = widest if box is None else box[0]
    height = style.leading * len(lines) if box is None else box[1]
    mask = Image.new("L", (ceil(width) + 2 * room, ceil(height) + 2 * room))
    first = room + (0.0 if box is None else faces[0].ascent * style.size)
    sized = {face.name: face.at(style.size) for face in faces}
    for index, line in enumerate(lines):
        start = room + _indent(line, style.align, width)
        for glyph, offset in zip(line.glyphs, line.starts, strict=True):
            place = (start + offset, first + index * style.leading)
            _add(mask, glyph.character, sized[glyph.face.name], place)
    corner = 0.0 if box is not None else {"left": 0.0, "right": 1.0, "center": 0.5}[style.align]
    return Ink(mask, (room + round(corner * width), room))


def _indent(line: Line, align: Align, width: float) -> float:
    """Return the pixels before a line; one that reads from the right starts at the right."""
    if align == "center":
        return (width - line.width) / 2
    return width - line.width if align == "right" or line.right_to_left else 0.0


def _add(
    mask: Image.Image, character: str, font: ImageFont.FreeTypeFont, place: tuple[float, float]
) -> None:
    """Add one glyph's coverage, its baseline beginning at *place*.

    Added, not painted over: letters that join would else show a seam where their edges meet.
    """
    left, top, right, bottom = (int(edge) for edge in font.getbbox(character, anchor="ls"))
    x, y = int(place[0]), int(place[1])
    area = (x + left - 1, y + top - 1, x + right + 2, y + bottom + 2)
    glyph = Image.new("L", (area[2] - area[0], area[3] - area[1]))
    at = (place[0] - area[0], place[1] - area[1])
    ImageDraw.Draw(glyph).text(at, character, fill=255, font=font, anchor="ls")
    mask.paste(ImageChops.add(mask.crop(area), glyph), area[:2])
