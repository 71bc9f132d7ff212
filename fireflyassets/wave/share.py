"""How the waves of one tenant stand to each other: who goes first, and how its weight is split.

Belongs here: which open waves take tickets now, how many a wave still wants, and telling the
pacers. Does not: fairness between tenants, which is the pacers' line at the limiter.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.failure import Family
from fireflyassets.fence.call import Lease
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Wave, WaveState
from fireflyassets.ports.ledger import JobLedger

LOOK: Final = timedelta(seconds=1)
"""Between two looks at what a wave waits for."""


def is_warm(mine: Wave, waves: Iterable[Wave], *, now: datetime) -> bool:
    """Say whether *mine* takes no ticket yet, for one of *waves* goes first."""
    return any(_goes_first(one, mine, now=now) for one in waves)


def _goes_first(other: Wave, mine: Wave, *, now: datetime) -> bool:
    """Say whether *mine* stays warm for *other*: older, of the same lane, and still taking."""
    same = (other.customer, other.credential) == (mine.customer, mine.credential)
    older = _age(other) < _age(mine)
    return same and older and is_running(other, now=now) and not other.draining


async def wait_for_turn(
    mine: Wave, waves: Callable[[], Awaitable[Sequence[Wave]]], *, lease: Lease, clock: Clock
) -> None:
    """Stay warm, with no ticket taken, while an older wave of the tenant still takes some."""
    while not lease.closing:
        if not is_warm(mine, await waves(), now=clock.now()):
            return
        await clock.sleep(LOOK)


def _age(wave: Wave) -> tuple[datetime, str]:
    return wave.formed_at, wave.wave_id


def is_running(wave: Wave, *, now: datetime) -> bool:
    """Say whether a run works on the wave and is alive."""
    alive = wave.lease_until is not None and wave.lease_until > now
    return wave.state is WaveState.RUNNING and alive


def takers(waves: Sequence[Wave], *, now: datetime) -> list[Wave]:
    """Return the waves that take tickets: a warm one holds nothing, so its share is lent."""
    return [
        wave for wave in waves if is_running(wave, now=now) and not is_warm(wave, waves, now=now)
    ]


@dataclass(frozen=True, slots=True)
class Share:
    """A wave's part of its tenant's weight, told to its pacers."""

    wave: Wave
    pacers: Iterable[Pacer]
    ledger: JobLedger
    clock: Clock
    same_organisation: Callable[[Wave], bool]
    """Whether a wave of the same tenant draws on the same paced items."""

    def count(self) -> None:
        """Count the tenant's waves that draw on the items beside this one. Blocks."""
        mine = self.wave
        waves = [one for one in self.ledger.open_waves() if one.customer == mine.customer]
        others = [
            one
            for one in takers(waves, now=self.clock.now())
            if one.wave_id != mine.wave_id and self.same_organisation(one)
        ]
        for pacer in self.pacers:
            pacer.open_waves = 1 + len(others)
            pacer.place = sum(_age(other) < _age(mine) for other in others)


@dataclass(slots=True)
class FirstTickets:
    """Counts the jobs of a wave: all that want a first ticket, begun ones, and served ones."""

    family: Family
    """Of a job's first call; whether and when the later ones come, nobody knows before."""
    wanted: int = 0
    begun: int = 0
    jobs: set[str] = field(default_factory=set[str])
    all_had: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, job_id: str) -> None:
        """Note that a job has had a ticket, or has ended without one."""
        self.jobs.add(job_id)
        if len(self.jobs) >= self.wanted:
            self.all_had.set()

    def to_come(self, family: Family) -> int:
        """Return how many calls of *family* will come of jobs that have not begun."""
        return self.wanted - self.begun if family is self.family else 0
