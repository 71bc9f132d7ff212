"""From the layer edits of a composite to what the renderer takes; fetching a job's inputs.

Belongs here: which edits the twin draws, and the errors of inputs that cannot be had. An edit it
does not draw fails the job: a silent no-op would let a rehearsal pass that the service would not.
Does not belong here: rules that refuse the submit (`photoshop_rules.py`).
"""

from collections.abc import Sequence

from fireflyassets.twin import fonts
from fireflyassets.twin.failures import JobFailedError
from fireflyassets.twin.photoshop_parts import (
    FileSource,
    Layer,
    Text,
)
from fireflyassets.twin.rendering import SlotEdit
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.transfer import UnreachableError

_INVALID = "400401"
_NOT_AUTHORISED = "403401"
_NOT_FOUND = "404404"


class LayerReader:
    """Fetches inputs and reads layer edits."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator

    async def fetch(self, source: FileSource, where: str) -> bytes:
        """Return the bytes of an input, or fail the job naming the field *where*."""
        if source.url is None:
            raise JobFailedError(_NOT_AUTHORISED, f"{where}: the twin reads URLs only.")
        try:
            return await self._sim.transfer.get(source.url)
        except UnreachableError as error:
            message = f"{where}.url: the input cannot be fetched: {error}"
            raise JobFailedError(_NOT_FOUND, message) from error

    async def edits(
        self, layers: Sequence[Layer], *, keep_pictures: bool, missing_font: str
    ) -> list[SlotEdit]:
        """Return the edits in order; *keep_pictures* leaves every slot as the document has it."""
        read: list[SlotEdit] = []
        for index, layer in enumerate(layers):
            where = f"edits.layers.{index}"
            _check_drawable(layer, where)
            if layer.text and missing_font == "fail":
                _check_fonts(layer.text, where)
            picture = await self._picture(layer, where)
            size, leading = _sizes(layer.text)
            read.append(
                SlotEdit(
                    name=layer.name,
                    id=layer.id,
                    picture=None if keep_pictures else picture,
                    text=layer.text.content if layer.text else None,
                    size=size,
                    leading=leading,
                )
            )
        return read

    async def _picture(self, layer: Layer, where: str) -> bytes | None:
        file = layer.smart_object.smart_object_file if layer.smart_object else None
        if file is not None:
            return await self.fetch(file.source, f"{where}.smartObject.smartObjectFile.source")
        if layer.image is not None:
            return await self.fetch(layer.image.source, f"{where}.image.source")
        return None


def _sizes(text: Text | None) -> tuple[float | None, float | None]:
    """Return size and leading of a text's first letters; the twin sets all letters alike."""
    style = text.character_styles[0].character_style if text and text.character_styles else None
    return (style.font_size, style.line_height) if style else (None, None)


def _check_drawable(layer: Layer, where: str) -> None:
    if layer.operation.type != "edit":
        raise JobFailedError(_INVALID, f"{where}: the twin does not {layer.operation.type} layers.")
    undrawn = {
        "isVisible": layer.is_visible is False,
        "transformMode": layer.transform_mode != "none",
        "blendOptions": layer.blend_options is not None,
        "pixelMask": layer.pixel_mask is not None,
        "smartObject.isLinked": layer.smart_object is not None and layer.smart_object.is_linked,
    }
    named = [name for name, asked in undrawn.items() if asked]
    if named:
        raise JobFailedError(_INVALID, f"{where}: the twin does not draw {', '.join(named)}.")


def _check_fonts(text: Text, where: str) -> None:
    for each in text.character_styles:
        style = each.character_style
        name = style.font.post_script_name if style and style.font else None
        if name is not None and name not in fonts.BUNDLED:
            raise JobFailedError(_INVALID, f"{where}: the font {name!r} is missing.")
