"""Photoshop V2's request bodies, after its OpenAPI document.

Belongs here: one class per call. Does not belong here: what the bodies share
(`photoshop_parts.py`), rules over several fields (`photoshop_rules.py`).
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from fireflyassets.twin.bodies import Body
from fireflyassets.twin.photoshop_parts import (
    MAX_OUTPUTS,
    Canvas,
    Edits,
    FontOptions,
    InlineSource,
    InputImage,
    LightroomOutput,
    ManifestOutput,
    PhotoshopOutputs,
    Whole,
)


class CompositeBody(Body):
    """`POST /v2/create-composite`."""

    image: Canvas
    edits: Edits = Edits()
    font_options: FontOptions = FontOptions()
    outputs: PhotoshopOutputs


class Resource(Body):
    """An action, script or other file."""

    source: InlineSource


class ActionsOptions(Body):
    """What to play; actions and scripts are accepted and not played."""

    actions: Annotated[Sequence[Resource], Field(max_length=10)] = ()
    uxp: Resource | None = None
    additional_contents: Annotated[Sequence[Resource], Field(max_length=25)] = ()
    brushes: Annotated[Sequence[Resource], Field(max_length=10)] = ()
    patterns: Annotated[Sequence[Resource], Field(max_length=10)] = ()
    font_options: FontOptions = FontOptions()


class ActionsBody(Body):
    """`POST /v2/execute-actions`."""

    image: Canvas
    options: ActionsOptions
    outputs: PhotoshopOutputs


class ManifestBody(Body):
    """`POST /v2/generate-manifest`."""

    image: InputImage
    outputs: Annotated[list[ManifestOutput], Field(min_length=1, max_length=MAX_OUTPUTS)]
    maximum_thumbnail_depth: Whole | None = None


class ArtboardBody(Body):
    """`POST /v2/create-artboard`."""

    images: Annotated[list[InputImage], Field(min_length=1, max_length=25)]
    artboard_spacing: int = 50
    outputs: PhotoshopOutputs


class Light(Body):
    """The light adjustments that the twin draws."""

    exposure: Annotated[float, Field(ge=-5, le=5, strict=False)] = 0.0
    contrast: Annotated[int, Field(ge=-100, le=100)] = 0


class LightroomEdits(Body):
    """Adjustments of `/v2/edit`."""

    auto_tone: bool = False
    light: Light = Light()


class EditBody(Body):
    """`POST /v2/edit`."""

    image: InputImage
    edits: LightroomEdits = LightroomEdits()
    outputs: Annotated[list[LightroomOutput], Field(min_length=1, max_length=MAX_OUTPUTS)]


Ratio = Literal["1:1", "16:9", "9:16", "4:3", "3:4", "4:5", "5:4", "3:2", "2:3", "21:9"]


class AutoCropBody(Body):
    """`POST /v1/auto-crop`."""

    image: InputImage
    mode: Literal["smartCrop", "subjectCrop", "fullSceneDetection", "objectDetection"]
    aspect_ratio: Ratio | list[Ratio] | None = None
    focus: Sequence[str] = ()
    output_type: Literal["images", "boundingBoxes"] = "images"


class CutOut(Body):
    """The output of a remove-background."""

    media_type: (
        Literal["image/jpeg", "image/png", "image/webp", "image/vnd.adobe.photoshop"] | None
    ) = None


class RemoveBackgroundBody(Body):
    """`POST /v2/remove-background`."""

    image: InputImage
    mode: Literal["cutout", "mask", "psd"] = "cutout"
    output: CutOut = CutOut()
    trim: bool = False
    color_decontamination: Annotated[float, Field(ge=0, le=1, strict=False)] = 1.0
