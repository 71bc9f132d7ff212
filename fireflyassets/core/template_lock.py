"""The template lock: what a campaign's documents were when a designer let them go.

Belongs here: the lock as a value, its rules for texts, and the differences in a designer's words.
Does not: reading documents and files (``adapters/lock_file.py``). A document that changed after
its release is refused before a job is paid, even if it could still be filled.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fireflyassets.core.font import Font
from fireflyassets.core.template import Box, LayerKind, Template, TemplateLayer
from fireflyassets.core.text_rule import TextRule
from fireflyassets.core.text_style import TextStyle


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LayerLock(_Part):
    """One layer, in the order of the document."""

    id: int
    name: str
    kind: LayerKind
    box: tuple[int, int, int, int]
    """Left, top, right, bottom."""
    visible: bool
    fonts: tuple[str, ...] = ()
    style: dict[str, object] | None = None
    texts: dict[str, TextRule] = Field(default_factory=dict)
    """Locale -> rule, for a layer that takes a text."""


class DocumentLock(_Part):
    """One document."""

    sha256: str
    width: int
    height: int
    golden: str
    """Hash of the picture that the document itself gives."""
    layers: tuple[LayerLock, ...]


class FontLock(_Part):
    """One font."""

    glyphs: Annotated[str, StringConstraints(pattern=r"^([0-9A-F]+(-[0-9A-F]+)?( |$))*$")]
    """What it draws: ``20-7E A0``. Written by hand for a font without a file."""
    sha256: str | None = None
    """Of its file; None for a font of the vendor's, whose texts go by their budget."""


class TemplateLock(_Part):
    """All documents of a campaign, by aspect, and the fonts that fill them, by name."""

    format: Literal[1] = 1
    documents: dict[str, DocumentLock]
    fonts: dict[str, FontLock] = Field(default_factory=dict)


Fonts = Mapping[str, tuple[str, Font]]
"""Name -> the hash of the font's file, and the font."""


def lock(
    templates: Mapping[str, Template],
    rules: Mapping[str, Mapping[str, TextRule]],
    before: TemplateLock | None = None,
    fonts: Fonts | None = None,
) -> TemplateLock:
    """Return the lock of *templates*; rules that a designer wrote *before* stay.

    *rules* are the first ones: text layer -> locale -> rule. Fonts without a file stay too.
    """
    by_hand = {
        name: font for name, font in (before.fonts if before else {}).items() if not font.sha256
    }
    from_files = {
        name: FontLock(glyphs=font.glyphs, sha256=digest)
        for name, (digest, font) in (fonts or {}).items()
    }
    return TemplateLock(
        fonts={**by_hand, **from_files},
        documents={
            aspect: _document(template, rules, before.documents.get(aspect) if before else None)
            for aspect, template in sorted(templates.items())
        },
    )


def drift(
    locked: TemplateLock, templates: Mapping[str, Template], fonts: Fonts | None = None
) -> Iterator[str]:
    """Yield what is not as it was locked, in sentences for a designer."""
    there = {name: digest for name, (digest, _) in (fonts or {}).items()}
    was = {name: font.sha256 for name, font in locked.fonts.items() if font.sha256}
    for name in sorted(set(was) | set(there)):
        if name not in there:
            yield f"the lock has font {name}, and the campaign has no file of it"
        elif name not in was:
            yield f"font {name} is not locked"
        elif was[name] != there[name]:
            yield f"the file of font {name} has changed"
    for aspect in sorted(set(locked.documents) | set(templates)):
        if aspect not in templates:
            yield f"{aspect}: the lock has a document for it, and the campaign has none"
        elif aspect not in locked.documents:
            yield f"{aspect}: the document is not locked"
        else:
            yield from _document_drift(aspect, locked.documents[aspect], templates[aspect])


def _document(
    template: Template,
    rules: Mapping[str, Mapping[str, TextRule]],
    before: DocumentLock | None,
) -> DocumentLock:
    kept = {layer.name: layer.texts for layer in before.layers} if before else {}
    layers = tuple(
        _layer(layer, {**rules.get(layer.name, {}), **kept.get(layer.name, {})})
        for layer in template.layers
    )
    return DocumentLock(
        sha256=template.sha256,
        width=template.width,
        height=template.height,
        golden=template.preview,
        layers=layers,
    )


def _layer(layer: TemplateLayer, texts: Mapping[str, TextRule]) -> LayerLock:
    return LayerLock(
        id=layer.id,
        name=layer.name,
        kind=layer.kind,
        box=_box(layer.box),
        visible=layer.visible,
        fonts=layer.fonts,
        style=_style(layer.style),
        texts=dict(texts) if layer.kind is LayerKind.TEXT else {},
    )


def _document_drift(aspect: str, was: DocumentLock, now: Template) -> Iterator[str]:
    if was.sha256 == now.sha256:
        return
    told = list(_facts_drift(was, now))
    for fact in told:
        yield f"{aspect}: {fact}"
    if not told:
        yield f"{aspect}: the file has changed, though layers, places, fonts and picture have not"


def _facts_drift(was: DocumentLock, now: Template) -> Iterator[str]:
    if (was.width, was.height) != (now.width, now.height):
        yield f"the canvas was {was.width}x{was.height} px and is {now.width}x{now.height} px"
    before = {layer.id: layer for layer in was.layers}
    after = {layer.id: layer for layer in now.layers}
    for layer in was.layers:
        if layer.id not in after:
            yield f"layer {layer.name!r} (id {layer.id}) is gone"
    for layer in now.layers:
        if layer.id in before:
            yield from _layer_drift(before[layer.id], _layer(layer, before[layer.id].texts))
        else:
            yield f"layer {layer.name!r} (id {layer.id}) is new"
    order = [layer.id for layer in was.layers if layer.id in after]
    if order != [layer.id for layer in now.layers if layer.id in before]:
        yield "the layers lie in another order"
    if was.golden != now.preview:
        yield "the picture that the document gives is another one"


def _layer_drift(was: LayerLock, now: LayerLock) -> Iterator[str]:
    name = f"layer {was.name!r} (id {was.id})"
    if was.name != now.name:
        yield f"{name} is now named {now.name!r}"
    if was.kind is not now.kind:
        yield f"{name} was a {was.kind} and is a {now.kind}"
    if was.box != now.box:
        yield f"{name} stood at {_place(was.box)} and stands at {_place(now.box)}"
    if was.visible != now.visible:
        yield f"{name} is now {'shown' if now.visible else 'hidden'}"
    if was.fonts != now.fonts:
        yield f"{name} was set in {_names(was.fonts)} and is set in {_names(now.fonts)}"
    for field in sorted({*(was.style or {}), *(now.style or {})} - {"font"}):
        old, new = (was.style or {}).get(field), (now.style or {}).get(field)
        if old != new:
            yield f"{name} had {field} {old} and has {new}"


def _place(box: tuple[int, int, int, int]) -> str:
    left, top, right, bottom = box
    return f"{left}, {top} with {right - left}x{bottom - top} px"


def _names(fonts: tuple[str, ...]) -> str:
    return ", ".join(fonts) or "no font"


def _box(box: Box) -> tuple[int, int, int, int]:
    return (box.left, box.top, box.right, box.bottom)


def _style(style: TextStyle | None) -> dict[str, object] | None:
    if style is None:
        return None
    said = style.to_json()
    colour = style.colour
    return {**said, "colour": None if colour is None else list(colour)}
