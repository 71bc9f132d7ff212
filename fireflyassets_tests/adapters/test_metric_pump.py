"""Numbers are brought away each minute and at the end, and no outage of theirs costs anything."""

import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.metric_pump import Pump
from fireflyassets.core import metric
from fireflyassets.core.tally import Series, Tally
from fireflyassets.ports.metrics import MetricSink

SOON = timedelta(milliseconds=5)
NEVER = timedelta(hours=1)


class Basket(MetricSink):
    """Keeps what it is sent, or loses all of it."""

    def __init__(self, *, loses: bool = False, breaks: bool = False) -> None:
        self.kept: list[Series] = []
        self.loses = loses
        self.breaks = breaks

    def send(self, series: Sequence[Series], *, at: datetime) -> int:
        if self.breaks:
            raise RuntimeError("a bug")
        if self.loses:
            return len(series)
        self.kept += series
        return 0

    def sum_of(self, name: str) -> float:
        """Return what came of one metric without labels."""
        return sum(
            value
            for one in self.kept
            for value in one.values
            if one.metric.name == name and not one.labels
        )


def test_numbers_are_brought_away_again_and_again_and_at_the_end() -> None:
    """A running pump sends by itself; its stop sends the rest; nothing is sent twice."""
    tally, basket = Tally(), Basket()
    pump = Pump(tally, basket, SystemClock(), every=SOON)
    pump.start()
    pump.start()
    tally.add(metric.ACCEPTED, customer="acme")
    give_up_at = time.monotonic() + 10
    while not basket.kept and time.monotonic() < give_up_at:
        pass
    tally.add(metric.ACCEPTED, customer="acme")
    pump.stop()

    assert basket.sum_of("jobs_accepted") == 2


def test_what_is_lost_is_counted_and_harms_nothing() -> None:
    """A sink that takes nothing, or breaks, costs its numbers and tells how many."""
    tally, basket = Tally(), Basket(loses=True)
    pump = Pump(tally, basket, SystemClock(), every=NEVER)
    tally.add(metric.ACCEPTED, customer="acme")
    pump.flush()
    basket.loses, basket.breaks = False, True
    pump.flush()
    basket.breaks = False
    pump.flush()

    assert basket.sum_of("metrics_dropped") == 1
    assert basket.sum_of("jobs_accepted") == 0


PROGRAM = """
import signal, sys
from datetime import timedelta
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.metric_pump import Pump
from fireflyassets.core import metric
from fireflyassets.core.tally import Tally
from fireflyassets.ports.metrics import MetricSink

class Printer(MetricSink):
    def send(self, series, *, at):
        print(*(one.metric.name for one in series), flush=True)
        return 0

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
tally = Tally()
Pump(tally, Printer(), SystemClock(), every=timedelta(hours=1)).start()
tally.set(metric.DEAD, 1)
print("up", flush=True)
sys.stdin.read()
"""


def test_a_process_that_is_told_to_end_brings_its_numbers_away() -> None:
    """Termination leaves time for the last minute's numbers."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        program.terminate()
        assert program.stdout.read() == "dlq_depth\n"
