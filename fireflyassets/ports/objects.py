"""The object store as a port: our own buckets. Not here: Adobe's stores, tags' meaning."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta


class ObjectStore(ABC):
    """Keeps bytes under keys. Keys are made by ``core/ids.py`` and never hold dot segments."""

    @abstractmethod
    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        """Write an object with its whole tag set in one request; overwrites."""

    @abstractmethod
    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        """Return an object's bytes, or None where there is none.

        Of a *part* only those from its first number to before its second, as far as there are any.
        """

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Say whether there is an object under *key*."""

    @abstractmethod
    def keys(self, prefix: str, *, after: str = "", most: int | None = None) -> list[str]:
        """Return the keys that begin with *prefix*, in order; without *most* for few objects.

        Only those behind *after*, and no more than *most*.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete an object; one that is gone already is fine."""

    @abstractmethod
    def tags(self, key: str) -> dict[str, str] | None:
        """Return the object's tags as the store has them now; None where there is no object."""

    @abstractmethod
    def retag(self, key: str, tags: Mapping[str, str]) -> bool:
        """Replace the whole tag set of an object; False where there is none."""

    @abstractmethod
    def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
        """Write an object under another key too, with its whole tag set; False: there is none."""

    @abstractmethod
    def read_url(self, key: str, *, life: timedelta) -> str:
        """Sign a URL that reads *key* for *life*. Made just before use; never stored or logged."""

    @abstractmethod
    def write_url(self, key: str, *, media_type: str, life: timedelta) -> str:
        """Sign a URL that PUTs *key* once within *life*. Never stored or logged."""
