"""A document's layers as Photoshop's manifest names them.

Belongs here: the words and the shape of the layer tree. Does not: rendering.
"""

from typing import Final

from psd_tools import PSDImage
from psd_tools.api.layers import AdjustmentLayer, GroupMixin, Layer

from fireflyassets.twin.psd_file import decoding

_TYPES: Final = {
    "smartobject": "smart_object_layer",
    "type": "text_layer",
    "group": "group_layer",
    "artboard": "group_layer",
    "solidcolorfill": "solid_color_layer",
}


def describe(psd: PSDImage) -> dict[str, object]:
    """Return the document's size and its layers, the topmost first."""
    with decoding():
        return {
            "document": {
                "width": psd.width,
                "height": psd.height,
                "imageMode": psd.color_mode.name.lower(),
                "bitDepth": psd.depth,
            },
            "layers": _children(psd),
        }


def _children(group: GroupMixin) -> list[dict[str, object]]:
    return [_layer(layer) for layer in reversed(list(group))]


def _layer(layer: Layer) -> dict[str, object]:
    left, top, right, bottom = layer.bbox
    described: dict[str, object] = {
        "id": layer.layer_id,
        "name": layer.name.rstrip("\0"),
        "type": _type(layer),
        "bounds": {"left": left, "top": top, "right": right, "bottom": bottom},
        "isVisible": layer.visible,
    }
    if isinstance(layer, GroupMixin):
        described["children"] = _children(layer)
    return described


def _type(layer: Layer) -> str:
    if isinstance(layer, AdjustmentLayer):
        return "adjustment_layer"
    return _TYPES.get(layer.kind, "layer")
