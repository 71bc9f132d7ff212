"""Images uploaded for later use, and inputs in general.

Belongs here: the records of uploads, and turning a source (upload id or URL) into bytes.
Does not belong here: the route (`storage.py`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from fireflyassets.twin.outputs import OutputStore


@dataclass(frozen=True, kw_only=True)
class Upload:
    """One stored image of an organisation."""

    id: str
    organisation: str
    ends_at: datetime


class Uploads:
    """All uploads that are still alive; their bytes lie in the output store."""

    def __init__(self, store: OutputStore, *, ttl: timedelta) -> None:
        self._store = store
        self._ttl = ttl
        self._uploads: dict[str, Upload] = {}

    def add(self, upload_id: UUID, organisation: str, content: bytes, now: datetime) -> Upload:
        """Keep an image and return its record."""
        upload = Upload(id=str(upload_id), organisation=organisation, ends_at=now + self._ttl)
        self._store.keep(_file(upload.id), content)
        self.restore(upload)
        return upload

    def restore(self, upload: Upload) -> None:
        """Take back a record whose bytes are already stored."""
        self._uploads[upload.id] = upload

    def find(self, upload_id: str, organisation: str, now: datetime) -> bytes | None:
        """Return the image, unless it is unknown, another organisation's, or too old."""
        upload = self._uploads.get(upload_id.lower())
        if upload is None or upload.organisation != organisation or now >= upload.ends_at:
            return None
        return self._store.find(_file(upload.id))


def _file(upload_id: str) -> str:
    return f"upload-{upload_id}"
