"""Templates: what a campaign's layered document holds, and whether a recipe can be run on it.

Belongs here: the facts of a template and the faults that would fail its jobs. Does not: reading
a document. Photoshop finds such faults only after a picture was paid for, once per job; here
they are found when the campaign is loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from fireflyassets.core import ids
from fireflyassets.core.text_style import TextStyle


class LayerKind(StrEnum):
    """What a layer can take."""

    SMART_OBJECT = "smart object"
    TEXT = "text layer"
    GROUP = "group"
    PIXELS = "pixel layer"
    OTHER = "layer of another kind"


TAKES = {
    LayerKind.SMART_OBJECT: "a picture",
    LayerKind.TEXT: "a text",
}
"""What the two kinds that can be filled are filled with."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where a layer stands, in pixels of the canvas; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    def shows_on(self, width: int, height: int) -> bool:
        """Say whether any pixel lies on a canvas of that size."""
        return max(0, self.left) < min(width, self.right) and max(0, self.top) < min(
            height, self.bottom
        )


@dataclass(frozen=True, slots=True)
class TemplateLayer:
    """One layer; a text layer's box is its frame, a smart object's the bounds of its quad."""

    id: int
    name: str
    kind: LayerKind
    box: Box
    visible: bool = True
    """Whether the layer and all groups around it are shown."""
    style: TextStyle | None = None
    """How a text layer is set, by its first letters."""
    fonts: tuple[str, ...] = ()
    """PostScript names of all fonts that a text layer uses."""
    text_size: tuple[float, float] | None = None
    """Width and height of a text's box, to a fraction of a pixel; None where it has none."""


@dataclass(frozen=True, slots=True)
class Template:
    """A layered document: its canvas in pixels, all its layers, the hash of its bytes."""

    width: int
    height: int
    layers: tuple[TemplateLayer, ...]
    sha256: str
    """Of the whole file."""
    preview: str = ""
    """Hash of the picture that the document itself says it gives."""


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """Why a recipe cannot be run on a template, and how to mend it."""

    layer: str | None
    """The layer that the recipe names; None for the whole document."""
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def check_template(
    template: Template,
    *,
    aspect: str,
    slots: Mapping[str, LayerKind],
    document: str = "The template",
) -> list[TemplateFault]:
    """Return what stands in the way of filling *slots* (layer name -> kind) for *aspect*.

    Every slot must be exactly one layer, of its kind, shown, and on the canvas; and the canvas
    must have the aspect's size. *document* names the file in the sentences.
    """
    faults = [
        TemplateFault(None, f"{document} {sentence}")
        for sentence in _canvas_faults(template, aspect)
    ]
    for name, kind in slots.items():
        faults += [
            TemplateFault(name, f"{document} {sentence}")
            for sentence in _slot_faults(template, name, kind)
        ]
    return faults


def _canvas_faults(template: Template, aspect: str) -> Iterator[str]:
    if (template.width, template.height) != ids.parse_aspect(aspect):
        yield (
            f"has a canvas of {template.width}x{template.height} px, but the campaign delivers it "
            f"as {aspect}, which would stretch it. Resize the canvas to {aspect} px, or name "
            "another document for this aspect."
        )


def _slot_faults(template: Template, name: str, kind: LayerKind) -> Iterator[str]:
    found = [layer for layer in template.layers if layer.name == name]
    match found:
        case []:
            yield _missing(template.layers, name, kind)
        case [layer]:
            yield from _layer_faults(template, layer, kind)
        case _:
            layer_ids = ", ".join(str(layer.id) for layer in found)
            yield (
                f"has {len(found)} layers named {name!r} (ids {layer_ids}), so that nobody can "
                f"tell which one takes {_content(kind)}. Give each its own name."
            )


def _missing(layers: Sequence[TemplateLayer], name: str, kind: LayerKind) -> str:
    names = sorted({layer.name for layer in layers})
    folded = {each.casefold().strip(): each for each in names}
    close = get_close_matches(name.casefold().strip(), folded, n=1)
    hint = f" Did you mean {folded[close[0]]!r}?" if close else ""
    return (
        f"has no layer named {name!r}, into which the recipe puts {_content(kind)}.{hint} Rename "
        f"the layer, or mend the recipe; there are {', '.join(map(repr, names)) or 'no layers'}."
    )


def _layer_faults(template: Template, layer: TemplateLayer, kind: LayerKind) -> Iterator[str]:
    name = f"layer {layer.name!r} (id {layer.id})"
    if layer.kind is not kind:
        yield (
            f"has {name} as a {layer.kind}, which cannot take {_content(kind)}. Convert it to a "
            f"{kind}, or mend the recipe."
        )
    if not layer.visible:
        yield (
            f"hides {name}, so that {_content(kind)} put there would not be seen. Show the layer "
            "and the groups around it."
        )
    if not layer.box.shows_on(template.width, template.height):
        box = layer.box
        yield (
            f"has {name} outside the canvas or without any area (from {box.left}, {box.top} to "
            f"{box.right}, {box.bottom}), so that {_content(kind)} put there would not be seen. "
            "Move or enlarge it."
        )


def _content(kind: LayerKind) -> str:
    return TAKES.get(kind, "anything")
