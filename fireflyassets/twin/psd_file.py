"""Open a PSD that a stranger sent, and say which layers it has.

Belongs here: whether the bytes are a whole PSD, its parsed form, its layers as plain facts, and
which layer an edit means. Does not: pixels. Everything that can go wrong with a hostile file
becomes `UnreadableDocument`. Source: Adobe Photoshop File Formats Specification, November 2019.
"""

import struct
import warnings
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from threading import RLock
from typing import Final, Literal

from psd_tools import PSDDecompressionWarning, PSDImage
from psd_tools.api.layers import Group, Layer, SmartObjectLayer, TypeLayer

from fireflyassets.twin.refusals import UnknownLayer, UnreadableDocument

MAX_PIXELS: Final = 60_000_000
"""Largest canvas; beyond it one picture would take more memory than a simulator should."""
MAX_BYTES: Final = 1 << 30
"""Most memory that decoding one layer may take."""

_FORMATS: Final = {1: ("I", "H"), 2: ("Q", "I")}
"""Version (PSD, PSB) -> how the length of the layers, and of a row in the preview, is stored."""
_RUN_LENGTHS: Final = 1
"""Compression of the preview; 0 is raw. Photoshop writes no other there."""

_ENDS_EARLY: Final = "The PSD ends too early; upload the whole file."

Kind = Literal["picture", "text", "group", "other"]

MALFORMED: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    PSDDecompressionWarning,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What psd-tools raises on broken bytes; it checks little, and states the rest by assertions.

ImportError is among them: a shape without pixels needs a drawing library that is not required.
"""


_ONE_AT_A_TIME: Final = RLock()


@dataclass(frozen=True, slots=True)
class LayerFact:
    """One layer: its place in the paint order, its id and name, and what it can take."""

    index: int
    id: int
    name: str
    kind: Kind


@contextmanager
def decoding() -> Generator[None]:
    """Turn whatever psd-tools raises inside into `UnreadableDocument`.

    It paints a broken channel black with a mere warning; here that is an error too. Which
    warnings are errors is one setting of the whole program, hence one thread at a time.
    """
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("error", PSDDecompressionWarning)
            yield
    except MALFORMED as error:
        raise UnreadableDocument(
            f"The PSD cannot be read ({type(error).__name__}); save it again from Photoshop, with "
            "all shapes rasterised."
        ) from error


def open_document(document: bytes) -> PSDImage:
    """Return the parsed *document*.

    Raises:
        UnreadableDocument: The bytes are corrupt, truncated, or not a PSD.
    """
    try:
        _check_whole(document)
    except struct.error as error:
        raise UnreadableDocument(_ENDS_EARLY) from error
    with decoding():
        psd = PSDImage.open(  # pyright: ignore[reportUnknownMemberType] - its PathLike is bare
            BytesIO(document), max_alloc_bytes=MAX_BYTES
        )
        list(psd.descendants())
    return psd


def layers(psd: PSDImage) -> list[Layer]:
    """Return all layers, lowest first, each group before its children."""
    return list(psd.descendants())


def facts(psd: PSDImage) -> tuple[LayerFact, ...]:
    """Return what there is to know of each layer without its pixels."""
    with decoding():
        return tuple(
            LayerFact(index, layer.layer_id, layer.name.rstrip("\0"), _kind(layer))
            for index, layer in enumerate(layers(psd))
        )


def find(known: Sequence[LayerFact], *, name: str | None, layer_id: int | None) -> LayerFact:
    """Return the one layer that *layer_id*, or else *name*, means.

    Raises:
        UnknownLayer: There is none, or more than one.
    """
    if layer_id is not None:
        found, asked = [fact for fact in known if fact.id == layer_id], f"id {layer_id}"
    else:
        found, asked = [fact for fact in known if fact.name == name], f"name {name!r}"
    if not found:
        names = ", ".join(repr(fact.name) for fact in known)
        raise UnknownLayer(f"No layer has the {asked}; the document has {names or 'none'}.")
    if len(found) > 1:
        ids = ", ".join(str(fact.id) for fact in found)
        raise UnknownLayer(f"{len(found)} layers have the {asked} (ids {ids}); name one by id.")
    return found[0]


def _kind(layer: Layer) -> Kind:
    if isinstance(layer, SmartObjectLayer):
        return "picture"
    if isinstance(layer, TypeLayer):
        return "text"
    return "group" if isinstance(layer, Group) else "other"


def _check_whole(document: bytes) -> None:
    """Refuse what is no PSD, too large, or shorter than its own lengths say."""
    if not document.startswith(b"8BPS"):
        raise UnreadableDocument("The file is not a PSD; it must begin with 8BPS.")
    version, channels, height, width, depth = struct.unpack_from(">H6xHIIH", document, 4)
    if version not in _FORMATS or not channels or not 0 < height * width <= MAX_PIXELS:
        raise UnreadableDocument(
            f"The PSD claims version {version}, {channels} channels and {width}x{height} px; at "
            f"most {MAX_PIXELS:,} pixels are rendered."
        )
    layers_length, row_length = _FORMATS[version]
    at = 26
    for length_format in (">I", ">I", f">{layers_length}"):
        (length,) = struct.unpack_from(length_format, document, at)
        at = min(len(document), at + struct.calcsize(length_format) + length)
    (compression,) = struct.unpack_from(">H", document, at)
    rows, row_bytes = height * channels, (width * depth + 7) // 8
    if compression == _RUN_LENGTHS:
        _check_runs(document, at + 2, f">{rows}{row_length}", row_bytes)
    elif not compression and len(document) < at + 2 + rows * row_bytes:
        raise UnreadableDocument(_ENDS_EARLY)


def _check_runs(document: bytes, at: int, lengths_format: str, row_bytes: int) -> None:
    """Refuse a preview whose packed rows are not all there, or too short to be true."""
    lengths = struct.unpack_from(lengths_format, document, at)
    if len(document) < at + struct.calcsize(lengths_format) + sum(lengths):
        raise UnreadableDocument(_ENDS_EARLY)
    # A run takes two bytes and holds at most 128.
    if min(lengths) < 2 * ceil(row_bytes / 128):
        raise UnreadableDocument("The PSD's preview is too small for its canvas; save it again.")
