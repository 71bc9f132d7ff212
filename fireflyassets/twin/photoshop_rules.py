"""Rules over several fields of Photoshop calls.

Belongs here: what one field alone cannot break, after the V2 OpenAPI document and its guides.
Does not belong here: field types (`photoshop_bodies.py`).
"""

from collections.abc import Iterator, Sequence

from fireflyassets.twin.photoshop_bodies import (
    ActionsOptions,
    AutoCropBody,
)
from fireflyassets.twin.photoshop_parts import (
    Canvas,
    Destination,
    FileSource,
    InlineSource,
    Layer,
)
from fireflyassets.twin.rejections import Flaw, invalid_photoshop

Loc = tuple[str | int, ...]


def source_flaws(source: FileSource, *loc: str | int) -> Iterator[Flaw]:
    """Yield the flaw of a source that is none or several of its ways."""
    ways = [source.url, source.creative_cloud_path, source.creative_cloud_file_id]
    ways.append(source.lightroom_path)
    if isinstance(source, InlineSource):
        ways.append(source.content)
    if sum(way is not None for way in ways) != 1:
        yield Flaw(loc=loc, msg="exactly one way to the file must be given")


def canvas_flaws(image: Canvas) -> Iterator[Flaw]:
    """Yield what is wrong with the document to open or make."""
    if image.source is not None:
        yield from source_flaws(image.source, "image", "source")
    elif image.width is None or image.height is None:
        yield Flaw(loc=("image",), msg="source, or width and height, must be given")


def output_flaws(outputs: Sequence[tuple[str, Destination]]) -> Iterator[Flaw]:
    """Yield what is wrong with the destinations of *outputs* (media type, destination)."""
    for index, (media_type, destination) in enumerate(outputs):
        loc = ("outputs", index, "destination")
        ways = (
            destination.url,
            destination.validity_period,
            destination.embedded,
            destination.creative_cloud_path,
        )
        if sum(way is not None for way in ways) != 1:
            yield Flaw(loc=loc, msg="exactly one kind of destination must be given")
        text = media_type in {"application/json", "application/rdf+xml"}
        if destination.embedded is not None and not text:
            yield Flaw(loc=(*loc, "embedded"), msg="only text can be embedded")


def layer_flaws(layers: Sequence[Layer]) -> Iterator[Flaw]:
    """Yield what is wrong with the layers' edits."""
    for index, layer in enumerate(layers):
        loc = ("edits", "layers", index)
        operation = layer.operation
        if operation.type == "add" and operation.placement is None:
            yield Flaw(loc=(*loc, "operation", "placement"), msg="required on add")
        if operation.type != "add" and layer.id is None and layer.name is None:
            yield Flaw(loc=loc, msg="id or name is required")
        if len(layer.protection) > 1 and {"none", "all"} & set(layer.protection):
            yield Flaw(loc=(*loc, "protection"), msg="'none' and 'all' must stand alone")
        for reference in (layer.smart_object and layer.smart_object.smart_object_file, layer.image):
            if reference:
                yield from source_flaws(reference.source, *loc, "source")


def check_transforms(layers: Sequence[Layer]) -> None:
    """Refuse a transform without the mode that uses it: the one rule documented as a 400."""
    flaws = [
        Flaw(loc=("edits", "layers", index, "transform"), msg="needs transformMode 'custom'")
        for index, layer in enumerate(layers)
        if layer.transform is not None and layer.transform_mode != "custom"
    ]
    if flaws:
        raise invalid_photoshop(flaws, status=400)


def actions_flaws(options: ActionsOptions) -> Iterator[Flaw]:
    """Yield what is wrong with the actions to play."""
    if not options.actions and options.uxp is None:
        yield Flaw(loc=("options",), msg="actions or uxp must be given")
    for index, action in enumerate(options.actions):
        yield from source_flaws(action.source, "options", "actions", index, "source")


def focus_flaws(body: AutoCropBody) -> Iterator[Flaw]:
    """Yield the flaw of a focus that is missing, or that the mode does not take."""
    looks = body.mode in {"subjectCrop", "objectDetection"}
    if looks != bool(body.focus):
        yield Flaw(loc=("focus",), msg="required for this mode" if looks else "must be empty")


def refuse_if(*flaws: Iterator[Flaw]) -> None:
    """Refuse the call when there is any flaw."""
    found = [flaw for group in flaws for flaw in group]
    if found:
        raise invalid_photoshop(found)
