"""The manifest: a job's full input at rest, as bytes.

Belongs here: its one format, how those of one call lie in one object, and the pointer to each.
Does not: where objects are kept (``core/ids.py`` names them, the row's ``input_manifest`` holds
the pointer).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final, cast

from fireflyassets.core import ids
from fireflyassets.core.job import JobRequest, Picture, Rewritten

MEDIA_TYPE: Final = "application/x-ndjson"
_VERSION: Final = 1
_TEXTS: Final = ("customer", "campaign", "key", "prompt", "locale", "headline")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The manifests of the requests of one call, one line each, as one object."""

    key: str
    """Its content decides it: what overwrites the object is the same bytes."""
    content: bytes = field(repr=False)
    pointers: tuple[str, ...]
    """Of each request, in order: where its line is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a manifest lies."""

    key: str
    part: tuple[int, int] | None
    """Its first byte in the object, and the one behind its last; None for all of an older one."""


def bundle(requests: Sequence[JobRequest]) -> Bundle:
    """Return the manifests of *requests*, all of one campaign; one object costs one request."""
    lines = [dump(request) for request in requests]
    content = b"".join(lines)
    digest = hashlib.sha256(content).hexdigest()
    key = ids.manifests_key(requests[0].customer, requests[0].campaign, digest)
    edges = accumulate(map(len, lines), initial=0)
    pointers = tuple(f"{key}#{start}-{end}" for start, end in pairwise(edges))
    return Bundle(key, content, pointers)


def place(pointer: str) -> Place:
    """Return where the manifest of a row lies.

    Raises:
        ValueError: *pointer* is none of `bundle`.
    """
    key, _, part = pointer.partition("#")
    start, _, end = part.partition("-")
    return Place(key, (int(start), int(end)) if part else None)


def dump(request: JobRequest) -> bytes:
    """Return the manifest's line: equal requests give equal bytes, whenever they come."""
    said: dict[str, object] = {
        "version": _VERSION,
        **{name: getattr(request, name) for name in _TEXTS},
        "aspects": request.aspects,
    }
    if request.rewritten:
        said["rewritten"] = asdict(request.rewritten)
    if request.reference:
        said["reference"] = asdict(request.reference)
    return json.dumps(said, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def load(content: bytes) -> JobRequest:
    """Return the request of a manifest that `dump` wrote.

    Raises:
        ValueError: The bytes are no manifest of a known version.
    """
    said = cast("dict[str, Any]", json.loads(content))
    if said.get("version") != _VERSION:
        raise ValueError(f"A manifest of version {said.get('version')!r} can't be read.")
    return JobRequest(
        **{name: said[name] for name in _TEXTS},
        aspects=tuple(said["aspects"]),
        rewritten=Rewritten(**said["rewritten"]) if "rewritten" in said else None,
        reference=Picture(**said["reference"]) if "reference" in said else None,
    )
