"""The template lock: what a campaign's documents were when a designer let them go.

Belongs here: the lock as a value, its rules for texts, and the differences in a designer's words.
Does not: reading documents and files (``adapters/lock_file.py``). A document that changed after
its release is refused before a job is paid, even if it could still be filled.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireflyassets.core.template import Box, LayerKind, Template, TemplateLayer
from fireflyassets.core.text_style import TextStyle


class Fit(StrEnum):
    """What becomes of a text that is too long for its layer."""

    FAIL = "fail"
    SHRINK = "shrink"
    LINES = "lines"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextRule(_Part):
    """How much a layer takes in a locale."""

    budget: Annotated[int, Field(ge=1, le=500)]
    """Most code points."""
    fit: Fit = Fit.FAIL
    shrink_to: Annotated[int, Field(ge=50, le=100)] | None = None
    """Smallest size in percent of the declared one; with ``shrink``."""
    max_lines: Annotated[int, Field(ge=1, le=20)] | None = None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.fit is Fit.SHRINK) != (self.shrink_to is not None):
            raise ValueError("shrink_to belongs to fit `shrink`: give both or neither")
        if self.fit is Fit.LINES and self.max_lines is None:
            raise ValueError("fit `lines` needs max_lines")
        return self


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


class TemplateLock(_Part):
    """All documents of a campaign, by aspect."""

    format: Literal[1] = 1
    documents: dict[str, DocumentLock]


def lock(
    templates: Mapping[str, Template],
    rules: Mapping[str, Mapping[str, TextRule]],
    before: TemplateLock | None = None,
) -> TemplateLock:
    """Return the lock of *templates*; rules that a designer wrote *before* stay.

    *rules* are the first ones: text layer -> locale -> rule.
    """
    return TemplateLock(
        documents={
            aspect: _document(template, rules, before.documents.get(aspect) if before else None)
            for aspect, template in sorted(templates.items())
        }
    )


def drift(locked: TemplateLock, templates: Mapping[str, Template]) -> Iterator[str]:
    """Yield what is not as it was locked, in sentences for a designer."""
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
