"""Firefly's request bodies, field by field, after its OpenAPI document.

Belongs here: types, bounds and lengths that one field alone can break. Prompts count code points.
Unknown fields pass, as Adobe lets them. Does not belong here: rules over several fields, headers
or models (`firefly_rules.py`).
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from fireflyassets.twin.bodies import Body

UUID4 = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def _unique(items: list[int] | list[str]) -> list[int] | list[str]:
    if len(set(items)) != len(items):
        raise ValueError("the list has duplicated items")
    return items


Prompt = Annotated[str, Field(min_length=1, max_length=1024)]
NegativePrompt = Annotated[str, Field(max_length=1024)]
Seeds = Annotated[list[int], Field(min_length=1, max_length=4), AfterValidator(_unique)]
Variations = Annotated[int, Field(ge=1, le=4)]


class Size(Body):
    """Width and height in pixels."""

    width: Annotated[int, Field(ge=1, le=4096)]
    height: Annotated[int, Field(ge=1, le=4096)]


DEFAULT_SIZE = Size(width=2048, height=2048)


class Source(Body):
    """Where an input comes from; exactly one of the two, which a rule checks."""

    upload_id: Annotated[str, Field(pattern=UUID4)] | None = None
    url: Annotated[str, Field(min_length=1, max_length=2083)] | None = None


class InputImage(Body):
    """An image with its source."""

    source: Source


class InputMask(Body):
    """A mask; white is repainted."""

    source: Source
    invert: bool = False


class StyleImage(Body):
    """A reference image, whose source may be left out."""

    source: Source | None = None


class Style(Body):
    """Presets and a style reference."""

    presets: Annotated[list[str], AfterValidator(_unique)] | None = None
    image_reference: StyleImage | None = None
    strength: Annotated[int, Field(gt=0, le=100)] | None = None


class Structure(Body):
    """A structure reference."""

    image_reference: StyleImage | None = None
    strength: Annotated[int, Field(ge=0, le=100)] | None = None


class Varied(Body):
    """What every v3 call that makes variations takes."""

    num_variations: Variations | None = None
    seeds: Seeds | None = None
    size: Size | None = None


class GenerateBody(Varied):
    """`POST /v3/images/generate-async`."""

    prompt: Prompt
    negative_prompt: NegativePrompt | None = None
    content_class: Literal["photo", "art"] | None = None
    custom_model_id: str | None = None
    prompt_biasing_locale_code: str | None = None
    style: Style | None = None
    structure: Structure | None = None
    upsampler_type: Literal["default", "low_creativity"] | None = None
    visual_intensity: Annotated[int, Field(ge=2, le=10)] | None = None


class SimilarBody(Varied):
    """`POST /v3/images/generate-similar-async`."""

    image: InputImage


class Alignment(Body):
    """Where the old picture stands in the new one."""

    horizontal: Literal["center", "left", "right"] = "center"
    vertical: Literal["center", "top", "bottom"] = "center"


class Inset(Body):
    """Distances from the edges in pixels."""

    left: int | None = None
    top: int | None = None
    right: int | None = None
    bottom: int | None = None


class Placement(Body):
    """Alignment and inset of an expansion."""

    alignment: Alignment | None = None
    inset: Inset | None = None


class ExpandBody(Varied):
    """`POST /v3/images/expand-async`."""

    image: InputImage
    mask: InputMask | None = None
    placement: Placement | None = None
    prompt: Prompt | None = None


class FillBody(Varied):
    """`POST /v3/images/fill-async`."""

    image: InputImage
    mask: InputMask
    prompt: Prompt | None = None
    negative_prompt: NegativePrompt | None = None
    prompt_biasing_locale_code: str | None = None


class UpscaleBody(Body):
    """`POST /v3/images/upscale`; one output per seed."""

    image: InputImage
    seeds: Annotated[list[int], Field(min_length=1, max_length=4)]
    upscale_factor: Literal[2, 3, 4, 6] = 2


class BlobSource(Body):
    """The source of a v4 reference; any UUID will do."""

    upload_id: Annotated[str, Field(pattern=UUID)] | None = None
    url: Annotated[str, Field(min_length=1)] | None = None


class ReferenceBlob(Body):
    """A v4 reference image."""

    source: BlobSource
    usage: Literal["general"] | None = None


class ModelPayload(Body):
    """v4's settings of the model."""

    locale_code: str | None = None
    prompt_reasoner: Annotated[Literal["quality", "speed"], Field(alias="prompt_reasoner")] = (
        "speed"
    )


class GenerateV4Body(Body):
    """`POST /v4/images/generate-async`."""

    prompt: Annotated[str, Field(min_length=1, max_length=1500)]
    aspect_ratio: Literal["1:1", "4:3", "3:4", "16:9", "9:16", "auto"] | None = None
    resolution_level: Literal["1MP", "2.4MP", "4MP"] = "2.4MP"
    model_id: Literal["firefly_image"] | None = None
    model_specific_payload: ModelPayload | None = None
    num_variations: Annotated[int, Field(ge=1, le=1)] | None = None
    seeds: Annotated[list[int], Field(max_length=1)] | None = None
    reference_blobs: Annotated[Sequence[ReferenceBlob], Field(max_length=1)] = ()
