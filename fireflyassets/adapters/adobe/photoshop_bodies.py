"""Photoshop v2's request bodies with the limits of its specification of June 2026.

Belongs here: one body per call, fields, bounds and rules over several fields. Does not: paths and
sending (``photoshop.py``). Guides contradict the specification in places; it is followed.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fireflyassets.adapters.adobe.bodies import Body, broken
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.photoshop_text import Name, TextBody
from fireflyassets.core.photoshop_step import INLINE_LONGEST

WIDEST: Final = 32_000
MOST_OUTPUTS: Final = 25


def _signed(url: str) -> str:
    address = parse_address(url)
    if address is None or (address.scheme != "https" and not address.is_loopback):
        raise broken(
            "url", "A URL is not a whole HTTPS URL.", "Sign it anew; encode what is not ASCII."
        )
    return url


Url = Annotated[str, AfterValidator(_signed)]
Side = Annotated[int, Field(ge=1, le=WIDEST)]


class UrlBody(Body):
    """A place to read from or write to."""

    url: Url


class FileBody(Body):
    """A file with its source."""

    source: UrlBody


class EditOperation(Body):
    """Edit a layer that is there."""

    type: Literal["edit"] = "edit"


class SmartObjectBody(Body):
    """The content of a smart object, embedded."""

    smart_object_file: FileBody


class LayerBody(Body):
    """A layer by its name, or by its id, which is safer."""

    type: Literal["smart_object_layer", "text_layer"]
    id: int | None = None
    name: Name
    operation: EditOperation = EditOperation()
    smart_object: SmartObjectBody | None = None
    text: TextBody | None = None
    transform_mode: Literal["none", "fit", "fill", "custom"] | None = None
    transform: dict[str, object] | None = None

    @model_validator(mode="after")
    def _transform_by_custom_only(self) -> Self:
        if self.transform is not None and self.transform_mode != "custom":
            raise broken(
                "transform",
                "A transform needs the mode `custom`; the service answers others with 400.",
                "Say `custom`, or leave the transform out.",
                field="transformMode",
            )
        return self


class EditsBody(Body):
    """All edits; the first layer named is drawn first."""

    layers: Annotated[tuple[LayerBody, ...], Field(min_length=1)]


class FontOptionsBody(Body):
    """`use_default` would render a wrong font and succeed."""

    missing_font_strategy: Literal["fail"] = "fail"
    additional_fonts: Annotated[tuple[FileBody, ...], Field(max_length=10)] | None = None


class OutputBody(Body):
    """A picture that is written to a URL of ours."""

    media_type: Literal["image/jpeg", "image/png", "image/tiff", "image/vnd.adobe.photoshop"]
    destination: UrlBody
    width: Side | None = None
    height: Side | None = None
    quality: Literal["maximum"] | None = None


Outputs = Annotated[tuple[OutputBody, ...], Field(min_length=1, max_length=MOST_OUTPUTS)]


class CompositeBody(Body):
    """`POST /v2/create-composite`. The font options stand at the top here."""

    image: FileBody
    edits: EditsBody
    font_options: FontOptionsBody = FontOptionsBody()
    outputs: Outputs

    @model_validator(mode="after")
    def _one_edit_a_layer(self) -> Self:
        names = [layer.name for layer in self.edits.layers]
        if twice := sorted({name[:80] for name in names if names.count(name) > 1}):
            raise broken(
                "layers",
                f"{len(twice)} layers are named both as a picture and as a text.",
                "Name each layer once.",
                field="edits.layers",
            )
        return self


class WrittenBody(Body):
    """Actions that stand in the request itself."""

    content: Annotated[str, Field(max_length=INLINE_LONGEST)]
    content_type: Literal["application/json"] = "application/json"


class ActionBody(Body):
    """A file of recorded actions, and which of them; or actions as they are written."""

    source: UrlBody | WrittenBody
    action_name: Name | None = None


class ActionOptionsBody(Body):
    """What to play. The font options stand inside here."""

    actions: Annotated[tuple[ActionBody, ...], Field(max_length=10)] | None = None
    uxp: FileBody | None = None
    additional_contents: Annotated[tuple[FileBody, ...], Field(max_length=25)] | None = None
    font_options: FontOptionsBody = FontOptionsBody()

    @model_validator(mode="after")
    def _something_to_play(self) -> Self:
        if not self.actions and self.uxp is None:
            raise broken("actions", "There is nothing to play.", "Name an action or a script.")
        return self


class ActionsBody(Body):
    """`POST /v2/execute-actions`."""

    image: FileBody
    options: ActionOptionsBody
    outputs: Outputs


class ManifestOutputBody(Body):
    """The list of layers, written to a URL of ours."""

    media_type: Literal["application/json"] = "application/json"
    destination: UrlBody


class ManifestBody(Body):
    """`POST /v2/generate-manifest`."""

    image: FileBody
    outputs: tuple[ManifestOutputBody]


class ArtboardBody(Body):
    """`POST /v2/create-artboard`."""

    images: Annotated[tuple[FileBody, ...], Field(min_length=1, max_length=25)]
    artboard_spacing: Annotated[int, Field(ge=0)]
    outputs: Outputs


class LightBody(Body):
    """Light."""

    exposure: Annotated[float, Field(ge=-5, le=5)] | None = None
    contrast: Annotated[int, Field(ge=-100, le=100)] | None = None


class AdjustmentsBody(Body):
    """What an edit changes."""

    auto_tone: bool | None = None
    light: LightBody | None = None


class EditOutputBody(Body):
    """A picture of an edit; its size is the input's."""

    media_type: Literal["image/jpeg", "image/png"]
    destination: UrlBody


class EditBody(Body):
    """`POST /v2/edit`."""

    image: FileBody
    edits: AdjustmentsBody
    outputs: tuple[EditOutputBody]
