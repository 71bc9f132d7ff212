"""The pictures Firefly's calls make, computed in the render pool.

Belongs here: functions from bytes and a recipe to JPEG bytes; generate is real art, the others
keep Adobe's contract (size, count, what stays of the source) and no more.
Does not belong here: choosing inputs (`firefly.py`).
"""

import io
from dataclasses import dataclass

from PIL import Image, ImageFilter, ImageOps

from fireflyassets.twin.art import draw
from fireflyassets.twin.encoding import decode, opaque
from fireflyassets.twin.recipes import Recipe

_UPSCALED_LONGEST = 6144  # Adobe's guide caps the result near 6k.
_QUALITY = 88


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where the old picture stands in an expanded one; insets in pixels from the edges."""

    horizontal: str = "center"
    vertical: str = "center"
    left: int | None = None
    top: int | None = None
    right: int | None = None
    bottom: int | None = None


def _jpeg(picture: Image.Image) -> bytes:
    target = io.BytesIO()
    picture.save(target, "JPEG", quality=_QUALITY)
    return target.getvalue()


def generated(recipe: Recipe) -> bytes:
    """Return the picture of a prompt and seed."""
    return _jpeg(draw(recipe))


def similar(source: bytes, recipe: Recipe) -> bytes:
    """Return a picture that keeps the source's layout under another light."""
    below = ImageOps.fit(opaque(decode(source, "image.source")), (recipe.width, recipe.height))
    return _jpeg(Image.blend(below, draw(recipe), 0.35))


def expanded(source: bytes, recipe: Recipe, standing: Standing) -> bytes:
    """Return the source, shrunk to fit, on a ground grown from its own colours."""
    old = opaque(decode(source, "image.source"))
    size = (recipe.width, recipe.height)
    ground = ImageOps.fit(old, (64, 64)).filter(ImageFilter.GaussianBlur(4))
    picture = Image.blend(ground.resize(size, Image.Resampling.BICUBIC), draw(recipe), 0.15)
    if old.width > size[0] or old.height > size[1]:
        old = ImageOps.contain(old, size)
    picture.paste(old, _corner(old.size, size, standing))
    return _jpeg(picture)


def _corner(old: tuple[int, int], new: tuple[int, int], at: Standing) -> tuple[int, int]:
    left = _along(new[0] - old[0], at.horizontal, near=at.left or 0, far=at.right or 0)
    top = _along(new[1] - old[1], at.vertical, near=at.top or 0, far=at.bottom or 0)
    return left, top


def _along(room: int, word: str, *, near: int, far: int) -> int:
    if word == "center":
        return room // 2 + near - far
    return room - far if word in {"right", "bottom"} else near


def filled(source: bytes, mask: bytes, recipe: Recipe, *, invert: bool) -> bytes:
    """Return the source with new art where the mask is white."""
    size = (recipe.width, recipe.height)
    old = ImageOps.fit(opaque(decode(source, "image.source")), size)
    cover = ImageOps.fit(opaque(decode(mask, "mask.source")).convert("L"), size)
    return _jpeg(Image.composite(draw(recipe), old, ImageOps.invert(cover) if invert else cover))


def upscaled(source: bytes, factor: int) -> bytes:
    """Return the source enlarged by *factor*, up to the cap."""
    old = opaque(decode(source, "image.source"))
    size = (old.width * factor, old.height * factor)
    new = old.resize(size, Image.Resampling.BICUBIC)
    if max(size) > _UPSCALED_LONGEST:
        new = ImageOps.contain(new, (_UPSCALED_LONGEST, _UPSCALED_LONGEST))
    return _jpeg(new)
