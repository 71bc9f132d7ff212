"""Steering in the memory ledger: cancel, hold, and campaigns on hold.

Belongs here: what people do to jobs that no wave works on. Does not: what a wave does.
"""

from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.ledger_rules import check_unowned, is_claimable
from fireflyassets.adapters.memory import turns
from fireflyassets.adapters.memory.leftovers import MemoryLeftovers
from fireflyassets.core.job import Hold, JobRow
from fireflyassets.ports.entries import Ending


class MemorySteering(MemoryLeftovers):
    """The steering part of the ledger."""

    def close(self, row: JobRow, ending: Ending) -> bool:
        """End a job that no wave works on; False if it has moved."""
        check_unowned(row)
        with self._lock:
            if not self._is_still(row):
                return False
            ended = turns.finished(replace(row, epoch=row.epoch + 1), ending)
            self._write(replace(ended, hold=None, not_before=None))
            return True

    def hold_with_campaign(self, row: JobRow, hold: Hold, *, now: datetime) -> bool:
        """Put the campaign's hold on a queued job; False if either has moved."""
        with self._lock:
            held = self._holds.get((row.customer_id, row.campaign_id))
            if held != hold or not is_claimable(row) or not self._is_still(row):
                return False
            self._keep(replace(row, hold=hold, reason=hold.reason, updated_at=now))
            return True

    def hold_campaign(self, customer: str, campaign: str, hold: Hold) -> Hold:
        """Put a campaign on hold, and return the hold that stands: the first one."""
        with self._lock:
            return self._holds.setdefault((customer, campaign), hold)

    def campaign_hold(self, customer: str, campaign: str) -> Hold | None:
        """Return a campaign's hold."""
        with self._lock:
            return self._holds.get((customer, campaign))

    def resume_campaign(self, customer: str, campaign: str) -> None:
        """Take a campaign's hold away; its jobs keep theirs."""
        with self._lock:
            self._holds.pop((customer, campaign), None)
