"""Rules over several fields, the model header and the sizes of Firefly calls.

Belongs here: what one field alone cannot break. Sources: Firefly's OpenAPI document, and live
checks by clients where it is silent (a size off the list answers 400, an unknown model 404).
Does not belong here: field types (`firefly_bodies.py`).
"""

from collections.abc import Iterator, Mapping, Sequence

from fireflyassets.twin.firefly_bodies import (
    BlobSource,
    ExpandBody,
    GenerateBody,
    GenerateV4Body,
    Size,
    Source,
    Varied,
)
from fireflyassets.twin.rejections import Flaw, RejectionError, coded, invalid_firefly

IMAGE3_SIZES = frozenset(
    {
        (2048, 2048),
        (1024, 1024),
        (2304, 1792),
        (1792, 2304),
        (2688, 1536),
        (2688, 1512),
        (1344, 768),
        (1344, 756),
        (1152, 896),
        (896, 1152),
    }
)
IMAGE4_SIZES = frozenset({(2048, 2048), (2304, 1792), (1792, 2304), (2688, 1536), (1440, 2560)})
FILL_SIZES = IMAGE3_SIZES - {(2688, 1512), (1344, 756)}
EXPAND_LONGEST = 3999
MODELS: Mapping[str, Sequence[str]] = {
    "generate": ("image3", "image3_custom", "image4_standard", "image4_ultra", "image4_custom"),
    "similar": ("image3", "image4_standard", "image4_ultra"),
    "upscale": ("precise_upsampler_v1",),
    "generate_v4": ("image5",),
}


def model_asked(endpoint: str, header: str | None, default: str) -> str:
    """Return the model version a call names, or refuse an unknown one."""
    models = MODELS.get(endpoint)
    if models is None:
        return default
    if header is None and endpoint == "generate_v4":
        raise invalid_firefly([Flaw(loc=("header", "x-model-version"), msg="field required")])
    if header is None or header in models:
        return header or default
    if endpoint == "upscale":
        message = f"Invalid x-model-version: {header}. Only 'precise_upsampler_v1' is supported."
        raise coded(422, "validation_error", message)
    raise coded(404, "not_found", f"Unknown x-model-version; known: {', '.join(models)}.")


def check_size(size: Size, allowed: frozenset[tuple[int, int]]) -> None:
    """Refuse a size that is not one of the pairs the model draws."""
    if (size.width, size.height) not in allowed:
        pairs = ", ".join(f"{width}x{height}" for width, height in sorted(allowed))
        flaw = Flaw(loc=("body", "size"), msg=f"unsupported size; permitted: {pairs}")
        raise invalid_firefly([flaw], status=400)


def sizes_of(model: str) -> frozenset[tuple[int, int]]:
    """Return the sizes *model* draws."""
    return IMAGE3_SIZES if model.startswith("image3") else IMAGE4_SIZES


def source_flaws(source: Source | BlobSource | None, *loc: str | int) -> Iterator[Flaw]:
    """Yield the flaw of a source that gives none or both of its two ways."""
    if source is not None and (source.upload_id is None) == (source.url is None):
        yield Flaw(loc=("body", *loc), msg="exactly one of 'uploadId' and 'url' must be set")


def variation_flaws(body: Varied) -> Iterator[Flaw]:
    """Yield the flaw of seeds that do not match the number of variations."""
    if body.seeds and body.num_variations and len(body.seeds) != body.num_variations:
        yield Flaw(loc=("body", "seeds"), msg="the number of seeds must equal numVariations")


def generate_flaws(body: GenerateBody, model: str) -> Iterator[Flaw]:
    """Yield what is wrong with a v3 generate for *model*."""
    yield from variation_flaws(body)
    custom = model.endswith("_custom")
    if custom and not body.custom_model_id:
        yield Flaw(loc=("body", "customModelId"), msg=f"field required for {model}")
    if custom and body.negative_prompt is not None:
        yield Flaw(loc=("body", "negativePrompt"), msg="not supported with custom models")
    if model == "image4_custom" and body.visual_intensity is not None:
        yield Flaw(loc=("body", "visualIntensity"), msg="not supported with image4_custom")
    if model != "image4_custom" and body.upsampler_type is not None:
        yield Flaw(loc=("body", "upsamplerType"), msg="only supported with image4_custom")
    if body.style and body.style.image_reference:
        yield from source_flaws(
            body.style.image_reference.source, "style", "imageReference", "source"
        )
    if body.structure and body.structure.image_reference:
        yield from source_flaws(
            body.structure.image_reference.source, "structure", "imageReference", "source"
        )


def expand_flaws(body: ExpandBody) -> Iterator[Flaw]:
    """Yield what is wrong with an expand."""
    yield from variation_flaws(body)
    yield from source_flaws(body.image.source, "image", "source")
    if body.mask:
        yield from source_flaws(body.mask.source, "mask", "source")
        if body.placement:
            yield Flaw(loc=("body", "placement"), msg="mask and placement exclude each other")


def v4_flaws(body: GenerateV4Body) -> Iterator[Flaw]:
    """Yield what is wrong with a v4 generate."""
    for index, blob in enumerate(body.reference_blobs):
        yield from source_flaws(blob.source, "referenceBlobs", index, "source")
    if body.reference_blobs and body.aspect_ratio not in (None, "auto"):
        yield Flaw(
            loc=("body", "aspectRatio"), msg="must be 'auto' or absent with a reference image"
        )


def refuse_if(flaws: Iterator[Flaw]) -> None:
    """Refuse the call when there is any flaw."""
    found = list(flaws)
    if found:
        raise invalid_firefly(found)


def without_custom_models() -> RejectionError:
    """Return the answer to an organisation that has no custom models, as seen live."""
    flaw = Flaw(
        loc=("header", "x-model-version"),
        msg="value is not a valid enumeration member; permitted: 'image3', 'image3_fast'",
        type="type_error.enum",
    )
    return invalid_firefly([flaw])
