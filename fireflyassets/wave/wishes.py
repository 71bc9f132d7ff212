"""Which jobs of a wave are to be cancelled: looked for at each heartbeat, told to their turns.

Belongs here: hearing of it. Does not: what a turn does then (``fence/``), nor how its row ends,
which the ledger sees to.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.job import JobRow
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.ledger import JobLedger

_log: Final = logging.getLogger("fireflyassets.wave")


@dataclass(frozen=True, slots=True)
class Wishes:
    """The jobs whose turn has not ended; an event is set once its job is to be cancelled."""

    ledger: JobLedger
    customer: str
    clock: Clock
    offload: Offload
    jobs: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def begin(self, rows: Iterable[JobRow]) -> None:
        """Take jobs up; a wish of before the run is there already."""
        self.jobs.update({row.job_id: asyncio.Event() for row in rows})
        self._heed(rows)

    async def hear(self, every: timedelta) -> None:
        """Look at all rows again and again: whenever a wish came, the next look finds it."""
        while True:
            await self.clock.sleep(every)
            try:
                rows = await self.offload(self.ledger.jobs, self.customer, list(self.jobs))
            except errors.StoreUnavailable as outage:
                _log.warning("cancels are heard later: %s", outage)
                continue
            self._heed(rows.values())

    def _heed(self, rows: Iterable[JobRow]) -> None:
        for row in rows:
            if row.cancel and row.job_id in self.jobs:
                self.jobs[row.job_id].set()
