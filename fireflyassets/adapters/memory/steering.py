"""Steering in the memory ledger: cancel, hold, campaigns on hold, who moves partition keys.

Belongs here: what people and dispatchers do. Does not: what a wave does.
"""

from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.ledger_rules import check_unowned, is_claimable
from fireflyassets.adapters.memory import turns
from fireflyassets.adapters.memory.leftovers import MemoryLeftovers
from fireflyassets.core.event import halted
from fireflyassets.core.job import Cancel, Hold, JobRow
from fireflyassets.core.status import Status
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

    def ask_cancel(self, row: JobRow, cancel: Cancel) -> bool:
        """Note on a running job that it is to be cancelled; False if it has moved."""
        with self._lock:
            if row.status is not Status.RUNNING or not self._is_still(row):
                return False
            self._rows[row.job_id] = replace(row, cancel=cancel, reason=cancel.reason)
            return True

    def lease_keys(
        self, customer: str, campaign: str, owner: str, *, until: datetime, now: datetime
    ) -> bool:
        """Take the right to move a campaign's partition keys; False while another's lasts."""
        with self._lock:
            has, lasts = self._keys.get((customer, campaign), (owner, until))
            if has != owner and lasts > now:
                return False
            self._keys[customer, campaign] = (owner, until)
            return True

    def free_keys(self, customer: str, campaign: str, owner: str) -> None:
        """Give that right back; another's stays."""
        with self._lock:
            if self._keys.get((customer, campaign), ("",))[0] == owner:
                del self._keys[customer, campaign]

    def hold_with_campaign(self, row: JobRow, hold: Hold, *, now: datetime) -> bool:
        """Put the campaign's hold on a queued job; False if either has moved."""
        with self._lock:
            held = self._holds.get((row.customer_id, row.campaign_id))
            if held != hold or not is_claimable(row) or not self._is_still(row):
                return False
            self._keep(replace(row, hold=hold, reason=hold.reason, updated_at=now))
            return True

    def hold_campaign(
        self, customer: str, campaign: str, hold: Hold, *, anew: bool = False
    ) -> Hold:
        """Put a campaign on hold, and return the hold that stands: the first one, unless *anew*."""
        with self._lock:
            if anew or (customer, campaign) not in self._holds:
                self._holds[customer, campaign] = hold
                self._events.append(
                    halted(customer, campaign, reason=hold.reason, since=hold.since)
                )
            return self._holds[customer, campaign]

    def campaign_hold(self, customer: str, campaign: str) -> Hold | None:
        """Return a campaign's hold."""
        with self._lock:
            return self._holds.get((customer, campaign))

    def resume_campaign(self, customer: str, campaign: str) -> None:
        """Take a campaign's hold away; its jobs keep theirs."""
        with self._lock:
            self._holds.pop((customer, campaign), None)
