"""Reading a campaign's PSD into the facts that the core checks.

Belongs here: whether bytes are a whole PSD, and what its layers are, read with psd-tools.
Does not: what a recipe needs of them (core), or any pixel: reading takes milliseconds and
allocates nothing by what a header claims. Source of the structure: Adobe Photoshop File Formats
Specification, November 2019.
"""

import hashlib
import struct
import zlib
from io import BytesIO
from math import ceil, floor, sqrt
from typing import Final

from psd_tools import PSDImage
from psd_tools.api.layers import Group, Layer, PixelLayer, SmartObjectLayer, TypeLayer
from psd_tools.constants import TextType
from psd_tools.psd import PSD

from fireflyassets.adapters import psd_text
from fireflyassets.core.template import Box, LayerKind, Template, TemplateLayer

MAX_SIDE: Final = 32_000
"""Pixels; Adobe takes no larger canvas."""

_FORMATS: Final = {1: ("I", "H"), 2: ("Q", "I")}
"""Version (PSD, PSB) -> how the length of the layers, and of a row in the preview, is stored."""
_RAW: Final = 0
_RUN_LENGTHS: Final = 1
_MALFORMED: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What psd-tools raises on broken bytes; it checks little, and states the rest by assertions."""
_ENDS_EARLY: Final = "ends too early: it was cut off on its way; copy the whole file again"


class UnreadableTemplate(ValueError):
    """The bytes are no PSD, or a corrupt or truncated one."""

    def __init__(self, fact: str) -> None:
        super().__init__(f"The template {fact}.")


def read_template(content: bytes) -> Template:
    """Return what the PSD *content* holds.

    Raises:
        UnreadableTemplate: Empty, not a PSD, truncated, corrupt, or of an impossible size.
    """
    try:
        _check_whole(content)
    except struct.error as error:
        raise UnreadableTemplate(_ENDS_EARLY) from error
    try:
        psd = PSDImage(PSD.read(BytesIO(content)))
        layers = tuple(_layer(layer) for layer in psd.descendants())
        digest = hashlib.sha256(content).hexdigest()
        # The preview is the file's last section, by which a designer's program shows it.
        preview = hashlib.sha256(content[_preview_at(content) :]).hexdigest()
        return Template(psd.width, psd.height, layers, digest, preview)
    except _MALFORMED as error:
        raise UnreadableTemplate(
            f"is corrupt ({type(error).__name__}): save it again from Photoshop"
        ) from error


def _check_whole(content: bytes) -> None:
    """Refuse what is no PSD, too large, or shorter than its own lengths say."""
    if not content:
        raise UnreadableTemplate("is empty: upload it again")
    if not content.startswith(b"8BPS"):
        raise UnreadableTemplate("is not a PSD: save it from Photoshop as PSD")
    version, channels, height, width, depth = struct.unpack_from(">H6xHIIH", content, 4)
    if version not in _FORMATS or not channels:
        raise UnreadableTemplate(f"has a broken header: version {version}, {channels} channels")
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise UnreadableTemplate(
            f"claims {width}x{height} px: a canvas has 1 to {MAX_SIDE:,} pixels a side"
        )
    _, row_length = _FORMATS[version]
    lengths_format = f">{height * channels}{row_length}"
    _check_preview(content, _preview_at(content), lengths_format, (width * depth + 7) // 8)


def _preview_at(content: bytes) -> int:
    """Return where the preview begins, behind colours, resources and layers."""
    (version,) = struct.unpack_from(">H", content, 4)
    layers_length, _ = _FORMATS[version]
    at = 26
    for length_format in (">I", ">I", f">{layers_length}"):
        (length,) = struct.unpack_from(length_format, content, at)
        at = min(len(content), at + struct.calcsize(length_format) + length)
    return at


def _check_preview(content: bytes, at: int, lengths_format: str, row_bytes: int) -> None:
    """Refuse a preview (the last section) that cannot hold the canvas that the header claims."""
    (compression,) = struct.unpack_from(">H", content, at)
    at += 2
    if compression == _RAW:
        rows = int(lengths_format[1:-1])
        if len(content) < at + rows * row_bytes:
            raise UnreadableTemplate(_ENDS_EARLY)
        return
    if compression != _RUN_LENGTHS:
        raise UnreadableTemplate("is corrupt (its preview): save it again from Photoshop")
    lengths = struct.unpack_from(lengths_format, content, at)
    if len(content) < at + struct.calcsize(lengths_format) + sum(lengths):
        raise UnreadableTemplate(_ENDS_EARLY)
    # A run takes two bytes and holds at most 128.
    if min(lengths) < 2 * ceil(row_bytes / 128):
        raise UnreadableTemplate("has a preview too small for its canvas: save it again")


def _layer(layer: Layer) -> TemplateLayer:
    return TemplateLayer(
        id=layer.layer_id,
        # Some writers end names in NUL.
        name=layer.name.rstrip("\0"),
        kind=_kind(layer),
        box=_box(layer),
        visible=layer.is_visible(),
        style=psd_text.style(layer) if isinstance(layer, TypeLayer) else None,
        fonts=psd_text.fonts(layer) if isinstance(layer, TypeLayer) else (),
        text_size=_text_size(layer) if isinstance(layer, TypeLayer) else None,
    )


def _kind(layer: Layer) -> LayerKind:
    kinds = (
        (SmartObjectLayer, LayerKind.SMART_OBJECT),
        (TypeLayer, LayerKind.TEXT),
        (Group, LayerKind.GROUP),
        (PixelLayer, LayerKind.PIXELS),
    )
    return next((kind for class_, kind in kinds if isinstance(layer, class_)), LayerKind.OTHER)


def _box(layer: Layer) -> Box:
    """Return a text's frame or a smart object's quad; for other layers, their pixels' box."""
    corners: list[tuple[float, float]] = []
    if isinstance(layer, SmartObjectLayer) and (quad := layer.smart_object.transform_box):
        corners = list(zip(quad[::2], quad[1::2], strict=True))
    elif isinstance(layer, TypeLayer) and layer.text_type is TextType.PARAGRAPH:
        corners = _frame(layer)
    elif isinstance(layer, TypeLayer) and not layer.has_pixels():
        # A text on a point that some writer left undrawn: it stands where its baseline begins.
        *_, x, y = layer.transform
        corners = [(x, y - 1), (x + 1, y)]
    if not corners:
        return Box(*layer.bbox)
    horizontal, vertical = [x for x, _ in corners], [y for _, y in corners]
    return Box(
        floor(min(horizontal)), floor(min(vertical)), ceil(max(horizontal)), ceil(max(vertical))
    )


def _frame(layer: TypeLayer) -> list[tuple[float, float]]:
    """Return the corners of a text's box on the canvas."""
    left, top, right, bottom = _bounds(layer)
    xx, xy, yx, yy, tx, ty = layer.transform
    return [
        (xx * x + yx * y + tx, xy * x + yy * y + ty)
        for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))
    ]


def _text_size(layer: TypeLayer) -> tuple[float, float] | None:
    """Return the size of a text's box as it lies, turned or not."""
    if layer.text_type is not TextType.PARAGRAPH:
        return None
    left, top, right, bottom = _bounds(layer)
    xx, xy, yx, yy, _, _ = layer.transform
    scale = sqrt(abs(xx * yy - xy * yx)) or 1.0
    return (right - left) * scale, (bottom - top) * scale


def _bounds(layer: TypeLayer) -> tuple[float, float, float, float]:
    """Return a text's box before its layer's transform."""
    shape = layer.engine_dict["Rendered"]["Shapes"]["Children"][0]
    left, top, right, bottom = (float(each) for each in shape["Cookie"]["Photoshop"]["BoxBounds"])
    return left, top, right, bottom
