"""What a TrueType file says that Pillow does not pass on: its characters and its measures.

Belongs here: reading the tables of the bundled fonts. Does not: drawing, or which fonts there
are. Without a shaping engine Pillow rounds advances and kerns nothing, and it draws a box for a
character that a font lacks; all three are decided from these tables instead. Source: the
OpenType specification 1.9, tables cmap (format 4 and 12), head, hhea, hmtx, kern (format 0).
"""

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tables:
    """A font's glyph per character, its measures per glyph, all in font units."""

    glyphs: dict[int, int]
    advances: tuple[int, ...]
    """Per glyph; the last one holds for all glyphs after it."""
    kerning: dict[tuple[int, int], int]
    ascent: int
    descent: int
    units_per_em: int


def read(font: bytes) -> Tables:
    """Return the tables of a TrueType *font*, one of our own: it is trusted to be sound."""
    (count,) = struct.unpack_from(">H", font, 4)
    places: dict[bytes, int] = {}
    for index in range(count):
        tag, _, offset, _ = struct.unpack_from(">4sIII", font, 12 + 16 * index)
        places[tag] = offset
    (units,) = struct.unpack_from(">H", font, places[b"head"] + 18)
    ascent, descent = struct.unpack_from(">hh", font, places[b"hhea"] + 4)
    (metrics,) = struct.unpack_from(">H", font, places[b"hhea"] + 34)
    pairs = struct.unpack_from(f">{2 * metrics}H", font, places[b"hmtx"])
    return Tables(
        glyphs=_glyphs(font, places[b"cmap"]),
        advances=pairs[::2],
        kerning=_kerning(font, places[b"kern"]) if b"kern" in places else {},
        ascent=ascent,
        descent=-descent,
        units_per_em=units,
    )


def _glyphs(font: bytes, at: int) -> dict[int, int]:
    """Return code point -> glyph of the widest Unicode subtable at *at*."""
    (count,) = struct.unpack_from(">H", font, at + 2)
    offsets = {struct.unpack_from(">HHI", font, at + 4 + 8 * index)[2] for index in range(count)}
    formats = {struct.unpack_from(">H", font, at + offset)[0]: at + offset for offset in offsets}
    glyphs = _segments(font, formats[4])
    wide = formats.get(12)
    return glyphs if wide is None else glyphs | _groups(font, wide)


def _segments(font: bytes, at: int) -> dict[int, int]:
    """Read a `cmap` subtable of format 4: runs of 16-bit code points."""
    (double,) = struct.unpack_from(">H", font, at + 6)
    count = double // 2
    ends = struct.unpack_from(f">{count}H", font, at + 14)
    starts = struct.unpack_from(f">{count}H", font, at + 16 + double)
    deltas = struct.unpack_from(f">{count}H", font, at + 16 + 2 * double)
    ranges_at = at + 16 + 3 * double
    glyphs: dict[int, int] = {}
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own = ranges_at + 2 * index
        (offset,) = struct.unpack_from(">H", font, own)
        for point in range(start, min(end, 0xFFFE) + 1):
            glyph = point
            if offset:
                (glyph,) = struct.unpack_from(">H", font, own + offset + 2 * (point - start))
            if glyph or not offset:
                glyphs[point] = (glyph + deltas[index]) & 0xFFFF
    return {point: glyph for point, glyph in glyphs.items() if glyph}


def _groups(font: bytes, at: int) -> dict[int, int]:
    """Read a `cmap` subtable of format 12: runs of 32-bit code points."""
    (count,) = struct.unpack_from(">I", font, at + 12)
    glyphs: dict[int, int] = {}
    for index in range(count):
        start, end, first = struct.unpack_from(">III", font, at + 16 + 12 * index)
        glyphs.update((point, first + point - start) for point in range(start, end + 1))
    return glyphs


def _kerning(font: bytes, at: int) -> dict[tuple[int, int], int]:
    """Return (left glyph, right glyph) -> font units of the first `kern` subtable."""
    (count,) = struct.unpack_from(">H", font, at + 10)
    triples = struct.iter_unpack(">HHh", font[at + 18 : at + 18 + 6 * count])
    return {(left, right): units for left, right, units in triples}
