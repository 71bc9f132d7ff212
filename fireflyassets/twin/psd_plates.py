"""A document cut into plates: flattened pixels between the layers that an edit replaces.

Belongs here: which documents may be cut, and the cutting. Does not: the cache (composite), or
what is laid between the plates (psd_patches). Flattening takes seconds, laying milliseconds, and
thousands of renders share one template and the same edited layers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import Image
from psd_tools import PSDImage
from psd_tools.api.layers import AdjustmentLayer, Group, GroupMixin, Layer
from psd_tools.constants import BlendMode

from fireflyassets.twin import psd_file, psd_flatten
from fireflyassets.twin.psd_geometry import Cover, read_cover
from fireflyassets.twin.psd_patches import OPAQUE, Patch


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an edited layer's new pixels go; *cover* is None for a hidden layer."""

    index: int
    cover: Cover | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to lay on *base*, in order, for one set of edited layers."""

    base: Image.Image
    steps: tuple[Patch | Opening, ...]


def cut(psd: PSDImage, edited: frozenset[int]) -> Plan | None:
    """Return the plan for the *edited* layer indices; None where plates would be wrong.

    They would be where what lies above an edited layer needs to know the pixels below it: a
    blend mode, an adjustment, a clipping; then the whole document must be flattened each time.
    """
    every = psd_file.layers(psd)
    chosen = {id(every[index]): index for index in edited}
    if not _is_plain(every, edited):
        return None
    size = (psd.width, psd.height)
    steps: list[Patch | Opening] = []
    run: list[Layer] = []
    for layer in _units(psd, chosen):
        if id(layer) not in chosen:
            run.append(layer)
            continue
        steps += _plate(psd, run)
        run = []
        cover = read_cover(layer, size) if layer.is_visible() else None
        steps.append(Opening(chosen[id(layer)], cover))
    steps += _plate(psd, run)
    return _based(steps, size)


def _based(steps: list[Patch | Opening], size: tuple[int, int]) -> Plan:
    """Begin with the lowest plate; an opaque one makes all that follows cheaper."""
    first = steps[0] if steps else None
    if isinstance(first, Patch) and first.image.size == size and first.image.mode == "RGB":
        return Plan(first.image, tuple(steps[1:]))
    return Plan(Image.new("RGBA", size), tuple(steps))


def _plate(psd: PSDImage, run: Sequence[Layer]) -> Iterator[Patch]:
    """Yield the flattened *run* of layers, cut to its ink, if anything of it shows."""
    if not any(layer.is_visible() for layer in run):
        return
    image = psd_flatten.run(psd, run)
    alpha = image.getchannel("A")
    if (box := alpha.getbbox()) is None:
        return
    opaque = alpha.crop(box).getextrema() == (OPAQUE, OPAQUE)
    yield Patch(image.convert("RGB").crop(box) if opaque else image.crop(box), (box[0], box[1]))


def _units(group: GroupMixin, chosen: dict[int, int]) -> Iterator[Layer]:
    """Yield, lowest first, the edited layers and the largest pieces without one."""
    for layer in group:
        if layer.clipping:
            continue
        inside = isinstance(layer, Group) and any(
            id(each) in chosen for each in layer.descendants()
        )
        if isinstance(layer, Group) and inside:
            yield from _units(layer, chosen)
        else:
            yield layer


def _is_plain(every: Sequence[Layer], edited: frozenset[int]) -> bool:
    """Say whether nothing above the lowest edited layer depends on pixels below it."""
    for index in edited:
        layer = every[index]
        if layer.clipping or layer.clip_layers or layer.blend_mode is not BlendMode.NORMAL:
            return False
        if not all(psd_flatten.is_plain_group(group) for group in psd_flatten.ancestors(layer)):
            return False
    above = every[min(edited, default=0) :]
    return all(
        layer.blend_mode in psd_flatten.PLAIN and not isinstance(layer, AdjustmentLayer)
        for layer in above
        if layer.is_visible()
    )
