"""The parts Photoshop V2's request bodies share: files, outputs, layers, document edits.

Belongs here: types, bounds and counts that one field alone can break. Unknown fields pass, as
Adobe lets them. Does not belong here: the bodies (`photoshop_bodies.py`), rules over several
fields (`photoshop_rules.py`).
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from fireflyassets.twin.bodies import Body

Whole = Annotated[int, Field(ge=0)]
Side = Annotated[int, Field(ge=1, le=32_000)]
MAX_OUTPUTS = 25


class FileSource(Body):
    """A file; exactly one of the ways, which a rule checks."""

    url: str | None = None
    creative_cloud_path: str | None = None
    creative_cloud_file_id: str | None = None
    lightroom_path: str | None = None


class InlineSource(FileSource):
    """A file, or its text in the request."""

    content: Annotated[str, Field(max_length=51_200)] | None = None
    content_type: str | None = None


class InputImage(Body):
    """An image from a file."""

    source: FileSource


class Canvas(Body):
    """A document to open, or the size of a new one."""

    source: FileSource | None = None
    width: Side | None = None
    height: Side | None = None
    fill: Literal["white", "background_color", "transparent"] = "white"


class Destination(Body):
    """Where an output goes; exactly one of the four ways, which a rule checks."""

    url: str | None = None
    storage_type: Literal["azure", "dropbox"] | None = None
    validity_period: Annotated[int, Field(ge=60, le=86_400)] | None = None
    embedded: Literal["string", "base64", "json"] | None = None
    creative_cloud_path: str | None = None
    creative_cloud_project_id: Annotated[str, Field(pattern=r"^urn:aaid:")] | None = None


class LayerName(Body):
    """A layer by id or name."""

    id: int | None = None
    name: str | None = None


Quality = Literal["very_poor", "poor", "low", "medium", "high", "maximum", "photoshop_max"]


class PhotoshopOutput(Body):
    """One file to make."""

    media_type: Literal[
        "image/jpeg",
        "image/png",
        "image/tiff",
        "image/vnd.adobe.photoshop",
        "document/vnd.adobe.cpsd+dcxucf",
        "document/vnd.adobe.cpsd+dcx",
        "application/json",
    ]
    destination: Destination
    width: Whole | None = None
    height: Whole | None = None
    max_width: Whole | None = None
    quality: Quality = "maximum"
    compression: Literal[
        "none",
        "very_low",
        "low",
        "medium_low",
        "medium",
        "medium_high",
        "default",
        "high",
        "very_high",
        "maximum",
    ] = "default"
    resample: Literal[
        "nearest_neighbor", "bilinear", "bicubic", "bicubic_smoother", "bicubic_sharper"
    ] = "bicubic_sharper"
    crop_mode: Literal["trim_to_transparency", "document_bounds", "layer_bounds"] = (
        "document_bounds"
    )
    layers: Annotated[Sequence[LayerName], Field(max_length=100)] = ()
    should_overwrite: bool | None = None
    script_output_pattern: Annotated[str, Field(max_length=255)] | None = None


class ManifestOutput(Body):
    """One manifest to write."""

    media_type: Literal["application/json"]
    destination: Destination


class LightroomOutput(Body):
    """One adjusted file to make."""

    media_type: Literal["image/jpeg", "image/png", "image/x-adobe-dng", "application/rdf+xml"]
    destination: Destination
    quality: Quality = "maximum"


PhotoshopOutputs = Annotated[list[PhotoshopOutput], Field(min_length=1, max_length=MAX_OUTPUTS)]
LayerType = Literal[
    "layer",
    "solid_color_layer",
    "text_layer",
    "smart_object_layer",
    "adjustment_layer",
    "group_layer",
    "background_layer",
]


class LayerPlacement(Body):
    """Where an added or moved layer goes."""

    type: Literal["top", "bottom", "above", "below", "into"]
    reference_layer: LayerName | None = None


class LayerOperation(Body):
    """What is done to a layer."""

    type: Literal["add", "edit", "delete", "move"]
    placement: LayerPlacement | None = None


class SmartObject(Body):
    """The content of a smart object layer."""

    is_linked: bool = False
    smart_object_file: InputImage | None = None


class FontName(Body):
    """A font by its PostScript name."""

    post_script_name: str | None = None


class CharacterStyle(Body):
    """The parts of a character style that the twin draws, or that can make a job fail."""

    font: FontName | None = None
    font_size: Annotated[float, Field(gt=0, le=10_000)] | None = None
    line_height: Annotated[float, Field(gt=0, le=10_000)] | None = None


class CharacterStyleRange(Body):
    """A character style and the characters it is for."""

    character_style: CharacterStyle | None = None


class Text(Body):
    """The content of a text layer; but for size and leading its style stays the document's."""

    content: str | None = None
    character_styles: Sequence[CharacterStyleRange] = ()


class Layer(Body):
    """One layer's edit."""

    operation: LayerOperation
    type: LayerType | None = None
    id: int | None = None
    name: str | None = None
    is_visible: bool | None = None
    smart_object: SmartObject | None = None
    image: InputImage | None = None
    text: Text | None = None
    transform: dict[str, object] | None = None
    transform_mode: Literal["none", "fit", "fill", "custom"] = "none"
    blend_options: dict[str, object] | None = None
    pixel_mask: dict[str, object] | None = None
    protection: Sequence[
        Literal["none", "all", "transparency", "composite", "position", "artboard_autonest"]
    ] = ()


class Bounds(Body):
    """Edges in pixels."""

    left: int = 0
    top: int = 0
    right: int | None = None
    bottom: int | None = None


class Crop(Body):
    """A crop of the document."""

    bounds: Bounds
    hide: bool = False


class Measure(Body):
    """A length with its unit."""

    unit: Literal["pixels_unit", "percent_unit", "distance_unit"]
    value: Whole | None = None


class Resize(Body):
    """A new size of the document."""

    width: Measure | None = None
    height: Measure | None = None
    constrain_proportions: bool = True


class Trim(Body):
    """A trim of the document."""

    trim_upon: Literal["transparent_pixels"] | None = None


class Document(Body):
    """Edits of the whole document."""

    crop: Crop | None = None
    resize: Resize | None = None
    trim: Trim | None = None


class Edits(Body):
    """All edits of a composite."""

    layers: Sequence[Layer] = ()
    document: Document | None = None


class FontOptions(Body):
    """What to do about fonts that are not there."""

    missing_font_strategy: Literal["fail", "use_default"] = "use_default"
    default_font_post_script_name: str | None = None
