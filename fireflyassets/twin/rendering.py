"""What the twin asks of its document renderer.

Belongs here: the interface to `composite.py`, and the real renderer behind it; it must be
picklable, as it is used in the render pool. Does not belong here: rendering.
"""

from collections.abc import Sequence
from typing import Protocol

from PIL import Image

from fireflyassets.twin import composite
from fireflyassets.twin.composite import LayerEdit


class Renderer(Protocol):
    """Draws layered documents."""

    def render(
        self, document: bytes, edits: Sequence[LayerEdit], *, missing_font: str
    ) -> Image.Image:
        """Return the whole canvas with *edits* applied."""
        ...

    def manifest(self, document: bytes) -> dict[str, object]:
        """Return the layer tree."""
        ...


class PsdRenderer:
    """The renderer that ships with the twin."""

    def render(
        self, document: bytes, edits: Sequence[LayerEdit], *, missing_font: str
    ) -> Image.Image:
        """Return the whole canvas with *edits* applied."""
        return composite.render(document, edits, missing_font=missing_font)

    def manifest(self, document: bytes) -> dict[str, object]:
        """Return the layer tree."""
        return composite.manifest(document)
