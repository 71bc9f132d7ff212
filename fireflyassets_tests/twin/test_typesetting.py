"""Setting a text: what stands where on a line, and where a line may end."""

from itertools import pairwise
from typing import Any, cast

import pytest
from fontTools.ttLib import TTFont

from fireflyassets.twin import fonts, shaping, text
from fireflyassets.twin.refusals import TextOverflow
from fireflyassets.twin.text import Style
from fireflyassets_tests.readback import FONTS

PLAIN = Style(font="Outfit-Medium", size=40.0, leading=50.0)


@pytest.mark.parametrize("name", fonts.BUNDLED)
def test_font_tables_are_read_as_fonttools_reads_them(name: str) -> None:
    """Characters, advances and kerning agree with an independent reader."""
    face = fonts.face(name)
    assert face is not None
    with cast("Any", TTFont(FONTS / f"{name}.ttf")) as font:
        names: dict[int, str] = font.getBestCmap()
        advances: dict[str, int] = {
            glyph: metrics[0] for glyph, metrics in font["hmtx"].metrics.items()
        }
        em: int = font["head"].unitsPerEm
        pairs: dict[tuple[str, str], int] = (
            font["kern"].kernTables[0].kernTable if "kern" in font else {}
        )
        ascent: int = font["hhea"].ascent

    assert set(face.tables.glyphs) == set(names)
    assert all(face.advance(chr(point)) == advances[names[point]] / em for point in names)
    letters = [chr(point) for point in names if point < 0x180]
    assert all(
        face.kerning(left, right) == pairs.get((names[ord(left)], names[ord(right)]), 0) / em
        for left, right in pairwise(letters)
    )
    assert face.ascent == ascent / em


def test_every_font_comes_with_its_licence() -> None:
    """Each family's licence text lies beside it, and all fonts together stay small."""
    files = [FONTS / f"{name}.ttf" for name in fonts.BUNDLED]

    assert sorted(FONTS.glob("*.ttf")) == sorted(files)
    assert sum(file.stat().st_size for file in files) < 1_500_000
    for name in fonts.BUNDLED:
        licence = (FONTS / f"OFL-{name.split('-')[0]}.txt").read_text(encoding="utf-8")
        assert "SIL OPEN FONT LICENSE Version 1.1" in licence


def test_arabic_letters_join_and_stand_from_right_to_left() -> None:
    """The word for spring: yeh, beh and ain change their forms, and the first letter is last."""
    assert shaping.visual("ربيع", right_to_left=True) == "\ufeca\ufef4\ufe91\ufead"


@pytest.mark.parametrize(
    ("line", "right_to_left", "shown"),
    [
        ("Acme (neu)", False, "Acme (neu)"),
        ("ab (x) \u05d0\u05d1", True, "\u05d1\u05d0 ab (x)"),
        ("\u05d0\u05d1 (\u05d2\u05d3) x", True, "x (\u05d3\u05d2) \u05d1\u05d0"),
        ("\u05d0\u05d1 (\u05d2\u05d3) x", False, "(\u05d3\u05d2) \u05d1\u05d0 x"),
        ("\u05d0 25% \u05d1!", True, "!\u05d1 25% \u05d0"),
    ],
)
def test_brackets_open_towards_the_reader(line: str, right_to_left: bool, shown: str) -> None:  # noqa: FBT001 - a table's column
    """Brackets pair up and are mirrored where their text runs from the right."""
    assert shaping.visual(line, right_to_left=right_to_left) == shown


def test_vowel_marks_are_kept_and_invisible_marks_dropped() -> None:
    """Tashkeel is part of the copy; direction marks, soft hyphens and joiners are not drawn."""
    assert "\u064e" in shaping.visual("\u0642\u064e", right_to_left=True)
    assert shaping.visual("A\u200f\u00ad\u2060B", right_to_left=False) == "AB"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("one two", ["one", " ", "two"]),
        ("off-white", ["off-", "", "white"]),
        ("10\u00a0% now", ["10\u00a0%", " ", "now"]),
        ("a - b", ["a", " ", "-", " ", "b"]),
        ("", [""]),
    ],
)
def test_line_breaks_at_spaces_and_after_dashes(words: str, parts: list[str]) -> None:
    assert shaping.breakable(words) == parts


@pytest.mark.parametrize(("align", "left", "right"), [("left", 0, 0), ("right", 1, 1)])
def test_line_stands_at_the_side_that_its_layer_says(align: str, left: int, right: int) -> None:
    """Flush left begins at the box's left edge, flush right ends at its right edge."""
    style = Style(font="Outfit-Medium", size=40.0, leading=50.0, align=align)  # pyright: ignore[reportArgumentType] - a table's column
    ink = text.draw("HH", style, (400.0, 60.0))
    box = ink.mask.getbbox()

    assert box is not None
    edge = box[2] - ink.origin[0] - 400 if right else box[0] - ink.origin[0]
    assert abs(edge) < 6
    assert (box[0] - ink.origin[0] > 200) == bool(left)


def test_centred_line_has_the_same_room_on_both_sides() -> None:
    style = Style(font="Outfit-Medium", size=40.0, leading=50.0, align="center")
    ink = text.draw("HH", style, (400.0, 60.0))
    box = ink.mask.getbbox()

    assert box is not None
    assert abs((box[0] - ink.origin[0]) - (400 - (box[2] - ink.origin[0]))) <= 2


def test_tracking_spreads_latin_and_leaves_arabic_joined() -> None:
    """Spaced-out Arabic would fall apart."""
    loose = Style(font="Outfit-Medium", size=40.0, leading=50.0, tracking=0.5)

    def width(words: str, style: Style) -> int:
        box = text.draw(words, style, (900.0, 90.0)).mask.getbbox()
        assert box is not None
        return box[2] - box[0]

    assert width("HHHH", loose) == pytest.approx(width("HHHH", PLAIN) + 60, abs=2)
    assert width("ربيع", loose) == width("ربيع", PLAIN)


def test_capitals_are_set_where_the_layer_says_so() -> None:
    """A layer in capitals shows small letters as large ones."""
    capitals = Style(font="Outfit-Medium", size=40.0, leading=50.0, capitals=True)

    shown = text.draw("straße", capitals, (400.0, 60.0)).mask

    assert shown.tobytes() == text.draw("STRASSE", PLAIN, (400.0, 60.0)).mask.tobytes()


@pytest.mark.parametrize("words", ["", " ", "\n"])
def test_empty_text_leaves_its_frame_empty(words: str) -> None:
    assert text.draw(words, PLAIN, (400.0, 160.0)).mask.getbbox() is None


def test_endless_text_is_refused_at_once() -> None:
    with pytest.raises(TextOverflow, match="5000"):
        text.draw("a " * 100_000, PLAIN, (400.0, 60.0))
