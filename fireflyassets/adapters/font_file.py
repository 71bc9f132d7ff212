"""Font files: a TrueType or OpenType file read into the values that texts are measured with.

Belongs here: the tables that say characters, advances and kerning; the file is not trusted.
Does not: setting text (``core/typesetting.py``); layout tables, whose ligatures and newer kerning
change a line by a little. Source: OpenType specification 1.9, tables cmap (format 4 and 12), head,
hhea, hmtx, kern (format 0), name.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from fireflyassets.core.errors import UnusableTemplate
from fireflyassets.core.font import Font, Metrics, ranges

SIZE_LIMIT: Final = 32 * 1024 * 1024
"""Bytes; fonts with all of China's characters take less."""
_KINDS: Final = (b"\0\1\0\0", b"OTTO", b"true")
_POSTSCRIPT_NAME: Final = 6
_MOST_GROUP: Final = 0x11000
_MALFORMED: Final = (struct.error, LookupError, ValueError, ZeroDivisionError)


class UnreadableFont(UnusableTemplate):
    """The bytes are no font that can be measured."""


def read(content: bytes) -> Font:
    """Return the font in *content*.

    Raises:
        UnreadableFont: No TrueType or OpenType file, or a broken one.
    """
    if content[:4] not in _KINDS:
        raise UnreadableFont("It is no TrueType or OpenType font; give a .ttf or .otf file.")
    try:
        return _font(content, _tables(content))
    except _MALFORMED as error:
        raise UnreadableFont("The font is broken or cut off; copy the whole file again.") from error


def _font(content: bytes, at: dict[bytes, int]) -> Font:
    (units,) = struct.unpack_from(">H", content, at[b"head"] + 18)
    ascent, descent = struct.unpack_from(">hh", content, at[b"hhea"] + 4)
    (count,) = struct.unpack_from(">H", content, at[b"hhea"] + 34)
    advances = struct.unpack_from(">" + "Hxx" * count, content, at[b"hmtx"])
    glyphs = _glyphs(content, at[b"cmap"])
    if not units or not glyphs:
        raise ValueError("nothing to measure")
    letters = {chr(point): glyph for point, glyph in sorted(glyphs.items())}
    metrics = Metrics(
        units,
        ascent,
        -descent,
        {letter: advances[min(glyph, count - 1)] for letter, glyph in letters.items()},
        _kerning(content, at[b"kern"], letters) if b"kern" in at else {},
    )
    return Font(_name(content, at[b"name"]), ranges(letters), metrics)


def _tables(content: bytes) -> dict[bytes, int]:
    (count,) = struct.unpack_from(">H", content, 4)
    rows = (struct.unpack_from(">4sIII", content, 12 + 16 * index) for index in range(count))
    return {tag: offset for tag, _, offset, _ in rows}


def _name(content: bytes, at: int) -> str:
    """Return the PostScript name, by which a document asks for the font."""
    count, strings = struct.unpack_from(">HH", content, at + 2)
    for index in range(count):
        row = struct.unpack_from(">6H", content, at + 6 + 12 * index)
        platform, _, _, kind, length, offset = row
        if kind == _POSTSCRIPT_NAME:
            start = at + strings + offset
            name = content[start : start + length]
            return name.decode("mac-roman" if platform == 1 else "utf-16-be")
    raise ValueError("no name")


def _glyphs(content: bytes, at: int) -> dict[int, int]:
    """Return code point -> glyph over all Unicode subtables."""
    (count,) = struct.unpack_from(">H", content, at + 2)
    found: dict[int, int] = {}
    for index in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", content, at + 4 + 8 * index)
        if platform == 0 or (platform, encoding) in {(3, 1), (3, 10)}:
            found.update(_subtable(content, at + offset))
    return {point: glyph for point, glyph in found.items() if glyph}


def _subtable(content: bytes, at: int) -> Iterator[tuple[int, int]]:
    (form,) = struct.unpack_from(">H", content, at)
    if form == 4:  # noqa: PLR2004 - the format's number.
        yield from _segments(content, at)
    elif form == 12:  # noqa: PLR2004 - the format's number.
        (count,) = struct.unpack_from(">I", content, at + 12)
        for index in range(count):
            start, end, first = struct.unpack_from(">III", content, at + 16 + 12 * index)
            if not start <= end < start + _MOST_GROUP:
                raise ValueError("an impossible group")
            yield from ((point, first + point - start) for point in range(start, end + 1))


def _segments(content: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of 16-bit code points of a subtable of format 4."""
    (double,) = struct.unpack_from(">H", content, at + 6)
    run = f">{double // 2}H"
    ends = struct.unpack_from(run, content, at + 14)
    starts = struct.unpack_from(run, content, at + 16 + double)
    deltas = struct.unpack_from(run, content, at + 16 + 2 * double)
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own = at + 16 + 3 * double + 2 * index
        (offset,) = struct.unpack_from(">H", content, own)
        for point in range(start, min(end, 0xFFFE) + 1):
            glyph = point
            if offset:
                (glyph,) = struct.unpack_from(">H", content, own + offset + 2 * (point - start))
            yield point, (glyph + deltas[index]) & 0xFFFF if glyph or not offset else 0


def _kerning(content: bytes, at: int, letters: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return the pairs of the first subtable, by the letters that their glyphs stand for."""
    (count,) = struct.unpack_from(">H", content, at + 10)
    named: defaultdict[int, list[str]] = defaultdict(list)
    for letter, glyph in letters.items():
        named[glyph].append(letter)
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    triples: Iterable[tuple[int, int, int]] = struct.iter_unpack(
        ">HHh", content[at + 18 : at + 18 + 6 * count]
    )
    for left, right, units in triples:
        for one in named.get(left, ()):
            found[one].update(dict.fromkeys(named.get(right, ()), units))
    return dict(found)
