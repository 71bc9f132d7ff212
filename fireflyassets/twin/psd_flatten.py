"""Many layers flattened into one picture.

Belongs here: a whole document, or a run of its layers, as RGBA pixels. Does not: which runs
there are (psd_plates). psd-tools flattens whatever Photoshop can blend, in seconds; what is
merely stacked, as in most templates, Pillow lays at a tenth of that.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from PIL import Image
from psd_tools import PSDImage
from psd_tools.api.layers import AdjustmentLayer, Artboard, Group, GroupMixin, Layer
from psd_tools.composite import composite, composite_pil
from psd_tools.constants import BlendMode, ColorMode, Resource

from fireflyassets.twin.psd_geometry import read_cover
from fireflyassets.twin.psd_patches import OPAQUE, Patch, covered, lay

PLAIN: Final = frozenset({BlendMode.NORMAL, BlendMode.PASS_THROUGH})
"""Blend modes that need to know nothing of the pixels below."""
_DEPTH: Final = 8
"""Bits per channel that Pillow takes as they are."""


def document(psd: PSDImage) -> Image.Image:
    """Return the whole document, drawn from its layers and not from its preview."""
    return _blended(psd, Layer.is_visible)


def run(psd: PSDImage, layers: Sequence[Layer]) -> Image.Image:
    """Return some of a document's layers, the lowest first, on a transparent canvas."""
    leaves = [leaf for layer in layers for leaf in _leaves(layer)]
    if _takes_pillow(psd) and all(_is_sheet(leaf) for leaf in leaves):
        return _stacked(psd, leaves)
    shown = {id(part) for layer in layers for part in _family(layer)}
    return _blended(psd, lambda layer: layer.is_visible() and id(layer) in shown)


def ancestors(layer: Layer) -> Iterator[Layer]:
    """Yield the groups around a layer, the innermost first."""
    parent = layer.parent
    while isinstance(parent, Layer):
        yield parent
        parent = parent.parent


def is_plain_group(group: Layer) -> bool:
    """Say whether a group merely holds its layers together."""
    return (
        group.blend_mode in PLAIN
        and group.opacity == OPAQUE
        and not (group.has_mask() or group.has_vector_mask() or group.has_effects())
        and not (group.clipping or group.clip_layers or isinstance(group, Artboard))
    )


def _takes_pillow(psd: PSDImage) -> bool:
    return (
        psd.color_mode is ColorMode.RGB
        and psd.depth == _DEPTH
        and Resource.ICC_PROFILE not in psd.image_resources
    )


def _stacked(psd: PSDImage, leaves: Sequence[Layer]) -> Image.Image:
    """Lay plain layers over each other."""
    canvas = Image.new("RGBA", psd.size)
    for leaf in leaves:
        image = leaf.topil(apply_icc=False)
        if image is not None:
            lay(canvas, covered(Patch(image, leaf.offset), read_cover(leaf, psd.size)))
    return canvas


def _blended(psd: PSDImage, shows: Callable[[Layer], bool]) -> Image.Image:
    """Flatten the layers that *shows* accepts, as Photoshop blends them."""
    if psd.color_mode is ColorMode.RGB and Resource.ICC_PROFILE not in psd.image_resources:
        colour, _, alpha = composite(psd, color=1.0, alpha=0.0, layer_filter=shows)
        pixels = np.rint(np.concatenate((colour, alpha), axis=2) * OPAQUE)
        return Image.fromarray(pixels.clip(0, OPAQUE).astype(np.uint8))
    # Cuts fractions off instead of rounding: a full alpha may come back as 254 (psd-tools 1.26).
    image = composite_pil(psd, color=1.0, alpha=0.0, viewport=None, layer_filter=shows, force=False)
    if image is None:
        return Image.new("RGBA", psd.size)
    image = image.convert("RGBA")
    image.putalpha(image.getchannel("A").point([*range(OPAQUE - 1), OPAQUE, OPAQUE]))
    return image


def _leaves(layer: Layer) -> Iterator[Layer]:
    """Yield the visible layers without groups; a group that does more stands for itself."""
    if not layer.is_visible():
        return
    if isinstance(layer, Group) and is_plain_group(layer):
        for child in layer:
            yield from _leaves(child)
    else:
        yield layer


def _is_sheet(layer: Layer) -> bool:
    """Say whether a layer is mere pixels that cover what lies below."""
    return (
        layer.has_pixels()
        and layer.blend_mode is BlendMode.NORMAL
        and not isinstance(layer, (GroupMixin, AdjustmentLayer))
        and not (layer.clipping or layer.clip_layers)
        and not (layer.has_vector_mask() or layer.has_effects())
    )


def _family(layer: Layer) -> Iterator[Layer]:
    """Yield a layer, all inside it, what is clipped to it, and the groups around it."""
    for member in (layer, *layer.clip_layers):
        yield member
        if isinstance(member, GroupMixin):
            yield from member.descendants()
    yield from ancestors(layer)
