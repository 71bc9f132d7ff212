"""What the twin asks of its document renderer.

Belongs here: the interface to `composite.py`, and the real renderer behind it. It is picklable,
as it is used in the render pool, and imports the renderer only when it draws: psd-tools brings
scipy, which the process that answers calls has no use for. Does not belong here: rendering.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from PIL import Image


@dataclass(frozen=True, kw_only=True)
class SlotEdit:
    """New content for one layer, meant by *id* if given, else by *name*."""

    name: str | None = None
    id: int | None = None
    picture: bytes | None = None
    text: str | None = None
    size: float | None = None
    """Pixels; None for the document's own."""
    leading: float | None = None


class Renderer(Protocol):
    """Draws layered documents; raises what `refusals.py` lists."""

    def render(
        self, document: bytes, edits: Sequence[SlotEdit], *, missing_font: str
    ) -> Image.Image:
        """Return the whole canvas with *edits* applied."""
        ...

    def manifest(self, document: bytes) -> dict[str, object]:
        """Return the layer tree."""
        ...


class PsdRenderer:
    """The renderer that ships with the twin."""

    def render(
        self, document: bytes, edits: Sequence[SlotEdit], *, missing_font: str
    ) -> Image.Image:
        """Return the whole canvas with *edits* applied."""
        from fireflyassets.twin.composite import LayerEdit, render  # noqa: PLC0415 - see the top

        asked = [
            LayerEdit(each.name, each.id, each.picture, each.text, each.size, each.leading)
            for each in edits
        ]
        return render(document, asked, missing_font=missing_font)

    def manifest(self, document: bytes) -> dict[str, object]:
        """Return the layer tree."""
        from fireflyassets.twin.composite import manifest  # noqa: PLC0415 - see the top

        return manifest(document)
