"""The renderer: a PSD and edits in, the picture of the whole canvas out.

Belongs here: the calls that the server makes. Does not: the parts (psd_file, psd_geometry,
psd_plates, psd_patches, text) or the cache (psd_prepared). The PSD decides everything: move a
slot, recolour a layer or change a font size in it, and the output follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image

from fireflyassets.twin import psd_exact, psd_manifest
from fireflyassets.twin.psd_file import LayerFact, find, open_document
from fireflyassets.twin.psd_geometry import Frame, Slot
from fireflyassets.twin.psd_patches import Patch, covered, draw_picture, draw_text, lay
from fireflyassets.twin.psd_plates import Plan
from fireflyassets.twin.psd_prepared import Prepared, Shelf
from fireflyassets.twin.refusals import (
    MissingFont,
    MissingGlyphs,
    TextOverflow,
    UnknownLayer,
    UnreadableDocument,
    UnreadablePicture,
    WrongLayerKind,
)

__all__ = [
    "LayerEdit",
    "MissingFont",
    "MissingGlyphs",
    "TextOverflow",
    "UnknownLayer",
    "UnreadableDocument",
    "UnreadablePicture",
    "WrongLayerKind",
    "manifest",
    "render",
]

_SHELF = Shelf()


@dataclass(frozen=True)
class LayerEdit:
    """New content for one layer, meant by *id* if given, else by *name*."""

    name: str | None
    id: int | None
    picture: bytes | None
    text: str | None
    size: float | None = None
    """Of the text, in pixels; None for the document's own."""
    leading: float | None = None


def render(
    document: bytes, edits: Sequence[LayerEdit], *, missing_font: str = "fail"
) -> Image.Image:
    """Return the whole canvas with *edits* in place: RGB, or RGBA where it is transparent.

    Later edits of the same layer win. An edit of a hidden layer is checked but not seen.
    *missing_font* is ``fail`` or ``use_default``, as in Photoshop's ``fontOptions``. Safe to
    call from many threads; the first render of a document takes seconds, the next ones
    milliseconds.

    Raises:
        UnreadableDocument: The PSD is corrupt or truncated.
        UnreadablePicture: A picture cannot be decoded.
        UnknownLayer: An edit's layer does not exist or is ambiguous.
        WrongLayerKind: A picture is meant for no smart object, or a text for no text layer.
        TextOverflow: A text does not fit its box.
        MissingGlyphs: A text has a character that no bundled font draws.
        MissingFont: A layer's font is not bundled.
    """
    prepared = _SHELF.get(document)
    patches: dict[int, Patch] = {}
    for edit in edits:
        fact = find(prepared.facts, name=edit.name, layer_id=edit.id)
        patch = _drawn(prepared, fact, edit, missing_font)
        if patch is not None:
            patches[fact.index] = patch
    plan = prepared.plan(frozenset(patches))
    if plan is None:
        return _plain(psd_exact.render(document, patches))
    return _plain(_laid(plan, patches))


def manifest(document: bytes) -> dict[str, object]:
    """Return the layer tree: id, name, type, bounds, isVisible and children of each layer.

    Raises:
        UnreadableDocument: The PSD is corrupt or truncated.
    """
    return psd_manifest.describe(open_document(document))


def _drawn(prepared: Prepared, fact: LayerFact, edit: LayerEdit, missing_font: str) -> Patch | None:
    """Return what the edit draws, None if it brings nothing."""
    match (prepared.geometry(fact), edit.picture, edit.text):
        case (_, None, None):
            return None
        case (Slot() as slot, bytes() as picture, None):
            return draw_picture(slot, picture)
        case (Frame() as frame, None, str() as words):
            sized = frame.sized(edit.size, edit.leading)
            return draw_text(sized, words, missing_font=missing_font)
        case _:
            brings = "a text" if edit.picture is None else "a picture"
            raise WrongLayerKind(
                f"Layer {fact.name!r} (id {fact.id}) is of the kind {fact.kind!r} and cannot "
                f"take {brings}; a picture needs a smart object, a text a text layer."
            )


def _laid(plan: Plan, patches: Mapping[int, Patch]) -> Image.Image:
    canvas = plan.base.copy()
    for step in plan.steps:
        if isinstance(step, Patch):
            lay(canvas, step)
        elif step.cover is not None:
            lay(canvas, covered(patches[step.index], step.cover))
    return canvas


def _plain(image: Image.Image) -> Image.Image:
    """Return RGB where nothing is transparent."""
    if image.mode == "RGBA" and image.getchannel("A").getextrema() == (255, 255):
        return image.convert("RGB")
    return image
