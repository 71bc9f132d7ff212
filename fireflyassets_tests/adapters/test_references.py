"""Reference pictures: converted without loss where that is certain, refused where it is not."""

import io
import struct
import zlib

import pytest
from PIL import Image, ImageCms

from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.ports.pictures import Normal, Unreadable

ORIENTATION = 0x0112


def saved(picture: Image.Image, form: str = "PNG", **options: object) -> bytes:
    target = io.BytesIO()
    picture.save(target, form, **options)
    return target.getvalue()


def normal(content: bytes) -> Image.Image:
    """Return the plain picture of *content*, which must have one."""
    made = PillowPictures().normal(content)
    assert isinstance(made, Normal), made
    picture = Image.open(io.BytesIO(made.content))
    assert picture.size == (made.width, made.height)
    assert Image.MIME[picture.format or ""] == made.media_type
    picture.load()
    return picture


def refused(content: bytes) -> str:
    made = PillowPictures().normal(content)
    assert isinstance(made, Unreadable)
    return made.reason


@pytest.mark.parametrize(
    ("mode", "form"), [("RGB", "JPEG"), ("RGB", "PNG"), ("RGBA", "PNG"), ("L", "WEBP")]
)
def test_plain_pictures_stay_byte_for_byte(mode: str, form: str) -> None:
    content = saved(Image.new(mode, (4, 3)), form)

    made = PillowPictures().normal(content)

    assert isinstance(made, Normal)
    assert (made.content, made.changes) == (content, ())


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_deep_grey_ramp_keeps_its_range(form: str) -> None:
    """256 steps of 16 bits become 256 steps of 8, not one white field."""
    ramp = Image.new("I;16", (256, 1))
    for x in range(256):
        ramp.putpixel((x, 0), x * 257)

    picture = normal(saved(ramp, form))

    assert [picture.getpixel((x, 0)) for x in range(256)] == list(range(256))


def deep_colour_png() -> bytes:
    """Return a PNG of one pixel with 16 bits a channel, which the library can't write."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    pixel = b"\0" + struct.pack(">HHH", 65_535, 32_896, 0)
    head = struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(pixel)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_deep_colours_are_scaled() -> None:
    picture = normal(deep_colour_png())

    assert picture.getpixel((0, 0)) == (255, 128, 0)
    assert saved(picture)[24] == 8


def cmyk_profile() -> bytes:
    """Return the smallest profile of four inks: red where magenta and yellow meet."""
    corners = bytearray()
    for corner in range(16):
        cyan, magenta, yellow, black = (corner >> shift & 1 for shift in (3, 2, 1, 0))
        light = 0 if black else 255 - 40 * cyan - 60 * magenta - 10 * yellow
        corners += bytes((light, 128 + 70 * magenta - 40 * cyan, 128 + 60 * yellow - 40 * cyan))
    line = bytes(range(256))
    identity = struct.pack(">9i", *(65_536 if place % 4 == 0 else 0 for place in range(9)))
    lut = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + identity + line * 4 + bytes(corners) + line * 3
    lut += b"\0" * (-len(lut) % 4)
    size = 128 + 16 + len(lut)
    head = struct.pack(">I4sI4s4s4s", size, b"\0" * 4, 0x02400000, b"prtr", b"CMYK", b"Lab ")
    head += b"\0" * 12 + b"acsp" + b"\0" * 28
    head += struct.pack(">3I", 0xF6D6, 0x10000, 0xD32D)
    return head.ljust(128, b"\0") + struct.pack(">I4sII", 1, b"A2B0", 144, len(lut)) + lut


def test_cmyk_with_a_profile_becomes_srgb() -> None:
    """With a profile the picture's colours are known; the result is red, and names its own."""
    inks = Image.new("CMYK", (4, 3), (0, 255, 255, 0))

    picture = normal(saved(inks, "JPEG", icc_profile=cmyk_profile()))

    red, green, blue = picture.getpixel((1, 1))
    assert picture.mode == "RGB"
    assert red > 150 > max(green, blue)
    assert "sRGB".encode("utf-16-be") in picture.info["icc_profile"]


def test_cmyk_with_a_broken_profile_is_refused() -> None:
    content = saved(Image.new("CMYK", (4, 3), (0, 255, 255, 0)), "JPEG", icc_profile=b"broken")

    assert "profile can't be read" in refused(content)


def test_cmyk_without_a_profile_is_refused() -> None:
    """Nobody knows what its inks look like."""
    content = saved(Image.new("CMYK", (4, 3), (0, 255, 255, 0)), "JPEG")

    assert "without a profile" in refused(content)


def test_turned_photo_stands_upright() -> None:
    """What a camera notes beside the pixels is applied to them."""
    photo = Image.new("RGB", (4, 2), "white")
    photo.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[ORIENTATION] = 6

    picture = normal(saved(photo, exif=exif))

    assert picture.size == (2, 4)
    assert picture.getpixel((1, 0)) == (255, 0, 0)
    assert picture.getexif().get(ORIENTATION, 1) == 1


def test_profile_is_kept() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()

    picture = normal(saved(Image.new("RGB", (4, 3)), "TIFF", icc_profile=profile))

    assert picture.info["icc_profile"] == profile


@pytest.mark.parametrize(("mode", "plain"), [("P", "RGB"), ("1", "RGB"), ("LA", "RGBA")])
def test_small_modes_become_plain(mode: str, plain: str) -> None:
    assert normal(saved(Image.new(mode, (4, 3)))).mode == plain


def test_size_bomb_is_refused_before_it_is_decoded() -> None:
    """A tiny file that claims 20,000 x 20,000 pixels costs neither memory nor money."""
    content = bytearray(saved(Image.new("L", (1, 1))))
    content[16:24] = struct.pack(">II", 20_000, 20_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))

    assert "claims far more pixels" in refused(bytes(content))


@pytest.mark.parametrize(
    "content",
    [b"", b"GIF89a", saved(Image.new("RGB", (64, 64), "red"))[:-60], b"\xff\xd8\xff\xe0"],
)
def test_broken_pictures_are_refused(content: bytes) -> None:
    assert refused(content)


def test_several_pages_are_refused() -> None:
    """Which of them is meant, nobody can tell."""
    pages = [Image.new("RGB", (4, 3), colour) for colour in ("red", "blue")]

    content = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])

    assert "2 pictures" in refused(content)


def test_extension_decides_nothing() -> None:
    """A PNG under any name is a PNG."""
    made = PillowPictures().normal(saved(Image.new("RGB", (4, 3))))

    assert isinstance(made, Normal)
    assert made.media_type == "image/png"
