"""A dispatcher that dies between any two writes strands no job and lets none be claimed twice.

Here: the writes of forming, shrinking, setting aside and taking over, each cut short at every
place, over every ledger. Not here: what the ledger promises of a single write.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import pytest

from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Wave, WaveState
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.dispatch import (
    STALE_AFTER,
    RunState,
    give_back_stranded,
    set_aside,
    sweep,
    take_over,
)
from fireflyassets.stages.forming import Batch, Lane, form, next_batch, shrink
from fireflyassets_tests.contracts.ledgers import ACME, CREDENTIAL, NOON, RUN, SPRING, World, ending

LANE: Final = Lane(CREDENTIAL, ACME)
JOBS: Final = 3
WRITES: Final = frozenset({"form", "claim", "formed", "launched", "release", "finish", "end"})
ROUNDS: Final = 6

Act = Callable[[JobLedger], object]


class Dead(BaseException):
    """The process is gone."""


class Mortal:
    """A ledger that lets so many writes through, and whose process dies before the next."""

    def __init__(self, ledger: JobLedger, writes: int) -> None:
        self._ledger = ledger
        self.left = writes

    def __getattr__(self, name: str) -> object:
        call = getattr(self._ledger, name)
        if name not in WRITES:
            return call

        def write(*args: object, **kwargs: object) -> object:
            if self.left == 0:
                raise Dead
            self.left -= 1
            return call(*args, **kwargs)

        return write


def batch_of(world: World) -> Batch:
    """Return the next batch."""
    batch = next_batch(world.ledger, LANE, SPRING, most=JOBS, now=NOON)
    assert batch is not None
    return batch


def formed(world: World) -> Wave:
    """Return a wave of all jobs."""
    wave = form(world.ledger, batch_of(world), wave_id="w-1", now=NOON)
    assert wave is not None
    return wave


def forming(world: World) -> Act:
    """Form a wave."""
    batch = batch_of(world)
    return lambda ledger: form(ledger, batch, wave_id="w-1", now=NOON)


def forming_while_taken_for_dead(world: World) -> Act:
    """Form a wave that a sweep ends between the claims and the list."""
    batch = batch_of(world)

    def act(ledger: JobLedger) -> object:
        def claiming(job_id: str) -> Claim | None:
            claim = ledger.claim(job_id, ACME, "w-1", now=NOON)
            if job_id == batch.rows[-1].job_id:
                world.ledger.end("w-1")
            return claim

        return form(ledger, batch, wave_id="w-1", now=NOON, claiming=claiming)

    return act


def shrinking_to(kept: int) -> Callable[[World], Act]:
    """Shrink a formed wave to so many jobs."""

    def prepare(world: World) -> Act:
        wave = formed(world)
        return lambda ledger: shrink(ledger, wave, wave.jobs[:kept], now=NOON)

    return prepare


def setting_aside(world: World) -> Act:
    """Set a formed wave aside."""
    wave = formed(world)
    return lambda ledger: set_aside(ledger, wave, "a test", now=NOON)


def taking_over(world: World) -> Act:
    """Take a running wave over."""
    wave = formed(world)
    started = world.ledger.start(wave.wave_id, RUN, lease_until=NOON)
    assert started is not None
    return lambda ledger: take_over(ledger, started, now=NOON)


ACTS: Final = {
    "forming": (forming, JOBS + 2),
    "taken for dead": (forming_while_taken_for_dead, 2 * JOBS + 2),
    "shrinking": (shrinking_to(1), JOBS),
    "shrinking to none": (shrinking_to(0), JOBS + 1),
    "setting aside": (setting_aside, JOBS + 1),
    "taking over": (taking_over, JOBS + 1),
}
"""What is done -> how many writes it takes."""


@pytest.mark.parametrize(
    ("act", "last"),
    [(name, last) for name, (_, writes) in ACTS.items() for last in range(writes + 1)],
)
def test_no_death_strands_a_job(ledger_world: World, act: str, last: int) -> None:
    """Whichever write was the last, each job is worked on once, by one wave, and soon."""
    prepare, writes = ACTS[act]
    jobs = [ledger_world.queued(f"job-{n}").job_id for n in range(JOBS)]
    do = prepare(ledger_world)
    mortal = Mortal(ledger_world.ledger, last)
    died = False
    try:
        do(mortal)  # pyright: ignore[reportArgumentType] - it passes everything on.
    except Dead:
        died = True

    assert died is (last < writes)
    assert_known(ledger_world, jobs)
    assert Counter(settled(ledger_world, jobs)) == dict.fromkeys(jobs, 1)
    assert ledger_world.ledger.open_waves() == []


def assert_known(world: World, jobs: Sequence[str]) -> None:
    """Each running job is on its open wave's list, or its wave has ended: a sweep finds both."""
    for row in world.ledger.jobs(ACME, jobs).values():
        if row.status is Status.RUNNING:
            wave = world.ledger.wave(row.wave or "")
            assert wave is not None
            assert wave.state is WaveState.ENDED or row.job_id in wave.jobs


def settled(world: World, jobs: Sequence[str]) -> list[str]:
    """Let sweeps and dispatch go on for an hour; return the jobs that were worked on."""
    ledger, now = world.ledger, NOON
    worked: list[str] = []
    for number in range(ROUNDS):
        now += STALE_AFTER + timedelta(seconds=1)
        for wave in sweep(ledger, now=now, look=lambda _: RunState.UNSEEN).to_launch:
            ledger.launched(wave.wave_id)
            worked += work(ledger, wave, now)
        give_back_stranded(ledger, now=now, most=10)
        if batch := next_batch(ledger, LANE, SPRING, most=JOBS, now=now):
            wave_id = f"later-{number}"
            if wave := form(ledger, batch, wave_id=wave_id, now=now):
                worked += work(ledger, wave, now)
        if {row.status for row in ledger.jobs(ACME, jobs).values()} == {Status.SUCCEEDED}:
            return worked
    pytest.fail(f"Not worked on within an hour: {set(jobs) - set(worked)}")


def work(ledger: JobLedger, wave: Wave, now: datetime) -> list[str]:
    """Do what a run does: start the wave and end each job whose row names it."""
    started = ledger.start(wave.wave_id, RUN, lease_until=now + timedelta(minutes=1))
    assert started is not None
    mine = [
        row
        for row in ledger.jobs(ACME, started.jobs).values()
        if (row.wave, row.status) == (wave.wave_id, Status.RUNNING)
    ]
    for row in mine:
        ledger.finish(Claim(row.job_id, ACME, wave.wave_id, row.epoch), ending(ended_at=now))
    ledger.end(wave.wave_id)
    return [row.job_id for row in mine]
