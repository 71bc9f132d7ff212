"""Steps of Photoshop: what each kind may say; and the kinds of all services together.

Belongs here: one class per kind with its own rules. Does not: what all kinds share, and Firefly's
(``recipe_step.py``); what a whole recipe must obey (``recipe.py``).
"""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from fireflyassets.core.failure import Family
from fireflyassets.core.recipe_step import (
    BaseStep,
    EditStep,
    ExpandStep,
    FillStep,
    GenerateStep,
    GenerateV4Step,
    SimilarStep,
    Size,
    UpscaleStep,
    names_in,
)

CropRatio = Literal["1:1", "16:9", "9:16", "4:3", "3:4", "4:5", "5:4", "3:2", "2:3", "21:9"]

INLINE_LONGEST: Final = 51_200
"""Letters of actions that stand in the request itself."""
PHOTOSHOP_TIMEOUT: Final = timedelta(minutes=20)
"""Photoshop works on a document for up to fifteen minutes."""


class RemoveBackgroundStep(EditStep):
    """Cut out what a picture shows, or make the mask that would, with Photoshop."""

    kind: Literal["remove-background"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    mode: Literal["cutout", "mask"] = "cutout"
    family: ClassVar[Family] = Family.PHOTOSHOP


class AdjustStep(EditStep):
    """Adjust light and tone of a picture with Photoshop."""

    kind: Literal["edit"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    auto_tone: bool = False
    exposure: Decimal | None = Field(default=None, ge=-5, le=5)
    contrast: int | None = Field(default=None, ge=-100, le=100)
    family: ClassVar[Family] = Family.PHOTOSHOP
    writes: ClassVar[str | None] = "image/jpeg"


class AutoCropStep(EditStep):
    """Crop a picture to a ratio with Photoshop, by what it shows; the size is the vendor's choice.

    A smart crop finds the subject by itself; a subject crop is told in *focus* what to look for.
    """

    kind: Literal["auto-crop"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    mode: Literal["smartCrop", "subjectCrop"] = "smartCrop"
    ratio: CropRatio = "1:1"
    focus: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = ()
    family: ClassVar[Family] = Family.PHOTOSHOP

    @model_validator(mode="after")
    def _focused(self) -> Self:
        if (self.mode == "subjectCrop") != bool(self.focus):
            raise ValueError(
                f"step {self.name!r}: give `focus` with, and only with, the mode subjectCrop"
            )
        return self


class Recorded(BaseModel):
    """A file of recorded actions, and which of them is played; without a name all are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f]{1,200}\.atn$")]
    """Path of an action set relative to the campaign's file."""
    action: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class ActionsStep(EditStep):
    """Play recorded actions on a picture, or on each aspect of a composite, with Photoshop."""

    kind: Literal["execute-actions"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    actions: tuple[Recorded, ...] = Field(default=(), max_length=9)
    action_json: tuple[dict[str, JsonValue], ...] = ()
    """Actions written down as Photoshop's ActionJSON, played after those of files."""
    size: Size | None = None
    """Of the file; without it, the picture's own."""
    family: ClassVar[Family] = Family.PHOTOSHOP
    writes: ClassVar[str | None] = "image/jpeg"

    def written(self) -> str | None:
        """Return the actions that are written down, as one text; None where there are none."""
        return json.dumps(self.action_json) if self.action_json else None

    @model_validator(mode="after")
    def _plays_something(self) -> Self:
        if not self.actions and not self.action_json:
            raise ValueError(f"step {self.name!r}: give `actions`, `action_json` or both")
        if len(self.written() or "") > INLINE_LONGEST:
            raise ValueError(
                f"step {self.name!r}: action_json has over {INLINE_LONGEST} letters; record it as "
                "a file of actions"
            )
        return self


class ArtboardStep(BaseStep):
    """Put pictures side by side into one with Photoshop."""

    kind: Literal["create-artboard"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    pictures: tuple[str, ...] = Field(min_length=1, max_length=25)
    """``<step>.picture`` each, from left to right."""
    size: Size
    spacing: int = Field(default=50, ge=0, le=10_000)
    family: ClassVar[Family] = Family.PHOTOSHOP
    writes: ClassVar[str | None] = "image/jpeg"

    def sources(self) -> tuple[str, ...]:
        """Return the pictures, from left to right."""
        return self.pictures


class ManifestStep(BaseStep):
    """List the layers of a template as Photoshop sees them, for the `when` of later steps."""

    kind: Literal["generate-manifest"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    template: Size
    """The aspect whose template is listed."""
    family: ClassVar[Family] = Family.PHOTOSHOP
    writes: ClassVar[str | None] = "application/json"


class ComposeStep(BaseStep):
    """Fill the template's layers with Photoshop, once for each of the job's aspects."""

    kind: Literal["compose"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    inputs: dict[str, str] = Field(min_length=1)
    """Layer name -> ``job.<text>`` for a text layer, ``<step>.picture`` for a smart object."""
    family: ClassVar[Family] = Family.PHOTOSHOP
    writes: ClassVar[str | None] = "image/jpeg"

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that go into the layers."""
        return tuple(one for one in self.inputs.values() if one.endswith(".picture"))

    def picture_layers(self) -> dict[str, tuple[str, ...]]:
        """Return layer name -> names of the steps whose picture goes into it, the first made."""
        return {
            layer: names_in(source)
            for layer, source in self.inputs.items()
            if source.endswith(".picture")
        }

    def text_layers(self) -> dict[str, str]:
        """Return layer name -> field of the job whose text goes into it."""
        return {
            layer: source.removeprefix("job.")
            for layer, source in self.inputs.items()
            if source.startswith("job.")
        }


PictureStep = (
    GenerateStep
    | GenerateV4Step
    | ExpandStep
    | FillStep
    | SimilarStep
    | UpscaleStep
    | RemoveBackgroundStep
    | AdjustStep
    | AutoCropStep
    | ActionsStep
    | ArtboardStep
    | ManifestStep
)
"""A step whose call has one result: a picture, or the list of a document's layers."""
Step = Annotated[PictureStep | ComposeStep, Field(discriminator="kind")]
