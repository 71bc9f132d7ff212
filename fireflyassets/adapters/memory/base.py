"""What all parts of the memory ledger share: the dictionaries, the lock, one way to write a row.

Belongs here: state. Does not: the port's methods.
"""

from datetime import datetime
from threading import RLock

from fireflyassets.adapters.ledger_rules import FAULTS
from fireflyassets.adapters.memory.calls import MemoryCalls
from fireflyassets.adapters.outbox import StatusEvent, status_event
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.ports.entries import Wave


class MemoryBase:
    """Rows in dictionaries under one lock."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rows: dict[str, JobRow] = {}
        self._waves: dict[str, Wave] = {}
        self._keys: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._holds: dict[tuple[str, str], Hold] = {}
        self._owed: dict[str, datetime] = {}
        self._calls = MemoryCalls()
        self._outbox: list[StatusEvent] = []

    def rows(self) -> list[JobRow]:
        """Return every row, for whoever counts them."""
        with self._lock:
            return list(self._rows.values())

    def _write(self, row: JobRow) -> None:
        """Keep a row whose status changed, with its event."""
        self._rows[row.job_id] = row
        if row.status in FAULTS:
            self._owed[row.job_id] = row.updated_at
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
