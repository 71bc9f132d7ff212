"""What an edit draws: a picture into a slot, a text into a frame.

Belongs here: the patch of pixels that an edit makes, and laying a patch on a canvas. Does not:
where slots and frames come from (psd_geometry), or how lines are set (text).
"""

from dataclasses import dataclass
from io import BytesIO
from math import ceil, floor, hypot
from typing import Final, cast

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageOps

from fireflyassets.twin import text
from fireflyassets.twin.psd_geometry import Cover, Frame, Point, Quad, Slot
from fireflyassets.twin.refusals import UnreadablePicture

_MAX_PIXELS: Final = 89_000_000
"""Largest picture; Pillow warns at a little more."""
_SMOOTH: Final = 4
"""Side of the grid by which a slanted edge is smoothed."""
_UNDECODABLE: Final = (
    OSError,
    SyntaxError,
    ValueError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)
_UPRIGHT: Final = 0.5
"""Pixels by which a side may slant and still count as upright."""
OPAQUE: Final = 255
_TURNED: Final = frozenset({5, 6, 7, 8})
"""EXIF orientations that swap width and height."""
_ORIENTATION: Final = 0x0112


@dataclass(frozen=True, slots=True)
class Patch:
    """Pixels (RGB or RGBA) and where their upper left corner lies on the canvas."""

    image: Image.Image
    at: tuple[int, int]


def draw_text(frame: Frame, words: str, *, missing_font: str) -> Patch:
    """Return *words* set into the frame; what does not fit raises (see text)."""
    left, top, width, height = frame.box or (0.0, 0.0, 0.0, 0.0)
    box = (width, height) if frame.box else None
    ink = text.draw(words, frame.style, box, missing_font=missing_font)
    image = Image.new("RGBA", ink.mask.size, frame.colour[:3])
    image.putalpha(_dimmed(ink.mask, frame.colour[3]))
    x, y = left - ink.origin[0], top - ink.origin[1]
    if frame.turn == (1.0, 0.0, 0.0, 1.0):
        return Patch(image, (round(frame.place[0] + x), round(frame.place[1] + y)))
    right, bottom = x + image.width, y + image.height
    a, b, c, d = frame.turn
    turned = tuple(
        (a * u + c * v + frame.place[0], b * u + d * v + frame.place[1])
        for u, v in ((x, y), (right, y), (right, bottom), (x, bottom))
    )
    return _warped(image, cast("Quad", turned))


def draw_picture(slot: Slot, content: bytes) -> Patch:
    """Return the picture scaled to cover the slot, its overhang cut on both sides alike.

    Raises:
        UnreadablePicture: The bytes are no picture, or one of more than 89 million pixels.
    """
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = slot.quad
    size = (max(1, round(hypot(x2 - x1, y2 - y1))), max(1, round(hypot(x4 - x1, y4 - y1))))
    image = _covering(content, size)
    slant = max(abs(y1 - y2), abs(y3 - y4), abs(x1 - x4), abs(x2 - x3))
    if slant < _UPRIGHT and x2 > x1 and y4 > y1:
        return Patch(image, (round(x1), round(y1)))
    return _warped(image, slot.quad)


def covered(patch: Patch, cover: Cover) -> Patch:
    """Return *patch* under a layer's opacity and mask."""
    if cover.mask is None and cover.opacity == OPAQUE:
        return patch
    x, y = patch.at
    area = (x, y, x + patch.image.width, y + patch.image.height)
    mask = cover.mask.crop(area) if cover.mask else Image.new("L", patch.image.size, 255)
    return Patch(_faded(patch.image, _dimmed(mask, cover.opacity)), patch.at)


def lay(canvas: Image.Image, patch: Patch) -> None:
    """Lay *patch* on an RGB or RGBA *canvas*; what hangs over is cut."""
    left, top = max(0, patch.at[0]), max(0, patch.at[1])
    right = min(canvas.width, patch.at[0] + patch.image.width)
    bottom = min(canvas.height, patch.at[1] + patch.image.height)
    if left >= right or top >= bottom:
        return
    x, y = patch.at
    piece = patch.image.crop((left - x, top - y, right - x, bottom - y))
    if piece.mode == "RGB":
        canvas.paste(piece, (left, top))
    elif canvas.mode == "RGB":
        canvas.paste(piece, (left, top), piece)
    else:
        canvas.alpha_composite(piece, (left, top))


def _covering(content: bytes, size: tuple[int, int]) -> Image.Image:
    """Decode a picture and scale it to *size*, cutting what is too wide or too high."""
    try:
        with Image.open(BytesIO(content)) as image:
            _draft(image, size)
            image.load()
            picture = _plain(image)
    except _UNDECODABLE as error:
        raise UnreadablePicture(
            "The picture cannot be decoded; send a whole JPEG, PNG or TIFF file of at most 89 "
            "million pixels."
        ) from error
    return ImageOps.fit(picture, size, Image.Resampling.BICUBIC)


def _draft(image: Image.Image, size: tuple[int, int]) -> None:
    """Let a JPEG be decoded at a half or a quarter, where that still covers *size*."""
    if image.width * image.height > _MAX_PIXELS:
        raise ValueError("too many pixels")
    width, height = size
    if image.getexif().get(_ORIENTATION) in _TURNED:
        width, height = height, width
    scale = max(width / image.width, height / image.height)
    image.draft("RGB", (ceil(image.width * scale), ceil(image.height * scale)))


def _plain(image: Image.Image) -> Image.Image:
    """Return *image* as 8-bit RGB, or RGBA where it has transparency."""
    if image.mode.startswith("I"):
        # Pillow clips 16-bit grey at 255 instead of scaling it (seen with 13.0).
        grey = np.asarray(image).astype(np.int64).clip(0, 65535) >> 8
        image = Image.fromarray(grey.astype(np.uint8))
    mode = "RGBA" if image.has_transparency_data else "RGB"
    image = image if image.mode == mode else image.convert(mode)
    return ImageOps.exif_transpose(image) if image.getexif().get(_ORIENTATION, 1) != 1 else image


def _warped(image: Image.Image, quad: Quad) -> Patch:
    """Return *image* stretched into a *quad* of any shape, its edges smoothed."""
    left, top = floor(min(x for x, _ in quad)), floor(min(y for _, y in quad))
    right, bottom = ceil(max(x for x, _ in quad)), ceil(max(y for _, y in quad))
    size = (max(1, right - left), max(1, bottom - top))
    local = [(x - left, y - top) for x, y in quad]
    warped = image.convert("RGBA").transform(
        size,
        Image.Transform.PERSPECTIVE,
        _coefficients(local, image.size),
        Image.Resampling.BICUBIC,
    )
    outline = Image.new("L", (size[0] * _SMOOTH, size[1] * _SMOOTH))
    ImageDraw.Draw(outline).polygon([(x * _SMOOTH, y * _SMOOTH) for x, y in local], fill=255)
    return Patch(_faded(warped, outline.resize(size, Image.Resampling.BOX)), (left, top))


def _coefficients(quad: list[Point], size: tuple[int, int]) -> list[float]:
    """Return the eight numbers that map a place in the quad back to one in the picture."""
    width, height = size
    rows: list[list[float]] = []
    goals: list[float] = []
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    for (x, y), (u, v) in zip(quad, corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        goals += [u, v]
    solution = np.linalg.lstsq(np.array(rows), np.array(goals), rcond=None)[0]
    return [float(value) for value in solution]


def _faded(image: Image.Image, coverage: Image.Image) -> Image.Image:
    """Return *image* as RGBA, its alpha multiplied by *coverage* (mode L, same size)."""
    result = image.convert("RGBA")
    result.putalpha(ImageChops.multiply(result.getchannel("A"), coverage))
    return result


def _dimmed(mask: Image.Image, opacity: int) -> Image.Image:
    """Return *mask* at *opacity* of 255."""
    return mask.point([value * opacity // 255 for value in range(256)])
