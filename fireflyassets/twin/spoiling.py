"""Outputs that are wrong on purpose.

Belongs here: turning good bytes into bad ones. Does not belong here: when (`faults.py`).
"""

import io

from PIL import Image, UnidentifiedImageError

from fireflyassets.twin.effects import Effects

_KINDS = ("zero_bytes", "truncated", "wrong_size")


def spoils(effects: Effects) -> str | None:
    """Return how the bytes are to be spoilt, if they are."""
    return next((kind for kind in _KINDS if effects.spoils(kind)), None)


def spoiled(content: bytes, how: str) -> bytes:
    """Return *content* empty, cut in half, or as a picture of half the size."""
    if how == "zero_bytes":
        return b""
    if how == "truncated":
        return content[: len(content) // 2]
    try:
        with Image.open(io.BytesIO(content)) as picture:
            smaller = picture.resize((max(1, picture.width // 2), max(1, picture.height // 2)))
            target = io.BytesIO()
            smaller.save(target, picture.format or "PNG")
    except UnidentifiedImageError:
        return content
    return target.getvalue()
