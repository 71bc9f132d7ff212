"""How a wave's part of its tenant's weight is told to its pacers. Here: which waves are counted."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.ports.entries import Wave, WaveState
from fireflyassets.wave.share import Share
from fireflyassets_tests.limiter.worlds import NOON


class OpenWaves(MemoryLedger):
    """A ledger in which exactly these waves are open."""

    def __init__(self, waves: Sequence[Wave]) -> None:
        super().__init__()
        self._waves = {wave.wave_id: wave for wave in waves}


def wave(
    credential: str, *, age: int, customer: str = "acme", lease: int = 60, draining: bool = False
) -> Wave:
    """Return a running wave that was formed *age* seconds ago."""
    formed_at = NOON - timedelta(seconds=age)
    running, until = WaveState.RUNNING, NOON + timedelta(seconds=lease)
    name = f"{customer}-{credential}-{age}"
    whose = (name, customer, "spring", "v", credential)
    return Wave(*whose, running, ("job",), formed_at, lease_until=until, draining=draining)


def counted(mine: Wave, *others: Wave) -> tuple[int, int]:
    """Return by how many the weight is shared, and how many of them come before *mine*."""
    clock = FakeClock(NOON)
    pacer = Pacer(MemoryLimiter(now=clock.now), "ORG#firefly", now=clock.now)
    Share(
        mine,
        [pacer],
        OpenWaves([mine, *others]),
        clock,
        lambda one: one.credential != "elsewhere",
    ).count()
    return pacer.open_waves, pacer.place


def test_older_waves_come_before_and_younger_ones_after() -> None:
    """What does not divide goes to the oldest: the place is how many are older."""
    older, younger = wave("b", age=20), wave("c", age=5)

    assert counted(wave("a", age=10), older, younger) == (3, 1)
    assert counted(wave("a", age=10), wave("b", age=20), wave("c", age=30)) == (3, 2)
    assert counted(wave("a", age=10), younger) == (2, 0)


@pytest.mark.parametrize(
    "other",
    [
        wave("b", age=20, customer="beta"),
        wave("elsewhere", age=20),
        wave("b", age=20, lease=-1),
    ],
    ids=["another tenant's", "another organisation's", "a dead one"],
)
def test_a_wave_that_shares_nothing_takes_no_place(other: Wave) -> None:
    """An older wave that is not counted does not come before this one either."""
    assert counted(wave("a", age=10), other) == (1, 0)
    assert counted(wave("a", age=10), other, wave("c", age=30)) == (2, 1)


def test_a_warm_wave_takes_no_place() -> None:
    """Of one lane the second waits for the first, so a wave of another lane comes right after."""
    first, warm = wave("b", age=30), wave("b", age=20)

    assert counted(wave("a", age=10), first, warm) == (2, 1)
    assert counted(wave("a", age=10), wave("b", age=30, draining=True), warm) == (3, 2)
