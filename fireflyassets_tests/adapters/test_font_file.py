"""Font files: read as the values that texts are measured with, broken ones refused."""

import pytest

from fireflyassets.adapters import font_file
from fireflyassets.twin import fonts
from fireflyassets_tests.adapters.project_folder import DEMO

FRAUNCES = (DEMO / "fonts" / "Fraunces-SemiBold.ttf").read_bytes()


@pytest.mark.parametrize("name", fonts.BUNDLED)
def test_measures_are_those_of_the_file(name: str) -> None:
    """Name, characters, widths and kerning as the twin's own reader finds them."""
    face = fonts.face(name)
    assert face is not None

    font = font_file.read(face.content)

    assert font.name == name
    assert font.metrics is not None
    metrics = font.metrics
    assert {ord(letter) for letter in metrics.advances} == set(face.tables.glyphs)
    assert all(
        metrics.advances[letter] / metrics.units == face.advance(letter)
        for letter in metrics.advances
    )
    assert all(
        units / metrics.units == face.kerning(left, right)
        for left, pairs in metrics.kerning.items()
        for right, units in pairs.items()
    )
    assert (metrics.ascent, metrics.descent) == (face.tables.ascent, face.tables.descent)
    assert font.draws("a") == face.has("a")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n", b"<svg/>"])
def test_what_is_no_font_is_said_so(content: bytes) -> None:
    with pytest.raises(font_file.UnreadableFont, match="no TrueType or OpenType font"):
        font_file.read(content)


@pytest.mark.parametrize("length", [4, 40, 300, 2_000, 40_000])
def test_a_font_that_was_cut_off_is_refused(length: int) -> None:
    """A copy that ends early must not pass as a font with fewer letters."""
    with pytest.raises(font_file.UnreadableFont, match="broken or cut off"):
        font_file.read(FRAUNCES[:length])


def test_no_broken_byte_escapes_the_one_error() -> None:
    """Whatever a table holds, it is the font's fault and not a crash."""
    for at in range(0, 2_000, 7):
        broken = bytearray(FRAUNCES)
        broken[at : at + 4] = b"\xff\xff\xff\xff"
        try:
            font_file.read(bytes(broken))
        except font_file.UnreadableFont:
            continue


def test_the_sample_has_the_fonts_that_the_twin_draws_with() -> None:
    """Else it would be measured by one font and drawn in another."""
    for path in (DEMO / "fonts").glob("*.ttf"):
        face = fonts.face(path.stem)
        assert face is not None
        assert face.content == path.read_bytes()
