"""The manifest: a job's full input at rest, as bytes.

Belongs here: its one format, written by intake and read by whoever runs the job. Does not: where
it is kept (``core/ids.py`` names the key, the row's ``input_manifest`` holds it).
"""

import hashlib
import json
from typing import Any, Final, cast

from fireflyassets.core import ids
from fireflyassets.core.job import JobRequest

MEDIA_TYPE: Final = "application/json"
_VERSION: Final = 1
_TEXTS: Final = ("customer", "campaign", "key", "prompt", "locale", "headline")


def dump(request: JobRequest) -> bytes:
    """Return the manifest's bytes: equal requests give equal bytes, whenever they come."""
    said = {
        "version": _VERSION,
        **{name: getattr(request, name) for name in _TEXTS},
        "aspects": list(request.aspects),
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True, indent=1).encode()


def load(content: bytes) -> JobRequest:
    """Return the request of a manifest that `dump` wrote.

    Raises:
        ValueError: The bytes are no manifest of a known version.
    """
    said = cast("dict[str, Any]", json.loads(content))
    if said.get("version") != _VERSION:
        raise ValueError(f"A manifest of version {said.get('version')!r} can't be read.")
    return JobRequest(**{name: said[name] for name in _TEXTS}, aspects=tuple(said["aspects"]))


def key_of(job_id: str, request: JobRequest) -> str:
    """Return the object key of the request's manifest, which its content decides."""
    digest = hashlib.sha256(dump(request)).hexdigest()
    return ids.manifest_key(request.customer, request.campaign, job_id, digest)
