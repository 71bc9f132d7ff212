"""The demo's renditions on disk: the files themselves, their thumbnails, and how many differ.

Belongs here: decoding, shrinking, comparing. Does not: fetching them, the page that shows them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import imagehash
from PIL import Image

from fireflyassets.core.ids import parse_aspect

THUMBNAIL_PIXELS: Final = 640
HASH_SIDE: Final = 16
"""256 bits of a picture's coarse structure."""
SAME_BITS: Final = 8
"""Hashes this close are one picture: compressing it anew turns few bits, other art half of all."""


@dataclass(frozen=True, slots=True)
class Rendition:
    """One rendition, stored."""

    job_id: str
    aspect: str
    file: Path
    thumbnail: Path
    width: int
    height: int
    looks: str
    """Perceptual hash, in hex."""

    @property
    def fits(self) -> bool:
        """Say whether the picture has the size that was asked for."""
        return (self.width, self.height) == parse_aspect(self.aspect)


def keep(content: bytes, *, job_id: str, aspect: str, name: str, folder: Path) -> Rendition:
    """Store a rendition and its thumbnail under *folder*.

    Raises:
        OSError: The bytes are no picture that can be decoded.
    """
    with Image.open(BytesIO(content)) as picture:
        picture.load()
        extension = (picture.format or "bin").lower().replace("jpeg", "jpg")
        file = folder / "renditions" / f"{name}-{aspect}.{extension}"
        thumbnail = folder / "thumbnails" / f"{name}-{aspect}.jpg"
        for path in (file, thumbnail):
            path.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        small = picture.convert("RGB")
        small.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        small.save(thumbnail, quality=85)
        return Rendition(
            job_id=job_id,
            aspect=aspect,
            file=file,
            thumbnail=thumbnail,
            width=picture.width,
            height=picture.height,
            looks=str(imagehash.phash(picture, hash_size=HASH_SIDE)),
        )


def distinct(renditions: Iterable[Rendition]) -> int:
    """Return how many renditions look different from each one before them."""
    seen: list[int] = []
    for rendition in renditions:
        looks = int(rendition.looks, 16)
        if all((looks ^ other).bit_count() > SAME_BITS for other in seen):
            seen.append(looks)
    return len(seen)
