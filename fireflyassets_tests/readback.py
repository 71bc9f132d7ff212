"""Reading a text back from a picture, to prove that a person could.

Here: where a PSD puts a text, and whether a picture shows given words there, glyph by glyph. Not
here: anything of the renderer under test. Words are drawn anew with the bundled fonts and the
general libraries, one glyph after the other, and compared by their ink: an empty area, boxes for
missing glyphs, Arabic left unjoined and any other words do not match.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import arabic_reshaper
import numpy as np
import numpy.typing as npt
from bidi.algorithm import get_display
from fontTools.ttLib import TTFont
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from psd_tools import PSDImage
from psd_tools.api.layers import TypeLayer
from psd_tools.psd import PSD

Ink = npt.NDArray[np.float64]

FONTS = Path(__file__).parents[1] / "fireflyassets" / "twin" / "fonts"
STAND_INS = ("NotoSans-SemiBold", "NotoSansArabic-SemiBold")
HALF = 0.5

FAINT = 0.25
"""Share of the ink's colour below which a pixel is ground: a tinted paper, JPEG noise."""
WIDTH_SLACK = 0.01
"""How much a line's width may differ."""
STRAY = 0.003
"""Ink (square ems) that a glyph may lack or have too much: the right one has none or a speck, a
lost dot of Arabic or German 0.01, another letter 0.02 and more."""
NEAR = 0.025
"""Ems round ink that count as the same place: blurred edges, places rounded to pixels."""
REACH = 4
"""Pixels by which ink may stand beside its box: a swash."""
SHIFTS = (0, -1, 1, -2, 2)
"""Pixels by which a glyph may stand aside."""
ABOVE, BELOW = 0.62, 0.25
"""Ems round a baseline into which no neighbouring line reaches."""


@dataclass(frozen=True, slots=True)
class TextArea:
    """Where and how a text is set: a box in pixels of the picture, type size, colour, font."""

    box: tuple[int, int, int, int]
    size: float
    leading: float
    colour: tuple[int, int, int]
    font: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Whether the words were found; the worst glyph's stray ink in square ems; what is wrong."""

    matches: bool
    stray: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line in the ink: its baseline's row, and the columns from its first to its last ink."""

    baseline: int
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line drawn anew: its ink, each glyph with its columns, and where it meets a `Line`."""

    ink: Ink
    glyphs: tuple[tuple[str, int, int], ...]
    line: Line


def area_of(document: bytes, layer: str, *, scale: float = 1.0) -> TextArea:
    """Return where *document* (a PSD) sets its text *layer*; *scale* is picture to canvas."""
    psd = PSDImage(PSD.read(BytesIO(document)))
    found = next(each for each in psd.descendants() if each.name == layer)
    assert isinstance(found, TypeLayer), f"{layer} is no text layer"
    style = next(iter(next(iter(found.typesetting)))).style
    shape = found.engine_dict["Rendered"]["Shapes"]["Children"][0]
    left, top, right, bottom = (float(edge) for edge in shape["Cookie"]["Photoshop"]["BoxBounds"])
    x, y = found.transform[4], found.transform[5]
    red, green, blue = (round(part * 255) for part in (style.fill_color or (1, 0, 0, 0))[1:])
    edges = (x + left, y + top, x + right, y + bottom)
    a, b, c, d = (round(edge * scale) for edge in edges)
    return TextArea(
        (a, b, c, d),
        style.font_size * scale,
        style.leading * scale,
        (red, green, blue),
        style.font_name,
    )


def read(image: Image.Image, area: TextArea, words: str) -> Reading:
    """Say whether *image* shows exactly *words* in *area*, in their order, on any lines."""
    ink = _ink(image, area)
    expected = words.split()
    worst = Reading(matches=True, stray=0.0)
    for line in _lines(ink, area):
        drawings = [
            _drawn(_visual(expected[:count], words), area) for count in range(1, len(expected) + 1)
        ]
        if not drawings:
            return _unlike("there are more lines than words")
        width = line.right - line.left
        misses = [abs(each.line.right - each.line.left - width) for each in drawings]
        count = misses.index(min(misses)) + 1
        reading = _compare(drawings[count - 1], ink, line, area.size)
        worst = max(worst, reading, key=lambda each: each.stray)
        expected = expected[count:]
    return _unlike(f"{len(expected)} word(s) are not there") if expected else worst


def _unlike(reason: str) -> Reading:
    return Reading(matches=False, stray=1.0, reason=reason)


def _ink(image: Image.Image, area: TextArea) -> Ink:
    """Return the share of ink (0..1) of each pixel of the area, with an em of room all round."""
    left, top, right, bottom = area.box
    room = round(area.size)
    pixels = np.asarray(
        image.convert("RGB").crop((left - room, top - room, right + room, bottom + room)),
        dtype=np.float64,
    )
    inside = pixels[room:-room, room:-room]
    ground = np.median(inside.reshape(-1, 3), axis=0)
    way = np.array(area.colour, dtype=np.float64) - ground
    share = ((pixels - ground) @ way) / max(float(way @ way), 1.0)
    share[:, : room - REACH] = share[:, room + right - left + REACH :] = 0.0
    share[share < FAINT] = 0.0
    return np.clip(share, 0.0, 1.0)


def _lines(ink: Ink, area: TextArea) -> Iterator[Line]:
    """Yield the lines from the top, by the ink that stands clear of neighbouring lines."""
    room, size = round(area.size), area.size
    first = room + _face(area.font).ascent * size
    for index in range(int((ink.shape[0] - room - first) // area.leading) + 1):
        line = _line(ink, round(first + index * area.leading), size)
        if line is None:
            return
        yield line


def _line(ink: Ink, baseline: int, size: float) -> Line | None:
    band = ink[baseline - round(size * ABOVE) : baseline + round(size * BELOW)]
    columns = np.flatnonzero(band.any(axis=0))
    return Line(baseline, int(columns[0]), int(columns[-1]) + 1) if columns.size else None


def _visual(logical: Sequence[str], text: str) -> str:
    """Return a line as it stands from left to right, Arabic joined."""
    joined = arabic_reshaper.ArabicReshaper({"delete_harakat": False}).reshape(" ".join(logical))
    return cast("str", get_display(joined, base_dir="R" if _reads_from_right(text) else "L"))


def _reads_from_right(text: str) -> bool:
    return any("\u0590" <= letter <= "\u08ff" or letter >= "\ufb1d" for letter in text)


def _compare(drawn: Drawn, ink: Ink, line: Line, size: float) -> Reading:
    """Compare a drawn line with the ink on *line*; the worst glyph decides."""
    width, wanted = line.right - line.left, drawn.line.right - drawn.line.left
    if abs(width - wanted) > max(4.0, wanted * WIDTH_SLACK):
        return _unlike(f"a line is {width} px wide instead of {wanted}")
    left, top = line.left - drawn.line.left, line.baseline - drawn.line.baseline
    worst = Reading(matches=True, stray=0.0)
    for glyph, start, end in drawn.glyphs:
        cell = drawn.ink[:, max(0, start) : end]
        stray = _stray(cell, ink, (left + start, top), round(size * NEAR)) / size**2
        if stray > worst.stray:
            alike = stray <= STRAY
            reason = "" if alike else f"{glyph!a} is not alike"
            worst = Reading(alike, stray, reason)
    return worst


def _stray(glyph: Ink, ink: Ink, place: tuple[int, int], near: int) -> float:
    """Return the pixels of a glyph that find no ink near, and the other way, where it fits best."""
    height, width = glyph.shape
    best = float(glyph.size)
    for x in SHIFTS:
        for y in SHIFTS:
            left, top = place[0] + x, place[1] + y
            other = ink[top : top + height, left : left + width]
            if other.shape != glyph.shape:
                continue
            lacking = (glyph > HALF) & ~_spread(other > HALF, near)
            too_much = (other > HALF) & ~_spread(glyph > HALF, near)
            best = min(best, float(lacking.sum() + too_much.sum()))
    return best


def _spread(ink: npt.NDArray[np.bool_], near: int) -> npt.NDArray[np.bool_]:
    """Return *ink* grown by *near* pixels to all sides."""
    grown = Image.fromarray(ink.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(2 * near + 1))
    return np.asarray(grown) > 0


@dataclass(frozen=True, slots=True)
class Face:
    """A bundled font as its own tables say: characters, advances and kerning in ems."""

    path: Path
    names: Mapping[int, str]
    advances: Mapping[str, float]
    kerning: Mapping[tuple[str, str], float]
    ascent: float


@cache
def _face(name: str) -> Face:
    path = FONTS / f"{name}.ttf"
    with cast("Any", TTFont(path)) as font:
        em = font["head"].unitsPerEm
        pairs: dict[tuple[str, str], int] = (
            font["kern"].kernTables[0].kernTable if "kern" in font else {}
        )
        return Face(
            path,
            dict(font.getBestCmap()),
            {glyph: metrics[0] / em for glyph, metrics in font["hmtx"].metrics.items()},
            {pair: units / em for pair, units in pairs.items()},
            font["hhea"].ascent / em,
        )


def _drawn(shown: str, area: TextArea) -> Drawn:
    """Draw a line anew, glyph by glyph, each with the first font that has it."""
    room = round(area.size)
    canvas = Image.new("L", (room * (len(shown) + 2), room * 3))
    baseline = room * 2
    x = float(room)
    glyphs: list[tuple[str, int, int]] = []
    before: tuple[Face, str] | None = None
    for glyph in shown:
        face = _face_of(glyph, shown, area)
        name = face.names[ord(glyph)]
        if before is not None and before[0] is face:
            x += face.kerning.get((before[1], name), 0.0) * area.size
        ink = _glyph(face, glyph, canvas.size, (x, baseline), area.size)
        columns = np.flatnonzero(np.asarray(ink).any(axis=0))
        if columns.size:
            glyphs.append((glyph, int(columns[0]), int(columns[-1]) + 1))
            canvas = ImageChops.add(canvas, ink)
        x += face.advances[name] * area.size
        before = (face, name)
    return _finished(np.asarray(canvas, dtype=np.float64) / 255, glyphs, baseline, area.size)


def _finished(
    ink: Ink, glyphs: Sequence[tuple[str, int, int]], baseline: int, size: float
) -> Drawn:
    line = _line(ink, baseline, size)
    assert line is not None, "nothing to see in these words"
    rows = np.flatnonzero(ink.any(axis=1))
    top = int(rows[0])
    band = ink[top : int(rows[-1]) + 1]
    return Drawn(band, tuple(glyphs), Line(baseline - top, line.left, line.right))


def _glyph(
    face: Face, glyph: str, canvas: tuple[int, int], place: tuple[float, float], size: float
) -> Image.Image:
    font = ImageFont.truetype(str(face.path), size, layout_engine=ImageFont.Layout.BASIC)
    layer = Image.new("L", canvas)
    ImageDraw.Draw(layer).text(place, glyph, fill=255, font=font, anchor="ls")
    return layer


def _face_of(glyph: str, shown: str, area: TextArea) -> Face:
    """Return the font of a glyph: the area's own first, but last for signs among Arabic."""
    names = (area.font, *STAND_INS)
    if _reads_from_right(shown) and not glyph.isalnum():
        names = (*STAND_INS, area.font)
    return next(each for each in map(_face, names) if ord(glyph) in each.names)
