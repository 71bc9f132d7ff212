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

from fireflyassets.core import manifest
from fireflyassets.core.errors import BriefInterrupted, FactoryError, StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.briefs import ROWS_AT_ONCE, BegunBrief
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Recorded
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.budgeting import Hold, Unaffordable
from fireflyassets.stages.drafting import A_PLACE, row_of
from fireflyassets.stages.pinning import card_named, pinned
from fireflyassets.stages.steering import held_with_campaign

_log: Final = logging.getLogger(__name__)

PATIENCE: Final = timedelta(minutes=3)
"""Twice what the largest brief takes. A writer that is only slow loses nothing by company."""

BUDGET: Final = timedelta(seconds=10)
"""After which no other brief is begun in one call: a sensor's tick is killed after a minute."""


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
    brief = BegunBrief(*of, manifest=key, made_at=now, partial=partial)
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
        for brief in self.ledger.begun_briefs(before=now - PATIENCE, most=most):
            if self.clock.now() - now > BUDGET:
                break
            try:
                new += self._finish(brief, now)
            except StoreUnavailable:
                raise
            except (FactoryError, ValueError):  # One that can't be read holds up no other.
                _log.exception("A brief of %s is not whole yet.", brief.customer)
        return new

    def _finish(self, brief: BegunBrief, now: datetime) -> int:
        rows = self._rows(brief)
        known = self.ledger.jobs(brief.customer, [row.job_id for row in rows])
        missing = [row for row in rows if row.job_id not in known]
        new: list[JobRow] = []
        if missing:
            campaign = pinned(self.objects, brief.customer, brief.campaign, brief.version)
            # All of what is left or nothing: a half-taken brief waits until a budget has room.
            hold = Hold(self.catalogue, campaign, now, partial=brief.partial)
            answers = hold.record(self.ledger, missing)
            new = [one.row for one in answers.values() if isinstance(one, Recorded)]
            held_with_campaign(self.ledger, new, now=now)
            waits = any(isinstance(one, Unaffordable) for one in answers.values())
            if waits and known and not brief.partial:
                _log.warning(
                    "%d jobs of a brief of %s wait for room.", len(missing), brief.customer
                )
                return len(new)
        self.ledger.end_brief(brief)
        return len(new)

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
