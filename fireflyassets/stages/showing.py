"""Showing: a job's objects lie where its last decision says, and their tags say the same.

In: rows whose decision the objects may not show. Out: objects tagged and moved, the ledger told.
Spends: nothing. A rejected or recalled output lies under ``rejected/``, any other one under its own
key. Anybody may tag; one process alone moves, since of two that move one object in opposite ways
each could delete the other's copy. Whoever wrote looks whether the row has moved, and begins anew
then: the last decision is what remains. Behind each write of tags it looks for a legal hold, too:
one that was set meanwhile, whose tags the write may have undone, is brought back (``holding.py``).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from fireflyassets.core import ids, retention
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Move
from fireflyassets.core.status import HumanReview
from fireflyassets.core.tags import REVIEWED
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.reviews import View
from fireflyassets.stages.holding import Holding

_log: Final = logging.getLogger(__name__)
_WRITERS: Final = 16


@dataclass(frozen=True, slots=True)
class Showing:
    """The use case. Safe to share by threads."""

    holding: Holding

    @property
    def ledger(self) -> JobLedger:
        """Return the truth."""
        return self.holding.ledger

    @property
    def objects(self) -> ObjectStore:
        """Return where the outputs lie."""
        return self.holding.objects

    def tag(self, rows: Sequence[JobRow]) -> None:
        """Tag the outputs of *rows* by their last decisions, wherever they lie now.

        They stay due: what lies beside them is tagged, and what must be is moved, by `show_due`.
        """
        self._each(rows, self._tagged)

    def show_due(self, *, most: int) -> int:
        """Tag and move what is due of up to *most* rows; return of how many. One process may."""
        return sum(self._each(self.ledger.unshown(View.OBJECTS, most=most), self._shown))

    def _each(self, rows: Sequence[JobRow], work: Callable[[JobRow], bool]) -> list[bool]:
        def guarded(row: JobRow) -> bool:
            try:
                return work(row)
            except StoreUnavailable as error:
                _log.warning("job %s: its outputs do not show its review: %s", row.job_id, error)
                return False

        with ThreadPoolExecutor(max(1, min(_WRITERS, len(rows)))) as pool:
            return list(pool.map(guarded, rows))

    def _tagged(self, row: JobRow) -> bool:
        return all([self._place(key, row, may_move=False) for key in row.outputs])  # noqa: C419 - each, whatever became of those before.

    def _shown(self, row: JobRow) -> bool:
        while True:
            keys = (*row.outputs, *map(ids.sidecar_key, row.outputs))
            if not all([self._place(key, row, may_move=True) for key in keys]):  # noqa: C419 - as above.
                return False
            if self.ledger.shown(row, View.OBJECTS):
                return True
            stands = self.ledger.job(row.job_id)
            if stands is None or stands.epoch == row.epoch:
                return True
            row = stands

    def _place(self, key: str, row: JobRow, *, may_move: bool) -> bool:
        """Bring one object to its place with its tags; False if that is not all that is due."""
        review = row.human_reviewed
        target = lies_at(key, review)
        source = key if target != key else ids.rejected_key(key)
        here, there = self.objects.tags(target), None
        if here is None or review is HumanReview.REJECTED or _may_be_away(row):
            there = self.objects.tags(source)
        found = there if here is None else here
        if found is None:
            return True  # The lifecycle has taken it, or there never was one.
        wanted, moves = {**found, REVIEWED: review.value}, here is None and may_move
        if moves:
            kept = self.objects.copy(source, target, tags=wanted)
        else:
            kept = found == wanted or self.objects.retag(source if here is None else target, wanted)
        if moves or found != wanted:
            self._heed_hold(target if moves or here is not None else source, row, wanted)
        is_moved = there is None or may_move
        if not (kept and is_moved) or self.objects.tags(target) != wanted:
            return False
        if there is not None and not retention.is_held(self.objects.tags(source) or {}):
            self.objects.delete(source)
        return True

    def _heed_hold(self, key: str, row: JobRow, written: Mapping[str, str]) -> None:
        if retention.is_ours(written) != self.holding.is_held(row.customer_id, row.job_id):
            self.holding.retag(key)


def lies_at(key: str, review: HumanReview) -> str:
    """Return where an output lies once its review is shown."""
    return ids.rejected_key(key) if review is HumanReview.REJECTED else key


def _may_be_away(row: JobRow) -> bool:
    """Say whether something may lie under ``rejected/`` that does not belong there."""
    return row.judged is not None and row.judged.move is Move.UNDO
