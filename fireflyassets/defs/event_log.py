# pyright: standard
"""Dagster's storage in Postgres: with a pool, and the events of assets written many at a time.

Belongs here: the pool; what is kept back, for how long, and how it is written. Does not: which
storage a process has (``storage.py``).

Dagster's own classes open a connection for each write, which costs two hundred times the write. The
pool is what its webserver asks for at its start; here each process has one, its workers too.

A wave of five hundred jobs plans and makes three thousand partitions. Written one by one each costs
an insert, a notice and a transaction on the one row of its asset. Here they wait for each other, a
hundred at most and half a second at most; whatever else is written or read goes behind them. A
process that is killed loses what waited: the sensor ``projections`` tells it from the ledger.
"""

import threading
from contextlib import AbstractContextManager
from typing import Final

import dagster as dg
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqlEventLogStorageTable
from dagster._serdes import ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage, PostgresEventLogStorage
from sqlalchemy.engine import Connection

MOST: Final = 100
WAITS_SECONDS: Final = 0.5
STATEMENT_MS: Final = 60_000
"""A tick of a sensor may take no longer either."""
RECYCLE_SECONDS: Final = 300
OVERFLOW: Final = 20
"""Connections beside the one that is kept, while threads of one process ask at once."""
_KEPT_BACK: Final = frozenset(
    {
        dg.DagsterEventType.ASSET_MATERIALIZATION,
        dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    }
)


class BatchedEventLog(PostgresEventLogStorage):
    """Writes events of assets in batches, in the order in which they were made."""

    def __init__(self, postgres_url: str) -> None:
        self._lock = threading.RLock()
        self._waiting: list[EventLogEntry] = []
        self._timer: threading.Timer | None = None
        super().__init__(postgres_url)

    def store_event(self, event: EventLogEntry) -> None:
        """Keep an asset's event for the next batch; write any other one behind it."""
        dagster_event = event.dagster_event
        if dagster_event is None or dagster_event.event_type not in _KEPT_BACK:
            super().store_event(event)  # It connects, and so writes what waits.
            return
        with self._lock:
            self._waiting.append(event)
            if len(self._waiting) >= MOST:
                self.write_waiting()
            elif self._timer is None:
                self._timer = threading.Timer(WAITS_SECONDS, self.write_waiting)
                self._timer.daemon = True
                self._timer.start()

    def write_waiting(self) -> None:
        """Write what waits; what could not be written waits for the next, who hears of it."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            events, self._waiting = self._waiting, []
            try:
                if events:
                    self._write(events)
            except BaseException:
                self._waiting = events + self._waiting
                raise

    def _write(self, events: list[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        ids = SqlEventLogStorageTable.c.id
        insert = SqlEventLogStorageTable.insert().returning(ids, sort_by_parameter_order=True)
        with self.index_transaction() as connection:
            numbers = [int(row[0]) for row in connection.execute(insert, rows)]
            self._store_asset_event_tags(connection, events, numbers)
            last = {
                event.get_dagster_event().asset_key: (event, number)
                for event, number in zip(events, numbers, strict=True)
            }
            for event, number in last.values():
                self._store_asset_event(connection, event, number)

    def _connect(self) -> AbstractContextManager[Connection]:
        """Connect behind what waits: no reader of this process misses what it has stored."""
        self.write_waiting()
        return super()._connect()

    def dispose(self) -> None:
        """Write what waits, and close."""
        self.write_waiting()
        super().dispose()
        self._engine.dispose()


class PooledStorage(DagsterPostgresStorage):
    """Runs, events and schedules in Postgres, each with a pool of connections."""

    def __init__(self, postgres_url: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(postgres_url, inst_data=inst_data)
        self._event_log_storage = BatchedEventLog(postgres_url)
        for part in (self._run_storage, self._event_log_storage, self._schedule_storage):
            part.optimize_for_webserver(
                statement_timeout=STATEMENT_MS, pool_recycle=RECYCLE_SECONDS, max_overflow=OVERFLOW
            )
