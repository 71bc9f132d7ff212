"""Finishing: a brief of many rows is taken as a whole, whoever dies while they are written.

In: a brief's rows; briefs whose writers died. Out: the word in the ledger before the first row,
taken back behind the last; the rows that were missing. Spends: nothing.

Rows are written some fifty at a time and are due at once. So what was begun is not undone but
finished: the word names the manifest, which holds every request, and what they were priced under.
"""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from fireflyassets.core import manifest
from fireflyassets.core.errors import BriefInterrupted, FactoryError, StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.briefs import ROWS_AT_ONCE, BegunBrief
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Recorded
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.budgeting import LASTS, Hold, Unaffordable
from fireflyassets.stages.drafting import A_PLACE, row_of
from fireflyassets.stages.pinning import card_named, pinned
from fireflyassets.stages.steering import held_with_campaign

_log: Final = logging.getLogger(__name__)

PATIENCE: Final = timedelta(minutes=3)
"""Twice what the largest brief takes. A writer that is only slow loses nothing by company."""

BUDGET: Final = timedelta(seconds=10)
"""After which no other brief is begun in one call: a sensor's tick is killed after a minute."""


_BLOCKED: Final = 2 * LASTS
"""How long the dead writer's own block may take the room that its rows need."""
_GIVEN_UP: Final = timedelta(days=62)
"""Two months' budgets had no room. The rows of ended jobs go after ninety days, and a brief that
is finished later would make those again."""


@contextmanager
def whole(
    ledger: JobLedger, rows: Sequence[JobRow], key: str, *, now: datetime, partial: bool
) -> Generator[None]:
    """Keep the word, while *rows* are written, that all of them are to be.

    Raises:
        BriefInterrupted: The store went away meanwhile; the word stands, and the rest follows.
    """
    if len(rows) <= ROWS_AT_ONCE:
        yield
        return
    one = rows[0]
    of = (one.customer_id, one.campaign_id, one.campaign_version, one.rate_card)
    brief = BegunBrief(uuid4().hex, *of, manifest=key, made_at=now, partial=partial)
    ledger.begin_brief(brief)
    try:
        yield
    except StoreUnavailable as error:
        raise BriefInterrupted(len(rows)) from error
    except FactoryError:
        ledger.end_brief(brief)  # Refused before its first row.
        raise
    _end(ledger, brief)


def _end(ledger: JobLedger, brief: BegunBrief) -> None:
    try:
        ledger.end_brief(brief)
    except StoreUnavailable:
        _log.warning("A brief is whole, and its word stands: it is looked at again.", exc_info=True)


@dataclass(frozen=True, slots=True)
class Finishing:
    """The use case: what is missing of briefs whose writers died."""

    ledger: JobLedger
    objects: ObjectStore
    catalogue: Catalogue
    clock: Clock

    def finish(self, *, most: int) -> int:
        """Finish up to *most* briefs; return how many jobs are new by that. Safe beside others.

        Raises:
            StoreUnavailable: What is left is finished by a later call.
        """
        now = self.clock.now()
        new = 0
        found = self.ledger.begun_briefs(before=now - PATIENCE, most=most)
        # Each is the first in its turn: those that wait for room would use up every call's time.
        first = int(now.timestamp()) % len(found) if found else 0
        for brief in (*found[first:], *found[:first]):
            if self.clock.now() - now > BUDGET:
                break
            try:
                new += self._finish(brief, now)
            except (StoreUnavailable, ConnectionError):
                raise
            except Exception:  # noqa: BLE001 - the boundary.
                # One that can't be read holds up no other, and not the queue.
                _log.exception("A brief of %s is not whole yet.", brief.customer)
        return new

    def _finish(self, brief: BegunBrief, now: datetime) -> int:
        if now - brief.made_at >= _GIVEN_UP:
            _log.error(
                "The rest of a brief of %s, %s, is given up.", brief.customer, brief.manifest
            )
            self.ledger.end_brief(brief)
            return 0
        rows = self._rows(brief)
        known = self.ledger.jobs(brief.customer, [row.job_id for row in rows])
        missing = [row for row in rows if row.job_id not in known]
        new, waiting = self._record(brief, missing, now) if missing else (0, 0)
        if waiting:
            is_begun = bool(known) and not brief.partial
            waits = is_begun or now - brief.made_at < _BLOCKED
            told = "wait for room" if waits else "have no room and are refused"
            _log.warning("%d jobs of a brief of %s %s.", waiting, brief.customer, told)
            if waits:
                return new
        self.ledger.end_brief(brief)
        return new

    def _record(
        self, brief: BegunBrief, missing: Sequence[JobRow], now: datetime
    ) -> tuple[int, int]:
        """Record what is missing; return how many jobs are new, and how many have no room.

        All of them or none: a half-taken brief waits until a budget has room.
        """
        campaign = pinned(self.objects, brief.customer, brief.campaign, brief.version)
        answers = Hold(self.catalogue, campaign, now, partial=brief.partial).record(
            self.ledger, missing
        )
        new = [one.row for one in answers.values() if isinstance(one, Recorded)]
        held_with_campaign(self.ledger, new, now=now)
        return len(new), sum(isinstance(one, Unaffordable) for one in answers.values())

    def _rows(self, brief: BegunBrief) -> list[JobRow]:
        """Return the rows that the brief's writer made, from what it made them of."""
        content = self.objects.get(brief.manifest)
        if content is None:
            raise ValueError(f"The manifest {brief.manifest} is gone; restore the object.")
        requests = [manifest.load(line) for line in content.splitlines(keepends=True)]
        campaign = pinned(self.objects, brief.customer, brief.campaign, brief.version)
        card = card_named(self.objects, brief.rate_card)
        pointers = manifest.bundle(requests).pointers
        return [
            replace(
                row_of(request, campaign, card, created_at=brief.made_at - behind * A_PLACE),
                input_manifest=pointer,
            )
            for request, pointer, behind in zip(
                requests, pointers, reversed(range(len(requests))), strict=True
            )
        ]
