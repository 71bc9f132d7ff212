"""The files Photoshop's calls make, computed in the render pool.

Belongs here: functions from bytes and specs to encoded bytes; composites are really rendered, the
others keep Adobe's contract and no more. Does not belong here: fetching inputs or writing outputs.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

from fireflyassets.twin.encoding import OutputSpec, decode, encode, opaque
from fireflyassets.twin.failures import JobFailedError
from fireflyassets.twin.photoshop_parts import (
    Document,
    Measure,
    Resize,
)
from fireflyassets.twin.refusals import (
    MissingFont,
    MissingGlyphs,
    TextOverflow,
    UnknownLayer,
    UnreadableDocument,
    UnreadablePicture,
    WrongLayerKind,
)
from fireflyassets.twin.rendering import Renderer, SlotEdit

PSD_MAGIC = b"8BPS"
_INVALID = "400401"
_LARGEST_CUT_OUT = 6000  # Pixels per side that remove-background takes.


@dataclass(frozen=True, kw_only=True)
class Composition:
    """A document (or a blank canvas), what to change in it, and what to make of it."""

    document: bytes | None
    canvas: tuple[int, int, str] | None = None  # Width, height, fill.
    edits: Sequence[SlotEdit] = ()
    missing_font: str = "use_default"
    changes: Document = field(default_factory=Document)
    specs: Sequence[OutputSpec] = ()


def composed(renderer: Renderer, composition: Composition) -> list[bytes]:
    """Return every output of a composite; the document is opened once."""
    picture = _changed(_opened(renderer, composition), composition.changes)
    return [
        manifest(renderer, composition.document or b"")
        if spec.media_type == "application/json"
        else encode(picture, spec)
        for spec in composition.specs
    ]


def _opened(renderer: Renderer, composition: Composition) -> Image.Image:
    document = composition.document
    if document is None:
        width, height, fill = composition.canvas or (1, 1, "white")
        ground = (255, 255, 255, 0 if fill == "transparent" else 255)
        return Image.new("RGBA", (width, height), ground)
    if not document.startswith(PSD_MAGIC) and not composition.edits:
        return decode(document, "image.source")
    try:
        return renderer.render(document, composition.edits, missing_font=composition.missing_font)
    except UnreadableDocument as error:
        raise JobFailedError(_INVALID, f"image.source: {error}") from error
    except (
        UnknownLayer,
        WrongLayerKind,
        UnreadablePicture,
        TextOverflow,
        MissingGlyphs,
        MissingFont,
    ) as error:
        raise JobFailedError(_INVALID, f"edits.layers: {error}") from error


def _changed(picture: Image.Image, changes: Document) -> Image.Image:
    if changes.crop:
        at = changes.crop.bounds
        right = picture.width if at.right is None else at.right
        bottom = picture.height if at.bottom is None else at.bottom
        if right <= at.left or bottom <= at.top:
            raise JobFailedError(_INVALID, "edits.document.crop.bounds: the area is empty.")
        picture = picture.crop((at.left, at.top, right, bottom))
    if changes.trim and "A" in picture.getbands():
        box = picture.getchannel("A").getbbox()
        picture = picture.crop(box) if box else picture
    return _resized(picture, changes.resize) if changes.resize else picture


def _resized(picture: Image.Image, resize: Resize) -> Image.Image:
    width = _length(resize.width, picture.width)
    height = _length(resize.height, picture.height)
    if resize.constrain_proportions and width and not height:
        height = round(picture.height * width / picture.width)
    elif resize.constrain_proportions and height and not width:
        width = round(picture.width * height / picture.height)
    return picture.resize((width or picture.width, height or picture.height))


def _length(measure: Measure | None, own: int) -> int | None:
    if measure is None or measure.value is None:
        return None
    if measure.unit == "percent_unit":
        return max(1, round(own * measure.value / 100))
    return max(1, measure.value)  # Points are pixels at the 72 dpi the twin works in.


def manifest(renderer: Renderer, document: bytes) -> bytes:
    """Return the layer tree of a document as JSON."""
    try:
        tree = renderer.manifest(document)
    except UnreadableDocument as error:
        raise JobFailedError(_INVALID, f"image.source: {error}") from error
    return json.dumps(tree, ensure_ascii=False).encode()


def artboard(
    renderer: Renderer, documents: Sequence[bytes], spacing: int, specs: Sequence[OutputSpec]
) -> list[bytes]:
    """Return the documents side by side."""
    pictures = [_opened(renderer, Composition(document=each)) for each in documents]
    width = sum(each.width for each in pictures) + spacing * (len(pictures) - 1)
    board = Image.new("RGB", (width, max(each.height for each in pictures)), "white")
    left = 0
    for picture in pictures:
        board.paste(opaque(picture), (left, 0))
        left += picture.width + spacing
    return [encode(board, spec) for spec in specs]


def adjusted(
    renderer: Renderer,
    document: bytes,
    light: tuple[bool, float, int],
    specs: Sequence[OutputSpec],
) -> list[bytes]:
    """Return the picture with auto tone, exposure (stops) and contrast (percent) applied."""
    auto_tone, exposure, contrast = light
    picture = opaque(_opened(renderer, Composition(document=document)))
    if auto_tone:
        picture = ImageOps.autocontrast(picture, cutoff=1)
    picture = ImageEnhance.Brightness(picture).enhance(2.0**exposure)
    picture = ImageEnhance.Contrast(picture).enhance(1 + contrast / 100)
    return [
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
        if spec.media_type == "application/rdf+xml"
        else encode(picture, spec)
        for spec in specs
    ]


def cropped(picture_bytes: bytes, ratio: tuple[int, int]) -> tuple[bytes, dict[str, object]]:
    """Return the largest centred crop of a ratio as JPEG, and its box in pixels."""
    picture = opaque(decode(picture_bytes, "image.source"))
    across, down = ratio
    width = min(picture.width, picture.height * across // down)
    height = min(picture.height, picture.width * down // across)
    left, top = (picture.width - width) // 2, (picture.height - height) // 2
    target = io.BytesIO()
    picture.crop((left, top, left + width, top + height)).save(target, "JPEG", quality=90)
    return target.getvalue(), {"x": left, "y": top, "width": width, "height": height}


def cut_out(picture_bytes: bytes, mode: str, media_type: str) -> list[bytes]:
    """Return the middle of the picture without its surroundings, or the mask of it."""
    picture = decode(picture_bytes, "image.source")
    if max(picture.size) > _LARGEST_CUT_OUT:
        raise JobFailedError(_INVALID, "image.source: larger than 6000 x 6000 pixels.")
    mask = Image.new("L", picture.size, 0)
    inset_x, inset_y = picture.width // 10, picture.height // 10
    box = (inset_x, inset_y, picture.width - inset_x, picture.height - inset_y)
    ImageDraw.Draw(mask).ellipse(box, fill=255)
    mask = mask.filter(ImageFilter.GaussianBlur(max(1, min(picture.size) // 200)))
    if mode == "mask":
        return [encode(mask, OutputSpec(media_type=media_type))]
    subject = picture.convert("RGB")
    subject.putalpha(mask)
    return [encode(subject, OutputSpec(media_type=media_type))]
