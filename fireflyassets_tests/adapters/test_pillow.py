"""Looking at pictures: whatever the bytes are, the answer says so and nothing is raised."""

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.core.perceptual import distance
from fireflyassets.ports.pictures import Normal, Seen, Unreadable

RED = Image.new("RGB", (40, 30), (200, 20, 20))
BLUE = Image.new("RGB", (40, 30), (20, 20, 200))
LOOK = PillowPictures().look


def saved(kind: str, *more: Image.Image) -> bytes:
    """Return a picture in a format, with *more* frames behind it."""
    target = io.BytesIO()
    if more:
        RED.copy().save(target, kind, save_all=True, append_images=[one.copy() for one in more])
    else:
        RED.copy().save(target, kind)
    return target.getvalue()


def chunk(kind: bytes, body: bytes) -> bytes:
    """Return one chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def late_profile() -> bytes:
    """Return a PNG with an empty colour profile behind its pixels."""
    content = saved("PNG")
    end = content.rindex(b"IEND") - 4
    return content[:end] + chunk(b"iCCP", b"") + content[end:]


def claiming(width: int, height: int) -> bytes:
    """Return a PNG whose header claims a size, with no pixels to it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_a_picture_is_seen(kind: str) -> None:
    """Each format that vendors write is read, with its size."""
    assert LOOK(saved(kind)) == Seen(f"image/{kind.lower()}", 40, 30)


def test_a_jpeg_with_pictures_behind_is_a_jpeg() -> None:
    """A depth map or a preview behind the picture takes nothing from it."""
    assert LOOK(saved("MPO", BLUE)) == Seen("image/jpeg", 40, 30)


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
def test_an_animation_is_no_result(kind: str) -> None:
    """Several pictures in one file are not the one that was asked for."""
    assert LOOK(saved(kind, BLUE)) == Unreadable("it holds 2 pictures, not one")


def test_a_decoder_that_fails_oddly_tells_of_a_broken_file() -> None:
    """An empty profile behind the pixels makes Pillow raise an IndexError."""
    assert isinstance(LOOK(late_profile()), Unreadable)


@pytest.mark.parametrize("size", [(8945, 8945), (10_000, 10_000), (60_000, 60_000)])
def test_a_size_bomb_is_not_decoded(size: tuple[int, int]) -> None:
    """What its header says is enough to refuse it."""
    seen = LOOK(claiming(*size))

    assert isinstance(seen, Unreadable)
    assert "pixels" in seen.reason


def test_another_size_is_told_by_the_header() -> None:
    """A result of the wrong size is not decoded: its pixels, which are broken, are not touched."""
    content = claiming(8900, 8900)

    assert LOOK(content, asked=(2048, 2048)) == Seen("image/png", 8900, 8900)
    assert isinstance(LOOK(claiming(64, 64), asked=(64, 64)), Unreadable)


@given(st.sampled_from(["JPEG", "PNG", "WEBP", "TIFF", "MPO"]), st.data())
def test_no_bytes_raise(kind: str, data: st.DataObject) -> None:
    """A picture with any bytes of it changed or cut is seen or unreadable."""
    content = bytearray(saved(kind, BLUE) if kind == "MPO" else saved(kind))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))

    broken = bytes(content[: data.draw(st.integers(0, len(content)))])

    assert isinstance(LOOK(broken), (Seen, Unreadable))
    assert isinstance(PillowPictures().normal(broken), (Normal, Unreadable))


def test_a_picture_looks_like_itself_in_any_size_and_format() -> None:
    """A smaller copy in another format is the same picture, its mirror image is another one."""
    large = Image.linear_gradient("L").rotate(90).resize((1200, 900))
    reader = PillowPictures()

    look = reader.perceptual(_saved(large, "PNG"))

    assert distance(look, reader.perceptual(_saved(large.resize((300, 225)), "JPEG"))) <= 4
    assert distance(look, reader.perceptual(_saved(ImageOps.mirror(large), "PNG"))) > 16


def _saved(picture: Image.Image, kind: str) -> bytes:
    target = io.BytesIO()
    picture.save(target, kind)
    return target.getvalue()
