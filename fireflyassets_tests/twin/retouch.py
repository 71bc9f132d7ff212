"""Changing a PSD as a designer would, so that tests can see the output follow.

Here: edits of the shipped templates' bytes with psd-tools. Not here: expectations.
"""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from psd_tools import PSDImage
from psd_tools.api.layers import GroupMixin, Layer, PixelLayer
from psd_tools.constants import Tag
from psd_tools.psd import PSD

CAMPAIGN = Path(__file__).parents[2] / "campaigns" / "acme" / "spring-launch"
ASPECTS = ("1920x1080", "1080x1920", "1080x1080")


def template(aspect: str = "1080x1080") -> bytes:
    """Return a shipped template."""
    return (CAMPAIGN / f"{aspect}.psd").read_bytes()


def opened(document: bytes) -> PSDImage:
    """Return *document* parsed."""
    return PSDImage(PSD.read(BytesIO(document)))


def named(psd: PSDImage, layer: str) -> Layer:
    """Return the layer of that name."""
    return next(each for each in psd.descendants() if each.name == layer)


def changed(document: bytes, layer: str, change: Callable[[Layer], object]) -> bytes:
    """Return *document* with *change* made to the named layer."""
    psd = opened(document)
    change(named(psd, layer))
    saved = BytesIO()
    psd.save(saved)  # pyright: ignore[reportUnknownMemberType] - its PathLike is bare
    return saved.getvalue()


def moved_slot(document: bytes, layer: str, *, right: int) -> bytes:
    """Move a smart object: its pixels' box and every copy of its quad."""

    def move(slot: Layer) -> None:
        slot.left += right
        for tag in (Tag.PLACED_LAYER1, Tag.PLACED_LAYER2):
            placed = slot.tagged_blocks.get_data(tag)
            if placed is not None:
                placed.transform = tuple(
                    value + right * (index % 2 == 0) for index, value in enumerate(placed.transform)
                )
        settings = slot.tagged_blocks.get_data(Tag.SMART_OBJECT_LAYER_DATA1).data
        for key in (b"Trnf", b"nonAffineTransform"):
            for index, value in enumerate(settings.get(key) or ()):
                if index % 2 == 0:
                    value.value += right

    return changed(document, layer, move)


def turned_slot(document: bytes, layer: str, quad: tuple[float, ...]) -> bytes:
    """Give a smart object another quad (x1, y1, … x4, y4)."""

    def turn(slot: Layer) -> None:
        for tag in (Tag.PLACED_LAYER1, Tag.PLACED_LAYER2):
            placed = slot.tagged_blocks.get_data(tag)
            if placed is not None:
                placed.transform = quad

    return changed(document, layer, turn)


def moved_text(document: bytes, layer: str, *, right: int, down: int) -> bytes:
    """Move a text layer's frame."""

    def move(text: Layer) -> None:
        settings = text.tagged_blocks.get_data(Tag.TYPE_TOOL_OBJECT_SETTING)
        *turn, x, y = settings.transform
        settings.transform = (*turn, x + right, y + down)

    return changed(document, layer, move)


def recoloured(document: bytes, layer: str, colour: tuple[int, int, int]) -> bytes:
    """Paint a pixel layer's whole box in another colour."""

    def paint(old: Layer) -> None:
        group = old.parent
        assert isinstance(group, GroupMixin)
        image = Image.new("RGBA", old.size, colour)
        new = PixelLayer.frompil(image, group, name=old.name, top=old.top, left=old.left)
        group.remove(new)
        group.insert(group.index(old), new)
        group.remove(old)

    return changed(document, layer, paint)


def refonted(document: bytes, old: str, new: str) -> bytes:
    """Name another font of as many letters in the text layers' engine data."""
    assert len(old) == len(new)
    return document.replace(old.encode("utf-16-be"), new.encode("utf-16-be"))


def recoloured_text(document: bytes, old: str, new: str) -> bytes:
    """Change a text's colour, written as the engine data writes it, in as many letters."""
    assert len(old) == len(new)
    return document.replace(f"/Values [ 1.0 {old} ]".encode(), f"/Values [ 1.0 {new} ]".encode())
