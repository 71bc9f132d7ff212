"""Turns: whose wave is formed next, and of which campaign's jobs.

In: the lines of loaded campaigns, open waves, credits. Out: batches, one at a time, each to be
formed or passed over. Spends: nothing.

Between tenants, credits decide (``core/round_robin.py``); within a tenant, by when its campaigns'
work is wanted (``core/priority.py``). What bounds a tick are the caps: lines are asked for their
first job alone until it is their turn.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.priority import Priority, wanted_by
from fireflyassets.core.round_robin import Contender, Credits, next_turn
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.forming import Batch, Lane, next_batch, wave_size

USABLE_FOR: Final = timedelta(minutes=4)
"""Waves of one organisation: as many as it begins jobs in that time. More would only wait."""


@dataclass(frozen=True, slots=True)
class Line:
    """A campaign's jobs in a lane, and the pace at which they can be worked off."""

    lane: Lane
    campaign: str
    organisation: str
    jobs_per_minute: float
    """What the organisation's paced rate lets through, were it for this campaign alone."""
    weight: int = 1
    priority: Priority = Priority.NORMAL
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """How many waves may be open, and how large one may be."""

    per_lane: int
    per_credential: int
    jobs: int
    horizon: timedelta


class Turns:
    """One tick's choice. *credits* are what is to be remembered for the next."""

    def __init__(
        self,
        ledger: JobLedger,
        lines: Iterable[Line],
        *,
        caps: Caps,
        remembered: Credits,
        now: datetime,
    ) -> None:
        self._ledger = ledger
        self._caps = caps
        self._now = now
        self._lanes: dict[Lane, list[Line]] = {}
        for line in lines:
            self._lanes.setdefault(line.lane, []).append(line)
        self._open = Counter(map(_lane_of, ledger.open_waves()))
        self._waiting: dict[Line, datetime | None] = {}
        """Line -> since when its first job has been due; None: it has none, or was passed over."""
        busy = {_name(lane) for lane in self._lanes if self._open[lane] or self._first(lane)}
        self.credits = remembered.kept(busy)

    @property
    def waves(self) -> int:
        """Return how many waves are open, of all lanes."""
        return self._open.total()

    def next(self) -> tuple[Line, Batch] | None:
        """Return what to form next; None if nobody may have, or wants, another wave."""
        while lanes := {_name(lane): lane for lane in self._lanes if self._contends(lane)}:
            contenders = [
                Contender(name, self._weight(lane), self._open[lane])
                for name, lane in lanes.items()
            ]
            name, self.credits = next_turn(contenders, self.credits)
            line = self._first(lanes[name])
            if line and (batch := self._batch(line)):
                return line, batch
            if line:
                self.passed(line)
        return None

    def took(self, line: Line, jobs: int) -> None:
        """Note a wave of so many jobs: it is paid in milliseconds of its organisation's rate."""
        self._open[line.lane] += 1
        cost = max(1, round(60_000 * jobs / line.jobs_per_minute))
        self.credits = self.credits.paid(_name(line.lane), cost)
        self._waiting.pop(line, None)

    def passed(self, line: Line) -> None:
        """Let the line be until the next tick: none of its jobs can be had now."""
        self._waiting[line] = None

    def _contends(self, lane: Lane) -> bool:
        """Say whether a lane may have another wave, and has a job for it."""
        caps, organisation = self._caps, self._lanes[lane][0].organisation
        under_credential = sum(
            count for one, count in self._open.items() if one.credential == lane.credential
        )
        return (
            self._open[lane] < caps.per_lane
            and under_credential < caps.per_credential
            and self._waves_of(organisation) < self._usable(self._lanes[lane])
            and self._first(lane) is not None
        )

    def _waves_of(self, organisation: str) -> int:
        return sum(
            self._open[lane]
            for lane, lines in self._lanes.items()
            if lines[0].organisation == organisation
        )

    @staticmethod
    def _usable(lines: Sequence[Line]) -> int:
        """Return how many waves the rate of a lane's organisation can use at once."""
        rate = max(line.jobs_per_minute for line in lines)
        return max(1, int(rate * (USABLE_FOR / timedelta(minutes=1))))

    def _first(self, lane: Lane) -> Line | None:
        """Return the lane's line whose work is wanted first."""
        since = {line: at for line in self._lanes[lane] if (at := self._due_since(line))}

        def wanted(line: Line) -> tuple[datetime, str]:
            by = wanted_by(line.priority, due_since=since[line], deadline=line.deadline)
            return by, line.campaign

        return min(since, key=wanted, default=None)

    def _due_since(self, line: Line) -> datetime | None:
        if line not in self._waiting:
            lane = (line.lane.credential, line.lane.customer, line.campaign)
            rows = self._ledger.due(*lane, now=self._now, most=1)
            self._waiting[line] = rows[0].due_at if rows else None
        return self._waiting[line]

    def _batch(self, line: Line) -> Batch | None:
        size = wave_size(
            most=self._caps.jobs,
            horizon=self._caps.horizon,
            jobs_per_minute=line.jobs_per_minute * self._share(line),
        )
        return next_batch(self._ledger, line.lane, line.campaign, most=size, now=self._now)

    def _share(self, line: Line) -> float:
        """Return the tenant's share of its organisation's rate, beside those who want some now."""
        weights = {
            lane.customer: self._weight(lane)
            for lane, lines in self._lanes.items()
            if lines[0].organisation == line.organisation
            and (self._open[lane] or self._first(lane))
        }
        return line.weight / (sum(weights.values()) or line.weight)

    def _weight(self, lane: Lane) -> int:
        return self._lanes[lane][0].weight


def _lane_of(wave: Wave) -> Lane:
    return Lane(wave.credential, wave.customer)


def _name(lane: Lane) -> str:
    return f"{lane.credential}#{lane.customer}"
