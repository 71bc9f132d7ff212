"""The machine's clock and the one that tests move. Here: both clocks. Not here: other time."""

import asyncio
from datetime import UTC, timedelta

import pytest

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.limiter.virtual_time import VirtualLoop


def test_system_clock_is_aware_and_does_not_run_back() -> None:
    clock = SystemClock()
    before = clock.now()

    assert before.tzinfo is UTC
    assert clock.now() >= before


@pytest.mark.parametrize(("asked", "waited"), [(90.0, 90.0), (0.0, 0.0), (-9.0, 0.0)])
def test_system_clock_waits_as_long_as_asked(asked: float, waited: float) -> None:
    """It waits on the loop's time; a wait that is over already gives the loop one turn."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(SystemClock().sleep(timedelta(seconds=asked)))

        assert runner.get_loop().time() == pytest.approx(waited, abs=0.001)


def test_fake_clock_jumps_and_never_back() -> None:
    clock = FakeClock()
    before = clock.now()

    asyncio.run(clock.sleep(timedelta(hours=1)))
    clock.jump(timedelta(hours=-9))

    assert clock.now() - before == timedelta(hours=1)
