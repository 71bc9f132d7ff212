"""The list of a document's layers, as Photoshop writes it: what of it a recipe can ask for.

Belongs here: reading the list leniently. Does not: our own reading of documents
(``adapters/psd.py``).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, cast

_NESTED: Final = ("layers", "children", "outputs")
_MOST_BYTES: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class LayerList:
    """A document's size in pixels, 0 where the list does not say, and the names of its layers."""

    width: int
    height: int
    layers: frozenset[str]


def read(content: bytes) -> LayerList | None:
    """Return what a list says; None where the bytes are none, however they came about."""
    if len(content) > _MOST_BYTES:
        return None
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return None
    body = _object(said)
    if not any(isinstance(body.get(key), list) for key in _NESTED):
        return None
    sizes = [_object(part.get("document")) for part in _parts(body)]
    size = next((one for one in sizes if one), dict[str, object]())
    return LayerList(
        _pixels(size.get("width")), _pixels(size.get("height")), frozenset(_names(body))
    )


def _names(body: dict[str, object]) -> Iterator[str]:
    for part in _parts(body):
        name = part.get("name")
        if isinstance(name, str):
            yield name


def _parts(body: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield the body and all that lies in it, groups at any depth."""
    waiting = [body]
    while waiting:
        part = waiting.pop()
        yield part
        for key in _NESTED:
            inner = part.get(key)
            if isinstance(inner, list):
                waiting += [_object(one) for one in cast("list[object]", inner)]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _pixels(value: object) -> int:
    is_size = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**6
    return cast("int", value) if is_size else 0
