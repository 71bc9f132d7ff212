"""What all parts of the memory ledger share: the dictionaries, the lock, one way to write a row.

Belongs here: state. Does not: the port's methods.
"""

from datetime import datetime
from threading import RLock

from fireflyassets.adapters.budget_rules import overrun_event
from fireflyassets.adapters.ledger_rules import FAULTS
from fireflyassets.adapters.memory.book import MemoryBook
from fireflyassets.adapters.memory.calls import MemoryCalls
from fireflyassets.adapters.memory.reviews import MemoryReviews
from fireflyassets.adapters.outbox import StatusEvent, status_event
from fireflyassets.core.event import Event
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.ports.briefs import BegunBrief
from fireflyassets.ports.entries import Wave


class MemoryBase:
    """Rows in dictionaries under one lock."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rows: dict[str, JobRow] = {}
        self._waves: dict[str, Wave] = {}
        self._keys: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._holds: dict[tuple[str, str], Hold] = {}
        self._owed: dict[str, JobRow] = {}
        self._calls = MemoryCalls()
        self._book = MemoryBook()
        self._briefs: dict[str, BegunBrief] = {}
        self._outbox: list[StatusEvent] = []
        self._reviews = MemoryReviews()
        self._events: list[Event] = []

    def events(self) -> list[Event]:
        """Return what customers are told besides the ends of jobs."""
        with self._lock:
            return list(self._events)

    def rows(self) -> list[JobRow]:
        """Return every row, for whoever counts them."""
        with self._lock:
            return list(self._rows.values())

    def _write(self, row: JobRow) -> None:
        """Keep a row whose status changed, with its event."""
        self._keep(row)
        if row.status in FAULTS:
            self._owed[row.job_id] = row
        self._outbox.append(
            status_event(
                job_id=row.job_id,
                customer=row.customer_id,
                campaign=row.campaign_id,
                epoch=row.epoch,
                status=row.status,
                at=row.updated_at,
            )
        )

    def _keep(self, row: JobRow) -> None:
        """Keep a row; the counters of its budgets move with what it takes of them."""
        before = self._rows.get(row.job_id)
        self._rows[row.job_id] = row
        self._book.rebook(row.customer_id, before.booking if before else None, row.booking)
        if before and before.booking and row.booking and row.ended_at:
            of = (row.job_id, row.customer_id)
            event = overrun_event(*of, before.booking, row.booking, row.ended_at)
            self._book.events += [event] if event else []
