"""Documents that are broken, cut short or lying about themselves: one error, never another."""

import struct
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psd_tools.psd import PSD

from fireflyassets.twin.composite import LayerEdit, UnreadableDocument, manifest, render
from fireflyassets_tests.twin import retouch

WHOLE = retouch.template()
AHOY = [LayerEdit("Headline", None, None, "Ahoy")]
SQUARE = struct.pack(">II", 1080, 1080)


def header(*, width: int = 8, height: int = 8, version: int = 1, channels: int = 3) -> bytes:
    return b"8BPS" + struct.pack(">H6xHIIHH", version, channels, height, width, 8, 3)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"8BPS",
        b"%PDF-1.7",
        WHOLE[:-1],
        WHOLE[: len(WHOLE) // 2],
        b"\x00" + WHOLE[1:],
        header() + bytes(14),
        header(version=3) + bytes(14),
        header(channels=0) + bytes(14) + bytes(1000),
        header(width=0) + bytes(14),
        header(version=2) + bytes(8) + b"\xff" * 8 + bytes(100),
    ],
)
def test_broken_document_is_refused(document: bytes) -> None:
    """Empty, foreign, cut off, or with a header that says nonsense."""
    with pytest.raises(UnreadableDocument):
        render(document, AHOY)
    with pytest.raises(UnreadableDocument):
        manifest(document)


@pytest.mark.parametrize("compression", [0, 1])
def test_huge_canvas_in_a_tiny_file_is_refused(compression: int) -> None:
    """20,000 x 20,000 pixels in a few bytes are a lie, whichever way they claim to be packed."""
    lie = header(width=20_000, height=20_000) + bytes(12) + struct.pack(">H", compression)

    with pytest.raises(UnreadableDocument, match="20000x20000"):
        render(lie + bytes(1000), AHOY)


def test_canvas_larger_than_its_preview_is_refused() -> None:
    """A header changed to a larger canvas does not fit the preview that follows."""
    wider = WHOLE.replace(SQUARE, struct.pack(">II", 1080, 30_000), 1)

    with pytest.raises(UnreadableDocument, match="too small for its canvas"):
        render(wider, AHOY)


@pytest.mark.filterwarnings("default")
def test_broken_pixels_are_refused_and_not_painted_black() -> None:
    """psd-tools warns and paints such a layer black; that would be delivered."""
    info = PSD.read(BytesIO(WHOLE)).layer_and_mask_information.layer_info
    assert info is not None
    packed = max((channel.data for layer in info.channel_image_data for channel in layer), key=len)
    assert WHOLE.count(packed) == 1

    broken = WHOLE.replace(packed, packed[:40] + bytes(40) + packed[80:])

    with pytest.raises(UnreadableDocument):
        render(broken, AHOY)


@settings(max_examples=80, deadline=None)
@given(length=st.integers(0, len(WHOLE) - 1))
def test_document_cut_anywhere_is_refused(length: int) -> None:
    """No cut gives a picture, or any other error."""
    with pytest.raises(UnreadableDocument):
        render(WHOLE[:length], AHOY)


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 60_000), value=st.integers(0, 255))
def test_document_with_a_wrong_byte_is_read_or_refused(at: int, value: int) -> None:
    """A flipped byte of the structure gives a layer tree, or the one error."""
    flipped = bytearray(WHOLE)
    flipped[at] = value
    try:
        described = manifest(bytes(flipped))
    except UnreadableDocument:
        return
    assert described["layers"] is not None
