"""The object store in memory. Here: bytes, tags and URLs that name their key. Not here: HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Lock
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from fireflyassets.ports.objects import ObjectStore

_BASE: Final = "https://objects.invalid/"


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object as it was last written."""

    content: bytes = field(repr=False)
    media_type: str
    tags: Mapping[str, str]


class MemoryObjects(ObjectStore):
    """Objects of one process.

    Its URLs resolve nowhere: who plays a vendor calls `upload` and `download`.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._objects: dict[str, StoredObject] = {}

    @property
    def objects(self) -> dict[str, StoredObject]:
        """A copy of everything stored, by key."""
        with self._lock:
            return dict(self._objects)

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        """Write an object with its whole tag set; overwrites."""
        with self._lock:
            self._objects[key] = StoredObject(content, media_type, dict(tags or {}))

    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        """Return an object's bytes, or a *part* of them; None where there is none."""
        stored = self.objects.get(key)
        return stored.content[slice(*part or (None,))] if stored else None

    def exists(self, key: str) -> bool:
        """Say whether there is an object under *key*."""
        return key in self.objects

    def keys(self, prefix: str, *, after: str = "", most: int | None = None) -> list[str]:
        """Return the keys that begin with *prefix*, behind *after*, in order."""
        found = (key for key in self.objects if key.startswith(prefix) and key > after)
        return sorted(found)[:most]

    def delete(self, key: str) -> None:
        """Delete an object; one that is gone already is fine."""
        with self._lock:
            self._objects.pop(key, None)

    def tags(self, key: str) -> dict[str, str] | None:
        """Return the object's tags; None where there is no object."""
        stored = self.objects.get(key)
        return dict(stored.tags) if stored else None

    def retag(self, key: str, tags: Mapping[str, str]) -> bool:
        """Replace the whole tag set of an object; False where there is none."""
        return self.copy(key, key, tags=tags)

    def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
        """Write an object under another key too, with its whole tag set; False: there is none."""
        with self._lock:
            stored = self._objects.get(key)
            if stored:
                self._objects[to] = replace(stored, tags=dict(tags))
            return stored is not None

    def read_url(self, key: str, *, life: timedelta) -> str:
        """Return a URL that names *key*."""
        return f"{_BASE}{quote(key)}?method=GET&life={life.total_seconds():.0f}"

    def write_url(self, key: str, *, media_type: str, life: timedelta) -> str:
        """Return a URL that names *key* and the media type it takes."""
        life_seconds = f"{life.total_seconds():.0f}"
        return f"{_BASE}{quote(key)}?method=PUT&type={quote(media_type)}&life={life_seconds}"

    def upload(self, url: str, content: bytes, *, media_type: str) -> None:
        """Do what a vendor does with a URL of `write_url`.

        Raises:
            PermissionError: The URL is not for writing, or not for that media type.
        """
        allowed = parse_qs(urlsplit(url).query)
        if allowed["method"] != ["PUT"] or allowed["type"] != [media_type]:
            raise PermissionError(f"That URL does not allow to PUT {media_type}.")
        self.put(key_of(url), content, media_type=media_type)

    def download(self, url: str) -> bytes:
        """Do what a vendor does with a URL of `read_url`.

        Raises:
            PermissionError: The URL is not for reading.
            FileNotFoundError: There is no object under its key.
        """
        if parse_qs(urlsplit(url).query)["method"] != ["GET"]:
            raise PermissionError("That URL does not allow to GET.")
        content = self.get(key_of(url))
        if content is None:
            raise FileNotFoundError(key_of(url))
        return content


def key_of(url: str) -> str:
    """Return the key that a URL of `MemoryObjects` names."""
    if not url.startswith(_BASE):
        raise ValueError("That is not a URL of the memory store.")
    return unquote(urlsplit(url).path.removeprefix("/"))
