"""The files the twin hosts: kept, signed, served and expired.

Belongs here: bytes of outputs and uploads, and the signature in their URLs. Generated pictures
are kept in memory up to a bound and drawn again when asked for later; everything else is on disk.
Does not belong here: HTTP (`hosting.py`).
"""

import hashlib
import hmac
import tempfile
from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlencode

_SUFFIXES = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/tiff": "tif",
    "image/webp": "webp",
    "image/vnd.adobe.photoshop": "psd",
    "application/json": "json",
    "application/rdf+xml": "xmp",
}


class OutputStore:
    """Bytes by output id."""

    def __init__(self, folder: Path | None, *, cache_bytes: int) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="twin-") if folder is None else None
        self._folder = Path(self._temporary.name) if self._temporary else folder or Path()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._cached = 0
        self._cache_bytes = cache_bytes

    def keep(self, output_id: str, content: bytes) -> None:
        """Keep bytes that cannot be made again."""
        (self._folder / output_id).write_bytes(content)

    def cache(self, output_id: str, content: bytes) -> None:
        """Keep bytes that can be drawn again, for as long as there is room."""
        self._cached += len(content) - len(self._cache.pop(output_id, b""))
        self._cache[output_id] = content
        while self._cached > self._cache_bytes and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])

    def find(self, output_id: str) -> bytes | None:
        """Return the bytes, or nothing when they were never written or have been dropped."""
        if output_id in self._cache:
            return self._cache[output_id]
        file = self._folder / output_id
        return file.read_bytes() if file.is_file() else None

    def drop(self, output_id: str) -> None:
        """Forget the bytes."""
        self._cached -= len(self._cache.pop(output_id, b""))
        (self._folder / output_id).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the temporary folder, if this store made one."""
        if self._temporary is not None:
            self._temporary.cleanup()


class Signer:
    """Signs output URLs in the manner of S3."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def path(self, output_id: str, media_type: str, *, signed_at: datetime, life: timedelta) -> str:
        """Return path and query of a URL that lives for *life* from *signed_at*."""
        name = f"{output_id}.{_SUFFIXES.get(media_type, 'bin')}"
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"TWIN/{signed_at:%Y%m%d}/us-east-1/s3/aws4_request",
            "X-Amz-Date": f"{signed_at:%Y%m%dT%H%M%SZ}",
            "X-Amz-Expires": str(max(0, int(life.total_seconds()))),
            "X-Amz-SignedHeaders": "host",
        }
        unsigned = f"/_out/{name}?{urlencode(query)}"
        return f"{unsigned}&X-Amz-Signature={self._signature(unsigned)}"

    def is_genuine(self, path: str, query: str) -> bool:
        """Return whether path and query are byte for byte what was signed."""
        unsigned, _, signature = query.rpartition("&X-Amz-Signature=")
        expected = self._signature(f"{path}?{unsigned}")
        return hmac.compare_digest(signature.encode(), expected.encode())

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def ends_at(query: str) -> datetime:
    """Return when a genuine URL's life ends."""
    fields = parse_qs(query)
    signed_at = datetime.strptime(fields["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return signed_at + timedelta(seconds=int(fields["X-Amz-Expires"][0]))
