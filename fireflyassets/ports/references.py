"""Reference pictures as ports: handing the image generator a picture, once for equal bytes.

Belongs here: the way from bytes or a signed URL to a source, and what is remembered of uploads.
Does not: what a picture must be (``ports/pictures.py``), calls that use it (``ports/images.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fireflyassets.core.failure import Fault
from fireflyassets.ports.images import Source, Uploaded


@dataclass(frozen=True, slots=True)
class UploadFailed:
    """The picture is not with the vendor; nothing was paid."""

    fault: Fault
    retry_after: timedelta | None = None


class ReferenceStore(ABC):
    """Makes sources of one credential's organisation. Never raises for what the vendor does."""

    @abstractmethod
    async def upload(self, content: bytes) -> Uploaded | UploadFailed:
        """Return the upload of *content*: an earlier one while it lives, else a new one."""

    @abstractmethod
    async def offer(
        self, url: str, content: Callable[[], Awaitable[bytes]]
    ) -> Source | UploadFailed:
        """Return *url* itself where the vendor takes it, else an upload of *content*.

        A URL signed with session credentials may be longer than the vendor takes.
        """

    @abstractmethod
    async def forget(self, content: bytes) -> None:
        """Drop what is remembered of *content*, after the vendor refused its id as stale."""


class UploadCache(ABC):
    """Remembers uploads over processes, by organisation and the hash of the bytes."""

    @abstractmethod
    def read(self, organisation: str, digest: str) -> str | None:
        """Return the upload's id; None where there is none or it has ended."""

    @abstractmethod
    def write(self, organisation: str, digest: str, upload_id: str, *, until: datetime) -> None:
        """Remember an upload until *until*."""

    @abstractmethod
    def drop(self, organisation: str, digest: str) -> None:
        """Forget an upload that the vendor no longer knows."""
