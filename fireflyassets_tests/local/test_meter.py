"""The meter keeps the highest answer, the last one included."""

from collections.abc import Iterator
from threading import Event

from fireflyassets.local.meter import PeakMeter


def test_peak_is_kept_while_the_stack_works() -> None:
    answers: Iterator[int] = iter([3, 9, 4])
    enough = Event()

    def measure() -> int:
        answer = next(answers, 0)
        if not answer:
            enough.set()
        return answer

    with PeakMeter(measure, every_seconds=0.001) as meter:
        assert enough.wait(timeout=30)

    assert meter.peak_bytes == 9


def test_even_the_shortest_work_is_measured() -> None:
    with PeakMeter(lambda: 5, every_seconds=60) as meter:
        pass

    assert meter.peak_bytes == 5
