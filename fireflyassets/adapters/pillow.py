"""Pictures through Pillow. Does not belong here: judging whether a picture is the wanted one."""

import io
from typing import Final

from PIL import Image, UnidentifiedImageError

from fireflyassets.adapters import references
from fireflyassets.ports.pictures import Normal, PictureReader, Seen, Unreadable

PIXEL_LIMIT: Final = 80_000_000
"""Above it a header is taken for a size bomb and nothing is decoded."""

_MEDIA_TYPES: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "TIFF": "image/tiff",
}


class PillowPictures(PictureReader):
    """Decodes JPEG, PNG, WebP and TIFF."""

    def look(self, content: bytes) -> Seen | Unreadable:
        """Decode *content* whole and say what it is."""
        try:
            with Image.open(io.BytesIO(content), formats=list(_MEDIA_TYPES)) as picture:
                width, height = picture.size
                if width * height > PIXEL_LIMIT:
                    return Unreadable(f"{width}x{height} pixels are more than we decode")
                picture.load()
                return Seen(_MEDIA_TYPES[picture.format or ""], width, height)
        except Image.DecompressionBombError:
            return Unreadable("its header claims far more pixels than we decode")
        except UnidentifiedImageError:
            return Unreadable(f"{len(content)} bytes that are no JPEG, PNG, WebP or TIFF")
        except (OSError, SyntaxError, ValueError) as error:
            return Unreadable(f"it does not decode ({type(error).__name__})")

    def normal(self, content: bytes) -> Normal | Unreadable:
        """Return *content* as a reference that can be paid for, or why it can't be one."""
        seen = self.look(content)
        if isinstance(seen, Unreadable):
            return seen
        return references.normal(content, seen)

    def thumbnail(self, content: bytes, *, width: int) -> bytes:
        """Return *content* as WebP within a 4:3 box of *width* pixels."""
        with Image.open(io.BytesIO(content), formats=list(_MEDIA_TYPES)) as picture:
            picture.draft("RGB", (width, width))
            small = picture.convert("RGB")
            small.thumbnail((width, width * 3 // 4))
            target = io.BytesIO()
            small.save(target, "WEBP", quality=80)
            return target.getvalue()
