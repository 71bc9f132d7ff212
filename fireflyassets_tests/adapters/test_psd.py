"""Reading a template: the shipped ones as they are, broken ones as one error."""

import hashlib
import struct
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.adapters.psd import UnreadableTemplate, read_template
from fireflyassets.core.template import Box, LayerKind, check_template
from fireflyassets.core.text_style import TextStyle

CAMPAIGN = Path(__file__).parents[2] / "campaigns" / "acme" / "spring-launch"
WHOLE = (CAMPAIGN / "1080x1080.psd").read_bytes()
SLOTS = {
    "Hero": LayerKind.SMART_OBJECT,
    "Headline": LayerKind.TEXT,
    "Legal": LayerKind.TEXT,
}


def header(*, width: int = 8, height: int = 8, version: int = 1, channels: int = 3) -> bytes:
    return b"8BPS" + struct.pack(">H6xHIIHH", version, channels, height, width, 8, 3)


@pytest.mark.parametrize("aspect", ["1920x1080", "1080x1920", "1080x1080"])
def test_shipped_template_suits_its_aspect(aspect: str) -> None:
    template = read_template((CAMPAIGN / f"{aspect}.psd").read_bytes())

    assert check_template(template, aspect=aspect, slots=SLOTS) == []


def test_layers_are_read_with_id_kind_and_place() -> None:
    """A text's place is its frame and a slot's its quad, not the pixels they happen to show."""
    template = read_template(WHOLE)
    layers = {layer.name: layer for layer in template.layers}

    assert (template.width, template.height) == (1080, 1080)
    assert template.sha256 == hashlib.sha256(WHOLE).hexdigest()
    assert (layers["Hero"].id, layers["Hero"].kind) == (3, LayerKind.SMART_OBJECT)
    assert layers["Hero"].box == Box(0, 0, 1080, 720)
    assert (layers["Headline"].id, layers["Headline"].kind) == (14, LayerKind.TEXT)
    assert layers["Headline"].box == Box(72, 764, 1008, 972)
    assert layers["Headline"].fonts == ("Fraunces-SemiBold",)
    assert layers["Headline"].style == TextStyle(
        font="Fraunces-SemiBold",
        size=Decimal(74),
        leading=Decimal(88),
        colour=(2956, 8096, 6554),
        alignment="left",
    )
    assert layers["Brand"].kind is LayerKind.GROUP
    assert layers["Frame"].kind is LayerKind.PIXELS
    assert all(layer.visible for layer in template.layers)


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "is not a PSD"),
        (b"8BPS", "ends too early"),
        (WHOLE[:-1], "ends too early"),
        (WHOLE[:5000], "ends too early"),
        (header(version=7) + bytes(100), "broken header"),
        (header(channels=0) + bytes(100), "broken header"),
        (header(width=0) + bytes(100), "claims 0x8 px"),
        (header(width=40_000) + bytes(100), "claims 40000x8 px"),
        (header(width=20_000, height=20_000) + bytes(1000), "ends too early"),
        (
            header(width=20_000, height=20_000) + bytes(12) + b"\x00\x01" + bytes(200_000),
            "too small for its canvas",
        ),
        (header() + bytes(12) + b"\x00\x03" + bytes(1000), "is corrupt"),
        (WHOLE[:120] + b"\xff" * 40 + WHOLE[160:], "is corrupt"),
    ],
)
def test_broken_template_is_refused_with_the_reason(content: bytes, fact: str) -> None:
    """Each sentence says what is wrong; nothing of a claimed size is allocated."""
    with pytest.raises(UnreadableTemplate, match=f"The template .*{fact}"):
        read_template(content)


@settings(max_examples=100, deadline=None)
@given(length=st.integers(0, len(WHOLE) - 1))
def test_template_cut_anywhere_is_refused(length: int) -> None:
    """No cut reads as a smaller document, or raises anything else."""
    with pytest.raises(UnreadableTemplate):
        read_template(WHOLE[:length])


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, 60_000), value=st.integers(0, 255))
def test_template_with_a_wrong_byte_is_read_or_refused(at: int, value: int) -> None:
    flipped = bytearray(WHOLE)
    flipped[at] = value
    try:
        template = read_template(bytes(flipped))
    except UnreadableTemplate:
        return
    assert template.width > 0
