"""Completions: a campaign whose last job has ended is told once, whoever notices.

In: ends of jobs, before they are told. Out: the event ``campaign.completed``. Spends: nothing.

No counter is kept, which all ends of a campaign would write. Whoever is about to tell the end of a
job looks first whether another job is open: while that end is pending a death loses nothing, and
the next process looks again. Of two last jobs that end at once the later one is told by somebody
who sees both; and the event's id is made of what has ended, so that it is written once. One open
job is remembered and asked for again, so that a campaign's list is read about twice in all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from fireflyassets.core.event import Event, completed
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.entries import Place
from fireflyassets.ports.ledger import JobLedger

_PAGE: Final = 25


class Completions:
    """Remembers, for each campaign, one job that is open."""

    def __init__(self, ledger: JobLedger) -> None:
        self._ledger = ledger
        self._open: dict[tuple[str, str], JobRow] = {}

    def asked_for(self, event: Event) -> str | None:
        """Return the job that must be read to judge the campaign of an end, if one is known."""
        known = self._open.get((event.customer, event.campaign))
        return known.job_id if known else None

    def after(self, event: Event, rows: Mapping[str, JobRow]) -> Event | None:
        """Return the completion of the campaign of an ended job; None while one is open.

        *rows* are read consistently, and hold the one that was `asked_for`.
        """
        key = (event.customer, event.campaign)
        known = self._open.get(key)
        if known and (row := rows.get(known.job_id)) and row.status not in ENDED:
            return None
        if known and (found := self._first_open(key, known)):
            # What is newer than the known one had ended: the search goes on where it was.
            self._open[key] = found
            return None
        return self._over_all(key)

    def _first_open(self, key: tuple[str, str], behind: JobRow) -> JobRow | None:
        rows = self._rows(key, Place(behind.created_at, behind.job_id))
        return next((row for row in rows if row.status not in ENDED), None)

    def _over_all(self, key: tuple[str, str]) -> Event | None:
        ends: Counter[Status] = Counter()
        last: datetime | None = None
        for row in self._rows(key, None):
            if row.status not in ENDED:
                self._open[key] = row
                return None
            ends[row.status] += 1
            at = row.ended_at or row.updated_at
            last = max(last or at, at)
        self._open.pop(key, None)
        return completed(*key, ends, last) if last else None

    def _rows(self, key: tuple[str, str], after: Place | None) -> Iterator[JobRow]:
        """Yield a campaign's rows, the newest first: those that the index has as open anew."""
        while True:
            page = self._ledger.campaign_page(*key, after=after, most=_PAGE, newest_first=True)
            doubted = [row.job_id for row in page if row.status not in ENDED]
            anew = self._ledger.jobs(key[0], doubted) if doubted else {}
            yield from (anew.get(row.job_id, row) for row in page)
            if len(page) < _PAGE:
                return
            after = Place(page[-1].created_at, page[-1].job_id)
