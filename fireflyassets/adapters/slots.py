"""What a template's slots show before they are filled, and whether a composite still shows it.

Belongs here: the coarse comparison of two pictures, tile by tile. Does not: what becomes of a
composite that was not filled (``stages/compose.py``). A service may answer `succeeded` and keep
the template's own picture; nothing but the pixels tells.
"""

import io
from collections.abc import Collection, Iterator
from typing import Final

from PIL import Image

from fireflyassets.adapters import psd
from fireflyassets.core.template import Box
from fireflyassets.ports.pictures import SlotView

_GRID: Final = 24
"""Tiles a side: coarse enough for the noise of a JPEG, fine enough for a text across a slot."""
_NOISE: Final = 8
"""Of 255: how far the mean of an unchanged tile may be off."""
_CHANGED: Final = 0.02
"""Share of the tiles that may differ in a slot that was not filled."""
_TELLING: Final = _GRID * _GRID // 10
"""Fewest tiles that say anything."""
_PIXEL_LIMIT: Final = 80_000_000


def views(document: bytes, *, pictures: Collection[str], texts: Collection[str]) -> list[SlotView]:
    """Return how the layers *pictures* look in the document's own preview.

    None for a document without a preview that can be read. Where a filled layer lies above a slot,
    its tiles are left out: they change with every job.
    """
    try:
        template = psd.read_template(document)
        if template.width * template.height > _PIXEL_LIMIT:
            return []
        with Image.open(io.BytesIO(document), formats=["PSD"]) as preview:
            flat = preview.convert("RGB")
    except (psd.UnreadableTemplate, OSError, ValueError, SyntaxError):
        return []
    found: list[SlotView] = []
    for place, layer in enumerate(template.layers):
        box = _clipped(layer.box, flat.size)
        if layer.name in pictures and box[0] < box[2] and box[1] < box[3]:
            above = [
                one.box
                for one in template.layers[place + 1 :]
                if one.name in pictures or one.name in texts
            ]
            telling = tuple(_uncovered(box, above))
            found.append(SlotView(layer.name, box, _tiles(flat, box), telling))
    return found


def unfilled(picture: Image.Image, seen: Collection[SlotView]) -> list[str]:
    """Return the slots in which *picture* shows what the template did."""
    flat = picture.convert("RGB")
    return [view.layer for view in seen if _is_unchanged(view, _tiles(flat, view.box))]


def _is_unchanged(view: SlotView, tiles: bytes) -> bool:
    if len(view.telling) < _TELLING:
        return False
    changed = sum(
        any(abs(tiles[3 * at + c] - view.tiles[3 * at + c]) > _NOISE for c in range(3))
        for at in view.telling
    )
    return changed <= len(view.telling) * _CHANGED


def _tiles(flat: Image.Image, box: tuple[int, int, int, int]) -> bytes:
    return flat.resize((_GRID, _GRID), Image.Resampling.BOX, box=box).tobytes()


def _clipped(box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    return (
        max(0, box.left),
        max(0, box.top),
        min(size[0], box.right),
        min(size[1], box.bottom),
    )


def _uncovered(slot: tuple[int, int, int, int], above: Collection[Box]) -> Iterator[int]:
    """Yield the tiles that no box *above* comes nearer to than one tile: texts may stand out."""
    wide, high = (slot[2] - slot[0]) / _GRID, (slot[3] - slot[1]) / _GRID
    for at in range(_GRID * _GRID):
        left, top = slot[0] + wide * (at % _GRID), slot[1] + high * (at // _GRID)
        near = Box(int(left - wide), int(top - high), int(left + 2 * wide), int(top + 2 * high))
        if not any(_overlap(near, one) for one in above):
            yield at


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.left < other.right
        and other.left < one.right
        and one.top < other.bottom
        and other.top < one.bottom
    )
