"""Waiting: what each campaign has in line and in waves, and what of it goes before a job.

In: counts of the ledger. Out: jobs by campaign. Spends: nothing.

Counting reads all that waits, so that it is done at most once in `FRESH`, by whoever asks first,
and others go by the last count meanwhile; what this process has recorded since is added. Nothing
is decided by it that a wrong count could make unsafe.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.priority import wanted_by
from fireflyassets.ports.backlog import Backlog, Line, LineName
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger

FRESH: Final = timedelta(seconds=30)
"""How old a count of what waits may be."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What waited at one moment."""

    at: datetime
    lines: dict[LineName, Line]
    in_waves: Counter[LineName]
    """Jobs of waves that have not ended."""

    def of(self, config: CampaignConfig) -> int:
        """Return how many jobs of a campaign wait or are at work."""
        name = name_of(config)
        line = self.lines.get(name)
        return self.in_waves[name] + (line.jobs if line else 0)

    def last_due_at(self, config: CampaignConfig) -> datetime | None:
        """Return when the last job in a campaign's line is due; None: none is in it."""
        line = self.lines.get(name_of(config))
        return max(line.minutes) if line else None

    def first(self, config: CampaignConfig, *, wanted: datetime | None) -> int:
        """Return how many jobs in a campaign's line go before one that is wanted then.

        None: nothing in line does.
        """
        line = self.lines.get(name_of(config))
        if line is None or wanted is None:
            return 0
        minutes = line.minutes.items()
        return sum(jobs for due_at, jobs in minutes if wanted_of(config, due_at) <= wanted)


@dataclass(slots=True)
class Waiting:
    """One process's count; safe for threads."""

    ledger: JobLedger
    backlog: Backlog
    clock: Clock
    _counted: Counted | None = None
    _lock: Lock = field(default_factory=Lock)

    def note(self, config: CampaignConfig, jobs: int) -> None:
        """Add jobs that were just recorded to what was counted before."""
        with self._lock:
            if self._counted is None:
                return
            lines, now = dict(self._counted.lines), self.clock.now()
            line = lines.get(name := name_of(config), Line(now))
            lines[name] = line.with_due(now, jobs)
            self._counted = Counted(self._counted.at, lines, self._counted.in_waves)

    def counted(self) -> Counted:
        """Return what waits; by the last count while somebody else counts anew."""
        known, now = self._counted, self.clock.now()
        if known is not None and now - known.at < FRESH:
            return known
        if not self._lock.acquire(blocking=known is None) and known is not None:
            return known
        try:
            if self._counted is None or now - self._counted.at >= FRESH:
                self._counted = self._count(now)
            return self._counted
        finally:
            self._lock.release()

    def _count(self, now: datetime) -> Counted:
        lines = dict(self.backlog.lines())
        in_waves = Counter[LineName]()
        for wave in self.ledger.open_waves():
            in_waves[wave.credential, wave.customer, wave.campaign] += len(wave.jobs)
        return Counted(now, lines, in_waves)


def name_of(config: CampaignConfig) -> LineName:
    """Return the name of a campaign's line."""
    return config.credential, config.customer, config.campaign


def wanted_of(config: CampaignConfig, due_at: datetime) -> datetime:
    """Return by when a job of a campaign is wanted, as dispatch has it."""
    return wanted_by(config.priority, due_since=due_at, deadline=config.deadline)
