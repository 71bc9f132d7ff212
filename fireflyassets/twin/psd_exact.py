"""The slow way: put the edits into the document and flatten all of it.

Belongs here: documents that cannot be cut into plates, since what lies above an edited layer
depends on the pixels below it. Does not: the usual templates (psd_plates), which this way
renders alike but in seconds.
"""

from collections.abc import Mapping

from PIL import Image
from psd_tools import PSDImage
from psd_tools.api.layers import GroupMixin, Layer, PixelLayer

from fireflyassets.twin import psd_file, psd_flatten, psd_geometry
from fireflyassets.twin.psd_patches import Patch, covered


def render(document: bytes, patches: Mapping[int, Patch]) -> Image.Image:
    """Return *document* as RGBA with *patches* in place of the layers at those indices."""
    psd = psd_file.open_document(document)
    with psd_file.decoding():
        every = psd_file.layers(psd)
        for index, patch in patches.items():
            _replace(psd, every[index], patch)
        return psd_flatten.document(psd)


def _replace(psd: PSDImage, layer: Layer, patch: Patch) -> None:
    """Put a pixel layer in the layer's stead, its opacity and mask already applied."""
    parent = layer.parent
    if not isinstance(parent, GroupMixin):
        raise TypeError("a layer outside any group")
    cover = psd_geometry.read_cover(layer, psd.size)
    shown = covered(patch, cover)
    left, top = shown.at
    new = PixelLayer.frompil(
        shown.image.convert("RGBA"), parent, name=layer.name, top=top, left=left
    )
    new.blend_mode = layer.blend_mode
    new.visible = layer.visible
    place = parent.index(layer)
    clipping = layer.clipping
    parent.remove(new)
    parent.insert(place, new)
    parent.remove(layer)
    new.clipping = clipping
