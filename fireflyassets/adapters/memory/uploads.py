"""The memory of uploads within one process. Not here: uploading."""

from datetime import datetime
from threading import Lock

from fireflyassets.ports.clock import Clock
from fireflyassets.ports.references import UploadCache


class MemoryUploads(UploadCache):
    """Uploads shared by the threads of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._uploads: dict[tuple[str, str], tuple[str, datetime]] = {}

    def read(self, organisation: str, digest: str) -> str | None:
        """Return the upload's id; None where there is none or it has ended."""
        with self._lock:
            found = self._uploads.get((organisation, digest))
        return found[0] if found and found[1] > self._clock.now() else None

    def write(self, organisation: str, digest: str, upload_id: str, *, until: datetime) -> None:
        """Remember an upload until *until*."""
        with self._lock:
            self._uploads[organisation, digest] = (upload_id, until)

    def drop(self, organisation: str, digest: str) -> None:
        """Forget an upload that the vendor no longer knows."""
        with self._lock:
            self._uploads.pop((organisation, digest), None)
