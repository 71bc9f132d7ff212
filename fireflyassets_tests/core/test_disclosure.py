"""The disclosure in files: another reader finds it, and not one pixel or profile is touched."""

import io
import struct
import zlib
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from fireflyassets.core.disclosure import Disclosure, SourceType, marked, source_type

PACKET = Disclosure("0123456789ab", SourceType.COMPOSITE, "image3_custom").packet()
XMP = b"http://ns.adobe.com/xap/1.0/\0"
PROFILE = b"a colour profile" * 9000


def picture() -> Image.Image:
    """Return a picture in which neighbours differ, so that nothing may move unseen."""
    return Image.frombytes(
        "RGB", (64, 48), bytes((x * x * 31 + x) % 251 for x in range(64 * 48 * 3))
    )


def saved(kind: str, **more: object) -> bytes:
    target = io.BytesIO()
    picture().save(target, kind, **more)
    return target.getvalue()


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def opened(content: bytes) -> tuple[bytes, dict[str | tuple[int, int], object]]:
    with Image.open(io.BytesIO(content)) as one:
        one.load()
        return one.tobytes(), dict(one.info)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_pixels_and_profile_stay(kind: str) -> None:
    """Each pixel, the colour profile (of several segments) and the resolution are as before."""
    before = saved(kind, icc_profile=PROFILE, dpi=(300, 300))

    (pixels, info), (old_pixels, old_info) = opened(marked(before, PACKET)), opened(before)

    assert pixels == old_pixels
    assert info.pop("xmp") == PACKET
    assert info["icc_profile"] == PROFILE
    assert {name: info[name] for name in old_info} == old_info


def test_exif_stays_before_it() -> None:
    """Readers look for Exif first; a picture that lies on its side must stay so."""
    exif = Image.Exif()
    exif[0x0112] = 6
    with Image.open(io.BytesIO(marked(saved("JPEG", exif=exif), PACKET))) as one:
        assert one.getexif()[0x0112] == 6
        assert one.info["xmp"] == PACKET


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_marking_again_replaces(kind: str) -> None:
    """One file holds one packet: what said otherwise before is gone."""
    other = Disclosure("ffffffffffff", SourceType.GENERATED, "image3").packet()

    twice = marked(marked(saved(kind), other), PACKET)

    assert twice == marked(saved(kind), PACKET)
    assert twice.count(b"x:xmpmeta xmlns") == 1


def test_signed_credentials_are_left_out() -> None:
    """A manifest that covers other bytes would make readers cry forgery."""
    jpeg = saved("JPEG")
    signed = jpeg[:2] + segment(0xEB, b"JP\0\1jumb-manifest") + jpeg[2:]
    chunk = b"caBXjumb-manifest"
    png = saved("PNG")
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    signed_png = png[:33] + framed + png[33:]

    assert b"jumb" in signed
    assert marked(signed, PACKET) == marked(jpeg, PACKET)
    assert marked(signed_png, PACKET) == marked(png, PACKET)


def test_what_a_vendor_wrote_goes_with_its_continuation() -> None:
    """XMP over 64 kB goes on in further segments, which mean nothing without the first."""
    jpeg = saved("JPEG")
    extension = segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0" + b"G" * 40)
    theirs = jpeg[:2] + segment(0xE1, XMP + b"<theirs/>") + extension + jpeg[2:]

    assert marked(theirs, PACKET) == marked(jpeg, PACKET)


def test_fill_bytes_before_a_marker() -> None:
    """Any marker may have them, and segments behind it are found all the same."""
    jpeg = saved("JPEG")

    assert opened(marked(jpeg[:2] + b"\xff\xff" + jpeg[2:], PACKET))[1]["xmp"] == PACKET


def test_packet_is_xml_that_names_iptc_s_property() -> None:
    """By full names, as any reader of XMP resolves them."""
    (description,) = ET.fromstring(PACKET.decode().split("?>\n", 1)[1].rsplit("<?", 1)[0])[0]  # noqa: S314 - our own bytes.

    extension = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}"
    assert description.attrib[f"{extension}DigitalSourceType"] == (
        "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
    )
    assert description.attrib[f"{extension}AISystemVersionUsed"] == "image3_custom"
    assert source_type(PACKET) is SourceType.COMPOSITE


def test_what_was_not_generated_claims_nothing() -> None:
    """A composite of the template alone is disclosed as nothing but itself."""
    packet = Disclosure("0123456789ab", None, None).packet()

    assert source_type(packet) is None
    assert b"Firefly" not in packet
    assert b"0123456789ab" in packet


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GIF89a",
        saved("WEBP"),
        saved("JPEG")[:40],
        saved("JPEG")[:2] + b"no marker",
        saved("PNG")[:20],
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_what_can_not_be_marked_says_so(content: bytes) -> None:
    """Never a file without its disclosure, and never a torn one."""
    with pytest.raises(ValueError, match=r"\w"):
        marked(content, PACKET)
