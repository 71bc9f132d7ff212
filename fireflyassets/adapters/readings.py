"""Readings: what documents and fonts hold, by their bytes, so that shared files are read once.

Belongs here: what is kept from one look at a project folder to the next. Does not: how a file is
read, or what it must hold (``campaign_files.py``).
"""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Readings:
    """What documents and fonts hold, by their bytes: campaigns that share a file read it once.

    Made from those of an earlier look, it keeps what is met again.
    """

    def __init__(self, earlier: "Readings | None" = None) -> None:
        self._earlier = earlier.met if earlier else {}
        self.met: dict[tuple[object, bytes], Any] = {}

    def of(self, content: bytes, read: Callable[[bytes], T]) -> T:
        """Return what *read* makes of *content*; what it raises is raised each time."""
        key = (read, hashlib.sha256(content).digest())
        if key not in self.met:
            self.met[key] = self._earlier[key] if key in self._earlier else read(content)
        return self.met[key]
