"""Cut the bundled fonts out of their npm packages: a development-time script.

Belongs here: which glyphs the twin carries, and how they are cut. Does not: reading
fonts at run time (the package beside it), licences (the text files). Needs fontTools
and a folder into which `npm install` put the packages that the README names:

    python build_fonts.py <folder>/node_modules

Layout tables are dropped, since the twin draws without a shaping engine; pair kerning
is kept by flattening it into the older `kern` table, which FreeType reads by itself.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont, newTable
from fontTools.ttLib.tables._k_e_r_n import KernTable_format_0

Font = Any
"""A TTFont; fontTools does not describe its tables to type checkers."""

HERE = Path(__file__).parent
LATIN = [
    *range(0x20, 0x7F),
    *range(0xA0, 0x180),
    0x2013,
    0x2014,
    0x2018,
    0x2019,
    0x201A,
    0x201C,
    0x201D,
    0x201E,
    0x2022,
    0x2026,
    0x2039,
    0x203A,
    0x20AC,
    0x2122,
    0x2212,
]
ARABIC = [0x20, 0xA0, *range(0x600, 0x700), *range(0xFB50, 0xFE00), *range(0xFE70, 0xFF00)]
# What neither the brand fonts nor the Arabic ones hold: Greek, Cyrillic, Vietnamese, symbols.
FALLBACK = [
    *LATIN,
    *range(0x180, 0x250),
    *range(0x300, 0x530),
    *range(0x1E00, 0x2000),
    *range(0x2000, 0x2070),
    *range(0x20A0, 0x20C1),
    *range(0x2100, 0x2150),
]
PAIR_ADJUSTMENT = 2  # The lookup type of pair kerning in GPOS.
SOURCES = {
    "Fraunces-SemiBold": ("fraunces/600SemiBold/Fraunces_600SemiBold.ttf", LATIN),
    "Outfit-Medium": ("outfit/500Medium/Outfit_500Medium.ttf", LATIN),
    "NotoSansArabic-Medium": ("noto-sans-arabic/500Medium/NotoSansArabic_500Medium.ttf", ARABIC),
    "NotoSansArabic-SemiBold": (
        "noto-sans-arabic/600SemiBold/NotoSansArabic_600SemiBold.ttf",
        ARABIC,
    ),
    "NotoSans-Medium": ("noto-sans/500Medium/NotoSans_500Medium.ttf", FALLBACK),
    "NotoSans-SemiBold": ("noto-sans/600SemiBold/NotoSans_600SemiBold.ttf", FALLBACK),
}


def main(modules: Path) -> None:
    """Write one TTF per source, named by its PostScript name."""
    for name, (package_path, points) in SOURCES.items():
        font: Font = TTFont(modules / "@expo-google-fonts" / package_path, recalcTimestamp=False)
        pairs = dict(_pairs(font, set(LATIN).intersection(points)))
        options = subset.Options(
            layout_features=[], name_IDs=["*"], notdef_outline=True, hinting=False
        )
        cutter: Any = subset.Subsetter(options)
        cutter.populate(unicodes=points)
        cutter.subset(font)
        for tag in ("GSUB", "GPOS", "GDEF", "STAT"):
            if tag in font:
                del font[tag]
        _add_kern(font, pairs)
        font.save(HERE / f"{name}.ttf")


def _pairs(font: Font, points: set[int]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield ((left, right), units) for the pairs of *points* that the font kerns."""
    cmap = font.getBestCmap()
    glyphs = [cmap[point] for point in sorted(points) if point in cmap]
    lookups = list(_pair_lookups(font))
    for left in glyphs:
        for right in glyphs:
            units = sum(_kerning(tables, left, right) for tables in lookups)
            if units:
                yield (left, right), units


def _pair_lookups(font: Font) -> Iterator[list[Any]]:
    """Yield the pair-positioning subtables of each lookup of the `kern` feature."""
    gpos = font["GPOS"].table
    indices = {
        index
        for record in gpos.FeatureList.FeatureRecord
        if record.FeatureTag == "kern"
        for index in record.Feature.LookupListIndex
    }
    for index in sorted(indices):
        tables = gpos.LookupList.Lookup[index].SubTable
        inner = [getattr(table, "ExtSubTable", table) for table in tables]
        yield [table for table in inner if table.LookupType == PAIR_ADJUSTMENT]


def _kerning(tables: list[Any], left: str, right: str) -> int:
    """Return the advance change between two glyphs; a lookup's first match decides."""
    for table in tables:
        if left not in table.Coverage.glyphs:
            continue
        if table.Format == 1:
            records = table.PairSet[table.Coverage.glyphs.index(left)].PairValueRecord
            found = [record.Value1 for record in records if record.SecondGlyph == right]
            if not found:
                continue
            value = found[0]
        else:
            first = table.ClassDef1.classDefs.get(left, 0)
            second = table.ClassDef2.classDefs.get(right, 0)
            value = table.Class1Record[first].Class2Record[second].Value1
        return getattr(value, "XAdvance", 0) if value else 0
    return 0


def _add_kern(font: Font, pairs: dict[tuple[str, str], int]) -> None:
    """Store *pairs* as a `kern` table, strongest first: its format holds 10,920 pairs."""
    if not pairs:
        return
    strongest = sorted(pairs.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:10_000]
    inner: Any = KernTable_format_0(apple=False)
    inner.coverage, inner.tupleIndex, inner.kernTable = 1, None, dict(strongest)
    table: Any = newTable("kern")
    table.version, table.kernTables = 0, [inner]
    font["kern"] = table


if __name__ == "__main__":
    main(Path(sys.argv[1]))
