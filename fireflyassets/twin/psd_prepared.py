"""Documents kept ready: parsed once, cut once per set of edited layers, shared by threads.

Belongs here: the cache and its locks. Does not: drawing. What a `Prepared` hands out is never
changed by anyone, so that renders need no lock; psd-tools reads lazily and is used under one.
"""

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Final

from psd_tools import PSDImage

from fireflyassets.twin import psd_file, psd_geometry, psd_plates
from fireflyassets.twin.psd_file import LayerFact
from fireflyassets.twin.psd_geometry import Frame, Slot
from fireflyassets.twin.psd_plates import Plan

_DOCUMENTS: Final = 6
_PLANS: Final = 4
"""Plans kept per document; a campaign's jobs all edit the same layers."""


class Prepared:
    """One parsed document."""

    def __init__(self, document: bytes) -> None:
        self._psd: PSDImage = psd_file.open_document(document)
        self._lock = Lock()
        self._geometry: dict[int, Slot | Frame | None] = {}
        self._plans: OrderedDict[frozenset[int], Plan | None] = OrderedDict()
        self.facts: tuple[LayerFact, ...] = psd_file.facts(self._psd)

    def geometry(self, fact: LayerFact) -> Slot | Frame | None:
        """Return where the layer stands, None if it takes no edit."""
        with self._lock, psd_file.decoding():
            if fact.index not in self._geometry:
                layer = psd_file.layers(self._psd)[fact.index]
                self._geometry[fact.index] = psd_geometry.read(layer)
            return self._geometry[fact.index]

    def plan(self, edited: frozenset[int]) -> Plan | None:
        """Return the plates round the *edited* layers, None if the document cannot be cut."""
        with self._lock, psd_file.decoding():
            if edited not in self._plans:
                self._plans[edited] = psd_plates.cut(self._psd, edited)
            self._plans.move_to_end(edited)
            while len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
            return self._plans[edited]


class Shelf:
    """The last few documents, by their sha256; two threads never parse the same one twice."""

    def __init__(self, documents: int = _DOCUMENTS) -> None:
        self._size = documents
        self._lock = Lock()
        self._locks: OrderedDict[bytes, Lock] = OrderedDict()
        self._kept: dict[bytes, Prepared] = {}

    def get(self, document: bytes) -> Prepared:
        """Return *document* parsed; a broken one raises each time and is not kept."""
        key = hashlib.sha256(document).digest()
        with self._lock:
            own = self._locks.setdefault(key, Lock())
            self._locks.move_to_end(key)
            while len(self._locks) > self._size:
                oldest, _ = self._locks.popitem(last=False)
                self._kept.pop(oldest, None)
        with own:
            kept = self._kept.get(key) or Prepared(document)
            with self._lock:
                if key in self._locks:
                    self._kept[key] = kept
            return kept
