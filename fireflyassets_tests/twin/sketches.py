"""Pictures and words to put into a template, and comparing what comes out.

Here: what several of the renderer's tests draw and measure. Not here: promises.
"""

from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from fireflyassets.twin.composite import LayerEdit

RED, BLUE = (200, 30, 30), (30, 60, 200)


def picture(size: tuple[int, int] = (1200, 900), kind: str = "PNG", mode: str = "RGB") -> bytes:
    """Return a picture that resembles no part of a template, and no two parts of it each other."""
    width, height = size
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    bands = (across * 7 // 8 + down * 5 // 8) % 256, (across // 3) % 256, (down // 3) % 256
    image = Image.fromarray(np.dstack(bands).astype(np.uint8)).convert(mode)
    content = BytesIO()
    image.save(content, kind)
    return content.getvalue()


def flat(colour: tuple[int, ...], mode: str = "RGB", kind: str = "PNG") -> bytes:
    """Return a small picture of one colour."""
    content = BytesIO()
    Image.new(mode, (64, 64), colour).save(content, kind)
    return content.getvalue()


def fill(content: bytes, layer: str = "Hero") -> LayerEdit:
    return LayerEdit(layer, None, content, None)


def say(words: str, layer: str = "Headline") -> LayerEdit:
    return LayerEdit(layer, None, None, words)


def pixels(image: Image.Image) -> npt.NDArray[np.int16]:
    return np.asarray(image.convert("RGB"), dtype=np.int16)


def at(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """Return one pixel."""
    return tuple(int(value) for value in pixels(image)[y, x])


def differing(one: Image.Image, other: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the box of all pixels that differ by more than rounding."""
    rows, columns = np.nonzero((np.abs(pixels(one) - pixels(other)) > 2).any(axis=2))
    if not rows.size:
        return None
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1
