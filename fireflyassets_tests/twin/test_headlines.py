"""Headlines: read back from the pictures in every aspect and script, or refused by name."""

from io import BytesIO

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFont

from fireflyassets.twin.composite import (
    LayerEdit,
    MissingFont,
    MissingGlyphs,
    TextOverflow,
    render,
)
from fireflyassets_tests import readback
from fireflyassets_tests.twin import retouch

ENGLISH, GERMAN, ARABIC = "Spring, poured fresh", "Frühling, frisch gebrüht", "ربيع بطعم جديد"
LONG = (
    "Slow mornings and fresh spring gardens",
    "Der Frühling schmeckt nach Morgenlicht",
    "قهوة الصباح بطعم الربيع الجديد كل يوم",
)
"""38 letters, the most that a campaign takes unless it says otherwise; the Arabic has 37."""


def headline(
    words: str, document: bytes | None = None, *, missing_font: str = "fail"
) -> Image.Image:
    """Return the picture as delivered: through a JPEG of usual quality."""
    edit = LayerEdit("Headline", None, None, words)
    image = render(document or retouch.template(), [edit], missing_font=missing_font)
    content = BytesIO()
    image.save(content, "JPEG", quality=85)
    return Image.open(content)


def area(document: bytes | None = None) -> readback.TextArea:
    return readback.area_of(document or retouch.template(), "Headline")


def drawn_flat(words: str, font: str) -> Image.Image:
    """Return the template without a headline, *words* drawn in its place without any shaping."""
    image = headline("")
    where = area()
    face = ImageFont.truetype(
        readback.FONTS / f"{font}.ttf", where.size, layout_engine=ImageFont.Layout.BASIC
    )
    place = (where.box[0], where.box[1])
    ImageDraw.Draw(image).text(place, words, fill=where.colour, font=face)
    return image


@pytest.mark.parametrize("words", [ENGLISH, GERMAN, ARABIC, *LONG])
@pytest.mark.parametrize("aspect", retouch.ASPECTS)
def test_headline_can_be_read_back(aspect: str, words: str) -> None:
    """Every glyph of the words stands in the picture, joined and in order, in its frame."""
    document = retouch.template(aspect)

    reading = readback.read(headline(words, document), area(document), words)

    assert reading.matches, reading.reason


def test_arabic_mixed_with_latin_and_brackets_can_be_read_back() -> None:
    """Numbers and names keep their own direction inside a line from the right."""
    words = "عرض Acme 25% (اليوم)"

    reading = readback.read(headline(words), area(), words)

    assert reading.matches, reading.reason


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_reader_rejects_an_empty_headline(words: str) -> None:
    assert not readback.read(headline(""), area(), words).matches


def test_reader_rejects_boxes_instead_of_letters() -> None:
    """What a font draws for letters that it lacks is not the letters."""
    tofu = drawn_flat(ARABIC, "Outfit-Medium")

    assert not readback.read(tofu, area(), ARABIC).matches


def test_reader_rejects_one_box_among_letters() -> None:
    """A single missing letter is enough, even with the line's width kept."""
    image = headline(ENGLISH)
    left, top = area().box[:2]
    draw = ImageDraw.Draw(image)
    draw.rectangle((left + 360, top + 30, left + 396, top + 76), fill=(248, 241, 228))
    draw.rectangle((left + 362, top + 32, left + 394, top + 74), outline=area().colour, width=3)

    reading = readback.read(image, area(), ENGLISH)

    assert not reading.matches
    assert "not alike" in reading.reason


@pytest.mark.parametrize(
    ("shown", "asked"),
    [
        ("Spring, poured frosh", ENGLISH),
        ("Fruhling, frisch gebruht", GERMAN),
        ("ربيغ بطعم جديد", ARABIC),
        ("ربيع بطعم حديد", ARABIC),
        ("بطعم ربيع جديد", ARABIC),
        (f"{ENGLISH} now", ENGLISH),
        ("Spring, poured", ENGLISH),
    ],
)
def test_reader_rejects_other_words(shown: str, asked: str) -> None:
    """A wrong letter, a lost dot, another order, a word too many or too few."""
    assert not readback.read(headline(shown), area(), asked).matches


def test_reader_rejects_unjoined_arabic() -> None:
    """Letters in a row from left to right are no Arabic."""
    assert not readback.read(drawn_flat(ARABIC, "NotoSansArabic-SemiBold"), area(), ARABIC).matches


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_text_needs_no_shaping_library_of_the_system(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without raqm and fribidi the picture is the same, pixel by pixel."""
    with_raqm = headline(words).tobytes()
    monkeypatch.setattr(ImageFont.core, "HAVE_RAQM", False)
    monkeypatch.setattr(ImageFont.core, "HAVE_FRIBIDI", False)

    image = headline(words)

    assert image.tobytes() == with_raqm
    assert readback.read(image, area(), words).matches


def test_arabic_begins_at_the_right_edge_of_its_frame() -> None:
    """A line that reads from the right is set flush right, although the frame is flush left."""
    ground, arabic = headline(""), headline(ARABIC)
    where = area()
    darker = ImageChops.subtract(ground.convert("L"), arabic.convert("L"))

    ink = darker.point([0] * 60 + [255] * 196).getbbox()

    assert ink is not None
    assert where.box[2] - 8 <= ink[2] <= where.box[2] + 2
    assert ink[0] > where.box[0] + 200


@pytest.mark.parametrize(
    "words",
    [
        "Slow mornings and fresh spring gardens and a second helping of light",
        "Frühlingsmorgenlichtgenießerkaffeetassenwärmer",
        "Ahoy\nthere\nagain",
    ],
)
def test_text_that_does_not_fit_is_refused(words: str) -> None:
    """Too many lines, a word too wide, forced breaks: an error each, never a smaller type."""
    with pytest.raises(TextOverflow, match="box") as refusal:
        headline(words)

    assert words.split(maxsplit=1)[0] not in str(refusal.value)


@pytest.mark.parametrize(
    ("words", "points"),
    [("Spring 🌿", "U+1F33F"), ("春天", "U+6625, U+5929"), ("ربيع 🌿", "U+1F33F")],
)
def test_letter_that_no_font_has_is_refused(words: str, points: str) -> None:
    """Each is named by its code point; none is drawn as a box."""
    with pytest.raises(MissingGlyphs, match=rf"draw {points.replace('+', '.')}"):
        headline(words)


@pytest.mark.parametrize("words", ["Весна", "Άνοιξη", "Mùa xuân ấm áp", "Wiosna świeża €5"])
def test_letters_that_the_brand_font_lacks_come_from_the_fallback(words: str) -> None:
    """Greek, Cyrillic and Vietnamese are drawn, in another face of like weight."""
    reading = readback.read(headline(words), area(), words)

    assert reading.matches, reading.reason


def test_missing_font_is_refused_or_replaced_as_asked() -> None:
    """`fail` names the font; `use_default` draws the words in the fallback."""
    document = retouch.refonted(retouch.template(), "Fraunces-SemiBold", "Unheard--SemiBold")

    with pytest.raises(MissingFont, match="'Unheard--SemiBold' is not available"):
        headline(ENGLISH, document)

    image = headline(ENGLISH, document, missing_font="use_default")
    where = readback.TextArea(
        area().box, area().size, area().leading, area().colour, "NotoSans-SemiBold"
    )
    assert readback.read(image, where, ENGLISH).matches
