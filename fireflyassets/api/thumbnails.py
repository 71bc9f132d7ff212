"""Thumbnails: small pictures of what was made, for pages that show many.

Belongs here: finding a job's picture, shrinking it once, keeping the last few hundred. Does not:
who may see it.
"""

from collections import OrderedDict
from threading import Lock
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader, Seen

WIDTH: Final = 320
"""Pixels; what a metadata column shows."""
_KEPT: Final = 256
"""About 15 kB each: 4 MB in all."""


class Thumbnails:
    """Makes and keeps thumbnails. Safe to share by threads."""

    def __init__(self, ledger: JobLedger, objects: ObjectStore, pictures: PictureReader) -> None:
        self._ledger = ledger
        self._objects = objects
        self._pictures = pictures
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = Lock()

    def of(self, row: JobRow, name: str) -> bytes | None:
        """Return a picture of a job as WebP; *name* is an aspect, or a step that does not fan out.

        A delivered rendition comes first, then what a step made; None where neither is there.
        """
        for key in self._keys(row, name):
            kept = self._recall((key, row.generation))
            if kept is not None:
                return kept
            content = self._objects.get(key)
            if content is not None and isinstance(self._pictures.look(content), Seen):
                small = self._pictures.thumbnail(content, width=WIDTH)
                self._keep((key, row.generation), small)
                return small
        return None

    def _keys(self, row: JobRow, name: str) -> list[str]:
        keys = [key for key in row.outputs if ids.delivered_aspect(key) == name]
        if keys:
            return [*keys, *map(ids.rejected_key, keys)]
        return [
            result.picture.key
            for (step, generation), result in self._ledger.history(row.job_id).steps.items()
            if generation == row.generation and (step == name or step.endswith(f".{name}"))
        ]

    def _recall(self, entry: tuple[str, int]) -> bytes | None:
        with self._lock:
            if entry in self._kept:
                self._kept.move_to_end(entry)
            return self._kept.get(entry)

    def _keep(self, entry: tuple[str, int], small: bytes) -> None:
        with self._lock:
            self._kept[entry] = small
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
