"""Firefly's request bodies, and the rules over their fields and the model header.

Belongs here: one body per call, after the specification of May 2026. Does not: what they share
(``firefly_parts.py``), paths and sending (``firefly.py``). Model names in bodies are ignored by
the service; only the header counts.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fireflyassets.adapters.adobe.bodies import Body, broken
from fireflyassets.adapters.adobe.firefly_parts import (
    FILL_SIZES,
    SIMILAR_MODELS,
    SIZES,
    ImageBody,
    MaskBody,
    NegativePrompt,
    Prompt,
    SourceBody,
    StructureBody,
    StyleBody,
    VariedBody,
    must_be_among,
    whole,
    written,
)
from fireflyassets.core.preflight import EXPAND_LONGEST
from fireflyassets.core.recipe_step import CUSTOM_MODELS, Model


class GenerateBody(VariedBody):
    """`POST /v3/images/generate-async`."""

    model: Model = Field(exclude=True)
    """Sent as the header."""
    prompt: Prompt
    negative_prompt: NegativePrompt | None = None
    content_class: Literal["photo", "art"] | None = None
    custom_model_id: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,256}$")] | None = None
    prompt_biasing_locale_code: str | None = None
    style: StyleBody | None = None
    structure: StructureBody | None = None
    upsampler_type: Literal["default", "low_creativity"] | None = None
    visual_intensity: Annotated[int, Field(ge=2, le=10)] | None = None

    @model_validator(mode="after")
    def _fit_the_model(self) -> Self:
        must_be_among(self.size, SIZES[self.model], what=self.model.value)
        custom = self.model in CUSTOM_MODELS
        if custom and self.custom_model_id is None:
            raise broken(
                "model-header",
                f"{self.model} needs the id of a custom model.",
                "Name the custom model, or choose a model without `_custom`.",
                field="customModelId",
            )
        if not custom and self.custom_model_id is not None:
            raise broken(
                "model-header",
                f"{self.model} ignores a custom model without a word.",
                "Choose image3_custom or image4_custom, by the model's base.",
                field="customModelId",
            )
        return self

    @model_validator(mode="after")
    def _leave_out_what_the_model_lacks(self) -> Self:
        image4_custom = self.model is Model.IMAGE4_CUSTOM
        rules = (
            ("negativePrompt", self.negative_prompt, self.model not in CUSTOM_MODELS),
            ("visualIntensity", self.visual_intensity, not image4_custom),
            ("upsamplerType", self.upsampler_type, image4_custom),
        )
        for field, value, allowed in rules:
            if value is not None and not allowed:
                message = f"{self.model} does not take {field}."
                raise broken("model-field", message, "Leave it out.", field=field)
        return self


class AlignmentBody(Body):
    """Where the old picture stands in the new one."""

    horizontal: Literal["center", "left", "right"]
    vertical: Literal["center", "top", "bottom"]


class InsetBody(Body):
    """Distances from the edges in pixels."""

    left: int | None = None
    top: int | None = None
    right: int | None = None
    bottom: int | None = None


class PlacementBody(Body):
    """Alignment and inset of an expansion."""

    alignment: AlignmentBody
    inset: InsetBody | None = None


class ExpandBody(VariedBody):
    """`POST /v3/images/expand-async`. The mask stands at the top; inside the image it is old."""

    image: ImageBody
    mask: MaskBody | None = None
    placement: PlacementBody | None = None
    prompt: Prompt | None = None

    @model_validator(mode="after")
    def _either_mask_or_placement(self) -> Self:
        if self.mask is not None and self.placement is not None:
            raise broken(
                "mask-or-placement",
                "A mask and a placement exclude each other.",
                "Leave one out.",
                field="placement",
            )
        sides = (self.size.width, self.size.height)
        if not 1 <= min(sides) <= max(sides) <= EXPAND_LONGEST:
            raise broken(
                "size",
                f"Expand does not make {sides[0]}x{sides[1]}.",
                f"Give sides of 1 to {EXPAND_LONGEST} pixels.",
                field="size",
            )
        return self


class FillBody(VariedBody):
    """`POST /v3/images/fill-async`; white in the mask is painted."""

    image: ImageBody
    mask: MaskBody
    prompt: Prompt | None = None
    negative_prompt: NegativePrompt | None = None
    prompt_biasing_locale_code: str | None = None

    @model_validator(mode="after")
    def _sized(self) -> Self:
        must_be_among(self.size, FILL_SIZES, what="Fill")
        return self


class SimilarBody(VariedBody):
    """`POST /v3/images/generate-similar-async`. It takes no prompt."""

    model: Model = Field(exclude=True)
    image: ImageBody

    @model_validator(mode="after")
    def _sized(self) -> Self:
        if self.model not in SIMILAR_MODELS:
            models = ", ".join(sorted(SIMILAR_MODELS))
            raise broken(
                "model-header",
                f"{self.model} makes no similar pictures.",
                f"Choose one of {models}.",
                field="model",
            )
        must_be_among(self.size, FILL_SIZES, what="Similar")
        return self


class UpscaleBody(Body):
    """`POST /v3/images/upscale`: one output for each seed."""

    image: ImageBody
    seeds: Annotated[tuple[int, ...], Field(min_length=1, max_length=4), AfterValidator(whole)]
    upscale_factor: Literal[2, 3, 4, 6]


class BlobBody(Body):
    """A reference of v4."""

    source: SourceBody
    usage: Literal["general"] = "general"


class PayloadBody(Body):
    """The settings of the model in v4."""

    locale_code: str | None = None
    prompt_reasoner: Literal["speed", "quality"] = Field(serialization_alias="prompt_reasoner")


class GenerateV4Body(Body):
    """`POST /v4/images/generate-async`; guides say otherwise, the specification is followed."""

    prompt: Annotated[str, Field(max_length=1500), AfterValidator(written)]
    aspect_ratio: Literal["1:1", "4:3", "3:4", "16:9", "9:16", "auto"] | None = None
    resolution_level: Literal["1MP", "2.4MP", "4MP"]
    model_id: Literal["firefly_image"] = "firefly_image"
    model_specific_payload: PayloadBody
    num_variations: Literal[1] = 1
    seeds: Annotated[tuple[int], AfterValidator(whole)]
    reference_blobs: tuple[BlobBody] | None = None

    @model_validator(mode="after")
    def _follow_the_reference(self) -> Self:
        if self.reference_blobs and self.aspect_ratio not in {None, "auto"}:
            raise broken(
                "reference-ratio",
                "A reference picture decides the ratio.",
                "Leave the aspect ratio out, or say `auto`.",
                field="aspectRatio",
            )
        return self
