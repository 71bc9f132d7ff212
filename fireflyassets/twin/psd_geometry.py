"""Where an editable layer stands and how much of it shows, as the PSD says.

Belongs here: quads, text frames, opacity and masks, read from psd-tools into plain values that
threads may share. Does not: drawing (psd_patches). The PSD decides: nothing is assumed of a
template but what its file says.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from PIL import Image
from psd_tools.api.layers import Layer, SmartObjectLayer, TypeLayer
from psd_tools.constants import FontCaps, Justification, TextType

from fireflyassets.twin import text

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
"""Upper left, upper right, lower right, lower left, in canvas pixels."""

_LARGEST_TYPE: Final = 5_400
"""Pixels; Photoshop sets no larger."""
_LARGEST_SIDE: Final = 30_000
_LARGEST_AREA: Final = 100_000_000
"""Pixels of a slot or a text box: far more than a template needs, less than would fill memory."""

_ALIGNS: Final[dict[int, text.Align]] = {
    Justification.RIGHT: "right",
    Justification.JUSTIFY_LAST_RIGHT: "right",
    Justification.CENTER: "center",
    Justification.JUSTIFY_LAST_CENTER: "center",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A smart object: the quad that a picture is stretched into."""

    quad: Quad


@dataclass(frozen=True, slots=True)
class Frame:
    """A text layer: its style and box in canvas pixels, then turned by a matrix and placed.

    A box is (left, top, width, height) before the turn; None for a text on a point.
    """

    style: text.Style
    colour: tuple[int, int, int, int]
    box: tuple[float, float, float, float] | None
    turn: tuple[float, float, float, float]
    place: Point

    def sized(self, size: float | None, leading: float | None) -> "Frame":
        """Return the frame with another type size and leading, in pixels; None keeps its own."""
        style = self.style
        if size is not None and leading is None:
            leading = style.leading * size / style.size
        said = replace(style, size=size or style.size, leading=leading or style.leading)
        return replace(self, style=said)


@dataclass(frozen=True, slots=True)
class Cover:
    """How much of a layer shows: its opacity (0..255), and its mask over the whole canvas."""

    opacity: int
    mask: Image.Image | None


def read(layer: Layer) -> Slot | Frame | None:
    """Return an editable layer's geometry, None for a layer that takes no edit."""
    if isinstance(layer, SmartObjectLayer):
        return _slot(layer)
    return _frame(layer) if isinstance(layer, TypeLayer) else None


def read_cover(layer: Layer, canvas: tuple[int, int]) -> Cover:
    """Return a layer's opacity and mask; a mask drawn as a path must have been rasterised."""
    if layer.has_vector_mask() and not layer.has_mask():
        raise NotImplementedError("a vector mask")
    opacity = round(layer.opacity * layer.fill_opacity / 255)
    mask = layer.mask
    if mask is None or mask.disabled:
        return Cover(opacity, None)
    whole = Image.new("L", canvas, mask.background_color)
    drawn = mask.topil()
    if drawn is not None:
        whole.paste(drawn.convert("L"), (mask.left, mask.top))
    return Cover(opacity, whole)


def _slot(layer: SmartObjectLayer) -> Slot:
    """Return a smart object's quad, or its pixels' box where the file has no quad."""
    box = layer.smart_object.transform_box
    if box is None:
        left, top, right, bottom = layer.bbox
        return Slot(((left, top), (right, top), (right, bottom), (left, bottom)))
    x1, y1, x2, y2, x3, y3, x4, y4 = (float(value) for value in box)
    _check_extent(
        max(x1, x2, x3, x4) - min(x1, x2, x3, x4), max(y1, y2, y3, y4) - min(y1, y2, y3, y4)
    )
    return Slot(((x1, y1), (x2, y2), (x3, y3), (x4, y4)))


def _check_extent(width: float, height: float) -> None:
    """Refuse sizes that only a broken file has; not-a-number fails the comparison too."""
    sound = 0 <= width <= _LARGEST_SIDE and 0 <= height <= _LARGEST_SIDE
    if not (sound and width * height <= _LARGEST_AREA):
        raise ValueError("a layer of impossible size")


def _frame(layer: TypeLayer) -> Frame:
    """Return a text layer's frame; its first run's style holds for all of a new text."""
    xx, xy, yx, yy, tx, ty = (float(value) for value in layer.transform)
    scale = sqrt(abs(xx * yy - xy * yx)) or 1.0
    alpha, red, green, blue = _colour(layer)
    return Frame(
        _style(layer, scale),
        (round(red * 255), round(green * 255), round(blue * 255), round(alpha * 255)),
        _box(layer, scale),
        (xx / scale, xy / scale, yx / scale, yy / scale),
        (tx, ty),
    )


def _style(layer: TypeLayer, scale: float) -> text.Style:
    paragraph = next(iter(layer.typesetting))
    style = next(iter(paragraph)).style
    size = style.font_size * scale
    if not 0 < size <= _LARGEST_TYPE:
        raise ValueError("type of an impossible size")
    leading = style.leading * scale
    if style.auto_leading or not leading:
        leading = size * paragraph.style.auto_leading
    return text.Style(
        font=style.font_name.rstrip("\0"),
        size=size,
        leading=leading,
        align=_ALIGNS.get(paragraph.style.justification, "left"),
        tracking=style.tracking / 1000,
        capitals=style.font_caps == FontCaps.ALL_CAPS,
    )


def _colour(layer: TypeLayer) -> tuple[float, float, float, float]:
    """Return alpha, red, green, blue from 0 to 1; black where the file says none."""
    style = next(iter(next(iter(layer.typesetting)))).style
    match style.fill_color:
        case (alpha, red, green, blue):
            return alpha, red, green, blue
        case (alpha, grey):
            return alpha, grey, grey, grey
        case _:
            return 1.0, 0.0, 0.0, 0.0


def _box(layer: TypeLayer, scale: float) -> tuple[float, float, float, float] | None:
    if layer.text_type is not TextType.PARAGRAPH:
        return None
    shape = layer.engine_dict["Rendered"]["Shapes"]["Children"][0]
    bounds = shape["Cookie"]["Photoshop"]["BoxBounds"]
    left, top, right, bottom = (float(value) * scale for value in bounds)
    _check_extent(right - left, bottom - top)
    return left, top, right - left, bottom - top
