"""From a picture to the bytes of one output.

Belongs here: sizes, resampling, trimming and the encoders for each media type and quality word.
Does not belong here: what the picture shows.
"""

import io
from dataclasses import dataclass
from typing import IO, Protocol, cast

from PIL import Image

from fireflyassets.twin.failures import JobFailedError

JPEG_QUALITIES = {
    "very_poor": 10,
    "poor": 25,
    "low": 40,
    "medium": 60,
    "high": 80,
    "maximum": 92,
    "photoshop_max": 98,
}
# Photoshop's ten words on zlib's scale.
PNG_COMPRESSIONS = {
    "none": 0,
    "very_low": 1,
    "low": 2,
    "medium_low": 3,
    "medium": 4,
    "medium_high": 5,
    "default": 6,
    "high": 7,
    "very_high": 8,
    "maximum": 9,
}
RESAMPLINGS = {
    "nearest_neighbor": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "bicubic_smoother": Image.Resampling.BICUBIC,
    "bicubic_sharper": Image.Resampling.LANCZOS,
}
PSD_MEDIA_TYPE = "image/vnd.adobe.photoshop"


class _Written(Protocol):
    """What is used of psd-tools' document, whose own annotation leaves a parameter open."""

    def save(self, fp: IO[bytes]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class OutputSpec:
    """What one output asks for; sizes in pixels, None or 0 for the picture's own."""

    media_type: str
    width: int | None = None
    height: int | None = None
    max_width: int | None = None
    quality: str = "maximum"
    compression: str = "default"
    resample: str = "bicubic_sharper"
    crop_mode: str = "document_bounds"


def asked_size(size: tuple[int, int], spec: OutputSpec) -> tuple[int, int]:
    """Return the output's size: one given side keeps the proportions, two are taken as they are."""
    own_width, own_height = size
    width, height = spec.width or 0, spec.height or 0
    if width and not height:
        height = max(1, round(own_height * width / own_width))
    elif height and not width:
        width = max(1, round(own_width * height / own_height))
    width, height = width or own_width, height or own_height
    if spec.max_width and width > spec.max_width:
        height = max(1, round(height * spec.max_width / width))
        width = spec.max_width
    return width, height


def sized(picture: Image.Image, spec: OutputSpec) -> Image.Image:
    """Return *picture* trimmed and resized as *spec* asks."""
    if spec.crop_mode == "trim_to_transparency" and "A" in picture.getbands():
        box = picture.getchannel("A").getbbox()
        picture = picture.crop(box) if box else picture
    target = asked_size(picture.size, spec)
    if target == picture.size:
        return picture
    return picture.resize(target, RESAMPLINGS[spec.resample])


def encode(picture: Image.Image, spec: OutputSpec) -> bytes:
    """Return the bytes of one output; JPEG goes on white, as it has no transparency."""
    picture = sized(picture, spec)
    target = io.BytesIO()
    if spec.media_type == "image/jpeg":
        quality = JPEG_QUALITIES[spec.quality]
        opaque(picture).save(target, "JPEG", quality=quality, dpi=(72, 72))
    elif spec.media_type == "image/png":
        picture.save(target, "PNG", compress_level=PNG_COMPRESSIONS[spec.compression])
    elif spec.media_type == "image/tiff":
        picture.save(target, "TIFF", compression="tiff_lzw")
    elif spec.media_type == "image/webp":
        picture.save(target, "WEBP", quality=90)
    elif spec.media_type == PSD_MEDIA_TYPE:
        _save_psd(picture, target)
    else:
        raise JobFailedError("400401", f"The twin does not write {spec.media_type}.")
    return target.getvalue()


def _save_psd(picture: Image.Image, target: IO[bytes]) -> None:
    """Write a flat PSD; psd-tools brings scipy, so only the render pool imports it."""
    from psd_tools import PSDImage  # noqa: PLC0415 - as the summary says

    cast("_Written", PSDImage.frompil(picture)).save(target)


def opaque(picture: Image.Image) -> Image.Image:
    """Return *picture* as RGB, transparency on white."""
    if "A" not in picture.getbands():
        return picture.convert("RGB")
    ground = Image.new("RGB", picture.size, "white")
    ground.paste(picture.convert("RGB"), mask=picture.getchannel("A"))
    return ground


def decode(content: bytes, where: str) -> Image.Image:
    """Return the picture in *content*, or fail the job naming the field *where* it came from."""
    try:
        with Image.open(io.BytesIO(content)) as opened:
            opened.load()
            return opened.convert("RGBA" if has_alpha(opened) else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise JobFailedError("400401", f"{where}: the picture cannot be read.") from error


def has_alpha(picture: Image.Image) -> bool:
    """Return whether *picture* carries transparency, palettes included."""
    return "A" in picture.getbands() or "transparency" in cast("dict[str, object]", picture.info)
