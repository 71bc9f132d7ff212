"""The memory of uploads in our own bucket: a small object for each organisation and hash.

Belongs here: the objects' keys and text. Does not: uploading. The bucket is strongly consistent;
two processes that upload the same bytes at once cost a free call more, nothing else.
"""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from fireflyassets.ports.clock import Clock
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.references import UploadCache

_FOLDER: Final = "uploads"
_ENDED: Final = datetime(1970, 1, 1, tzinfo=UTC)


class StoredUploads(UploadCache):
    """Uploads shared by every process that reaches the bucket."""

    def __init__(self, objects: ObjectStore, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock

    def read(self, organisation: str, digest: str) -> str | None:
        """Return the upload's id; None where there is none or it has ended."""
        content = self._objects.get(_key(organisation, digest))
        upload_id, until = _read(content) if content else ("", _ENDED)
        return upload_id if upload_id and until > self._clock.now() else None

    def write(self, organisation: str, digest: str, upload_id: str, *, until: datetime) -> None:
        """Remember an upload until *until*."""
        said = json.dumps({"id": upload_id, "until": until.isoformat()}).encode()
        self._objects.put(_key(organisation, digest), said, media_type="application/json")

    def drop(self, organisation: str, digest: str) -> None:
        """Forget an upload that the vendor no longer knows."""
        self.write(organisation, digest, "", until=self._clock.now() - timedelta(seconds=1))


def _key(organisation: str, digest: str) -> str:
    # An organisation's id has letters that keys may not have.
    folder = hashlib.sha256(organisation.encode()).hexdigest()[:16]
    return f"{_FOLDER}/{folder}/{digest}.json"


def _read(content: bytes) -> tuple[str, datetime]:
    try:
        said: object = json.loads(content)
    except ValueError:
        return "", _ENDED
    fields = cast("dict[str, object]", said) if isinstance(said, dict) else {}
    upload_id, until = fields.get("id"), fields.get("until")
    if not isinstance(upload_id, str) or not isinstance(until, str):
        return "", _ENDED
    return upload_id, datetime.fromisoformat(until)
