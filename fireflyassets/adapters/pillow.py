"""Pictures through Pillow. Does not belong here: judging whether a picture is the wanted one."""

import io
from collections.abc import Collection
from typing import Final

from PIL import Image, UnidentifiedImageError

from fireflyassets.adapters import references
from fireflyassets.adapters.slots import unfilled, views
from fireflyassets.core.perceptual import COLUMNS, ROWS, difference_hash
from fireflyassets.core.preflight import PIXEL_LIMIT, REFERENCE_PIXELS
from fireflyassets.ports.pictures import Normal, PictureReader, Seen, SlotView, Unreadable

_MEDIA_TYPES: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "TIFF": "image/tiff",
    "MPO": "image/jpeg",
}
"""An MPO is a JPEG with further pictures, such as a depth map, behind the one that is shown."""
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "TIFF")


class PillowPictures(PictureReader):
    """Decodes JPEG, PNG, WebP and TIFF."""

    def look(self, content: bytes, *, asked: tuple[int, int] | None = None) -> Seen | Unreadable:
        """Decode *content* whole and say what it is; never raises, whatever the bytes are."""
        try:
            with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
                return _looked(picture, asked)
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            return Unreadable("its header claims far more pixels than we decode")
        except UnidentifiedImageError:
            return Unreadable(f"{len(content)} bytes that are no JPEG, PNG, WebP or TIFF")
        except Exception as error:  # noqa: BLE001 - the boundary to a decoder, which raises anything.
            return Unreadable(f"it does not decode ({type(error).__name__})")

    def normal(self, content: bytes) -> Normal | Unreadable:
        """Return *content* as a reference that can be paid for, or why it can't be one."""
        if huge := _huge(content):
            return huge
        seen = self.look(content)
        if isinstance(seen, Unreadable):
            return seen
        try:
            return references.normal(content, seen)
        except Exception as error:  # noqa: BLE001 - the boundary to a decoder, as above.
            return Unreadable(f"it does not convert ({type(error).__name__})")

    def slots(
        self, document: bytes, *, pictures: Collection[str], texts: Collection[str]
    ) -> list[SlotView]:
        """Return how a template's layers *pictures* look before they and *texts* are filled."""
        return views(document, pictures=pictures, texts=texts)

    def unfilled(self, content: bytes, slots: Collection[SlotView]) -> list[str]:
        """Return the layers in which a picture still shows what the template did."""
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            return unfilled(picture, slots)

    def perceptual(self, content: bytes) -> int:
        """Return the difference hash of *content*."""
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            picture.draft("L", (COLUMNS, ROWS))
            grey = picture.convert("L").resize((COLUMNS, ROWS), Image.Resampling.BOX)
            return difference_hash(grey.tobytes())

    def xmp(self, content: bytes) -> bytes | None:
        """Return the XMP packet that a picture holds; None where it holds none."""
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            said: object = picture.info.get("xmp")
        return said if isinstance(said, bytes) else None

    def thumbnail(self, content: bytes, *, width: int) -> bytes:
        """Return *content* as WebP within a 4:3 box of *width* pixels; of a PSD what it shows."""
        with Image.open(io.BytesIO(content), formats=(*_FORMATS, "PSD")) as picture:
            picture.draft("RGB", (width, width))
            small = picture.convert("RGB")
            small.thumbnail((width, width * 3 // 4))
            target = io.BytesIO()
            small.save(target, "WEBP", quality=80)
            return target.getvalue()


def _huge(content: bytes) -> Unreadable | None:
    """Return why a picture is not decoded at all, by its header; None where it may be looked at."""
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            width, height = picture.size
    except Exception:  # noqa: BLE001 - the boundary to a decoder; a look says what is wrong.
        return None
    if width * height <= REFERENCE_PIXELS:
        return None
    most = REFERENCE_PIXELS // 1_000_000
    return Unreadable(f"it has {width}x{height} pixels, more than {most} million; scale it down")


def _looked(picture: Image.Image, asked: tuple[int, int] | None) -> Seen | Unreadable:
    width, height = picture.size
    kind = picture.format or ""
    if width * height > PIXEL_LIMIT:
        return Unreadable(f"{width}x{height} pixels are more than we decode")
    frames: int = getattr(picture, "n_frames", 1)
    if frames != 1 and kind != "MPO":
        return Unreadable(f"it holds {frames} pictures, not one")
    if asked is None or (width, height) == asked:
        picture.load()
    return Seen(_MEDIA_TYPES[kind], width, height)
