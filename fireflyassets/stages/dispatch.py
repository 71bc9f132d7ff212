"""Dispatch: what becomes of waves that are formed: launched, launched again, or taken back.

In: open waves, and what is seen of their runs. Out: waves that need a run; jobs back in the queue.
Spends: nothing. Adding partition keys and asking for a run is the caller's part; which jobs go
into a wave is ``stages/forming.py``.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from fireflyassets.core import crashes, errors
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Ending, Release, Wave, WaveState
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.forming import give_back, let_go, works_on

_log: Final = logging.getLogger("fireflyassets.dispatch")
STALE_AFTER: Final = timedelta(minutes=10)
"""A wave that was never formed is taken back by then; one set aside is due again."""
LOST_AFTER: Final = timedelta(minutes=2)
"""Times the launches: how long after its forming a wave that no run was made for is launched again.

The tick that asked for it has ended by then, with its daemon or without: it is killed after one
minute, and what it asks for is made before the next. Two runs of a wave are one that begins it.
"""
LAUNCHES: Final = 3
"""Runs that are asked for one wave. If none of them begins it, its jobs go back and wait."""
RELAUNCH_AFTER: Final = timedelta(minutes=1)
"""Times the launches after the first: how long after its forming a wave is launched again."""


def set_aside(ledger: JobLedger, wave: Wave, reason: str, *, now: datetime) -> None:
    """Give back a wave that can't be worked on now; its jobs are due again after a while.

    Late enough that they do not stand before the tenant's other jobs at every tick. No crash is
    counted: whatever it is, it is none of these jobs' fault.
    """
    until = now + STALE_AFTER
    give_back(ledger, wave, wave.jobs, reason, now=now, not_before=until)
    ledger.end(wave.wave_id)
    _log.warning("wave %s: set aside until %s: %s", wave.wave_id, until, reason)


class RunState(StrEnum):
    """What is known of the newest run that was asked for a wave."""

    UNSEEN = "unseen"
    ALIVE = "alive"
    CANCELLED = "cancelled"
    """Ended by a person, who wants it to stop now: that is no crash."""
    DIED = "died"


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: waves taken back, and formed ones that need another launch."""

    taken_back: tuple[Wave, ...]
    to_launch: tuple[Wave, ...]


def sweep(ledger: JobLedger, *, now: datetime, look: Callable[[Wave], RunState]) -> Swept:
    """Take back the jobs of dead waves and name those that never came to run."""
    taken: list[Wave] = []
    launch: list[Wave] = []
    for seen in ledger.open_waves():
        wave = ledger.wave(seen.wave_id)
        if wave is None or wave.state is WaveState.ENDED:
            continue
        if wave.state is WaveState.FORMING:
            if now - wave.formed_at > STALE_AFTER:
                give_back(ledger, wave, wave.jobs, "its wave was never formed", now=now)
                ledger.end(wave.wave_id)
                taken.append(wave)
        elif wave.state is WaveState.RUNNING:
            if _take_back(ledger, wave, look(wave), now=now):
                taken.append(wave)
        elif again := _to_launch(ledger, wave, look(wave), now=now):
            launch.append(again)
    return Swept(tuple(taken), tuple(launch))


def _take_back(ledger: JobLedger, wave: Wave, run: RunState, *, now: datetime) -> bool:
    """Take back a running wave whose run has ended, or whose lease is over."""
    if run is RunState.CANCELLED:
        set_aside(ledger, wave, "its run was cancelled", now=now)
        return True
    expired = wave.lease_until is None or wave.lease_until < now
    if expired or run is RunState.DIED:
        take_over(ledger, wave, now=now)
        return True
    return False


def _to_launch(ledger: JobLedger, wave: Wave, run: RunState, *, now: datetime) -> Wave | None:
    """Return a wave that needs a run; one whose runs do not begin it is set aside."""
    if run is RunState.CANCELLED:
        set_aside(ledger, wave, "its run was cancelled before it began", now=now)
        return None
    if run is RunState.ALIVE or now - wave.formed_at <= _patience(wave, run):
        return None
    if wave.launches >= LAUNCHES:
        why = f"none of its {wave.launches} runs began it; see their logs in Dagster"
        set_aside(ledger, wave, why, now=now)
        return None
    return _what_is_left(ledger, wave)


def _patience(wave: Wave, run: RunState) -> timedelta:
    if run is RunState.UNSEEN:
        return LOST_AFTER * max(1, wave.launches)
    return RELAUNCH_AFTER * (wave.launches - 1)


def _what_is_left(ledger: JobLedger, wave: Wave) -> Wave | None:
    """Return the wave with the jobs whose rows still name it; without any it ends.

    Whoever died while it gave jobs back left them on the list, and they may be another wave's.
    """
    rows = ledger.jobs(wave.customer, wave.jobs)
    left = tuple(job for job in wave.jobs if job in rows and works_on(wave, rows[job]))
    if left != wave.jobs:
        try:
            ledger.formed(wave.wave_id, left)
        except errors.OwnershipLost:
            return None
    return replace(wave, jobs=left) if left else None


def take_over(ledger: JobLedger, wave: Wave, *, now: datetime) -> int:
    """Take every job that a dead run still holds; each counts a crash. Returns how many."""
    count = 0
    for row in ledger.jobs(wave.customer, wave.jobs).values():
        if works_on(wave, row):
            count += _taken_over(ledger, row, now=now, alone=len(wave.jobs) == 1)
    ledger.end(wave.wave_id)
    _log.warning("wave %s: its run is dead; %d jobs taken back", wave.wave_id, count)
    return count


def _taken_over(ledger: JobLedger, row: JobRow, *, now: datetime, alone: bool) -> bool:
    count = row.crashes + 1
    if not crashes.is_poison(count, alone=alone):
        reason = f"Given back: the process that worked on it died (crash {count})."
        later = now + crashes.wait_after(count)
        return let_go(ledger, row, Release(reason, not_before=later, crashed=True), now=now)
    try:
        ledger.finish(Claim.standing(row), _poisoned(ledger, row, count, now=now))
    except errors.OwnershipLost:
        return False
    return True


def _poisoned(ledger: JobLedger, row: JobRow, count: int, *, now: datetime) -> Ending:
    """Return the end of a job that crashes alone; a person may run it again from ``dlq``."""
    alone = count - crashes.ALONE_FROM
    reason = (
        f"The process that worked on it died {count} times, the last {alone} with no other job "
        f"beside it. Find out why in the logs of its runs; then run it again."
    )
    cost = ledger.history(row.job_id).cost
    return Ending(Status.DLQ, reason, (), cost, now, None, failure=FailureClass.BUG)


def give_back_stranded(ledger: JobLedger, *, now: datetime, most: int) -> int:
    """Give back jobs that run under a wave that has ended; returns how many.

    Whoever claimed them died before the wave was complete, so that its list does not name them.
    """
    release = Release("Given back: its wave had ended.", not_before=now)
    count = sum(let_go(ledger, row, release, now=now) for row in ledger.stranded(most=most))
    if count:
        _log.warning("%d jobs ran under waves that had ended; they are given back", count)
    return count
