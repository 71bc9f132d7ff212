"""Pictures in a slot: every kind that comes is placed as a person would see it, or refused."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fireflyassets.twin.composite import UnreadablePicture, render
from fireflyassets_tests.twin import retouch
from fireflyassets_tests.twin.sketches import BLUE, RED, at, fill, flat, picture, pixels


def test_picture_covers_the_slot_and_is_cut_on_both_sides_alike() -> None:
    """A wide picture in the square's slot (1080x720) loses the same at its left and right."""
    image = Image.new("RGB", (3000, 1000), RED)
    ImageDraw.Draw(image).rectangle((1450, 0, 1550, 1000), fill=BLUE)
    content = BytesIO()
    image.save(content, "PNG")

    row = pixels(render(retouch.template(), [fill(content.getvalue())]))[300]

    blue = np.flatnonzero((np.abs(row - BLUE) < 8).all(axis=1))
    assert (blue.min(), blue.max()) == pytest.approx((540 - 36, 540 + 36), abs=2)
    assert (np.abs(row[60] - RED) < 8).all()


def test_turned_slot_takes_a_turned_picture() -> None:
    """A quad on its corner shows the picture's corners up, right, down and left."""
    image = Image.new("RGB", (400, 400), RED)
    ImageDraw.Draw(image).rectangle((200, 0, 400, 400), fill=BLUE)
    content = BytesIO()
    image.save(content, "PNG")
    quad = (540.0, 160.0, 740.0, 360.0, 540.0, 560.0, 340.0, 360.0)
    document = retouch.turned_slot(retouch.template(), "Hero", quad)

    shown = render(document, [fill(content.getvalue())])

    assert at(shown, 450, 310) == RED
    assert at(shown, 640, 410) == BLUE
    assert at(shown, 360, 250) == (250, 223, 203)


def test_transparent_picture_shows_what_lies_below() -> None:
    """A picture's own alpha is kept."""
    image = render(retouch.template(), [fill(flat((*RED, 128), "RGBA"))])

    assert at(image, 540, 300) == tuple(
        pytest.approx((new + old) / 2, abs=2) for new, old in zip(RED, (250, 223, 203), strict=True)
    )


def test_photo_lying_on_its_side_is_set_upright() -> None:
    """A camera's orientation mark (EXIF 6) turns the picture: its left side comes to the top."""
    image = Image.new("RGB", (720, 1080), BLUE)
    ImageDraw.Draw(image).rectangle((0, 0, 359, 1080), fill=RED)
    exif = Image.Exif()
    exif[0x0112] = 6
    content = BytesIO()
    image.save(content, "JPEG", exif=exif, quality=95)

    shown = pixels(render(retouch.template(), [fill(content.getvalue())]))

    assert (np.abs(shown[200, 540] - RED) < 12).all()
    assert (np.abs(shown[500, 540] - BLUE) < 12).all()


def test_sixteen_bit_grey_keeps_its_greys() -> None:
    """A ramp stays a ramp; a plain conversion would clip all but the darkest to white."""
    ramp = np.tile(np.linspace(0, 65535, 512).astype(np.uint16), (400, 1))
    content = BytesIO()
    Image.fromarray(ramp).save(content, "PNG")

    row = pixels(render(retouch.template(), [fill(content.getvalue())]))[300, 60:1000:60, 0]

    assert (np.diff(row) > 5).all()


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_picture_is_placed(kind: str) -> None:
    image = render(retouch.template(), [fill(flat((0, 255, 255, 0), "CMYK", kind))])

    red, green, blue = at(image, 540, 300)
    assert red > 230
    assert max(green, blue) < 40


@pytest.mark.parametrize("content", [b"", b"nonsense", picture()[:2000], b"\x89PNG\r\n\x1a\n"])
def test_broken_picture_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadablePicture):
        render(retouch.template(), [fill(content)])
