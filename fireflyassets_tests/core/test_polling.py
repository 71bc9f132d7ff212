"""Learned polling: questions come when an answer is likely, and never too often."""

import math
import random
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.polling import Latency, wait_before_poll


def asked(latency: Latency, seconds: float) -> list[float]:
    """Return when a job of *seconds* is asked for, up to the question that finds it done."""
    times = [0.0]
    while times[-1] < seconds:
        elapsed = timedelta(seconds=times[-1])
        wait = wait_before_poll(latency, elapsed=elapsed, polls=len(times) - 1)
        times.append(times[-1] + wait.total_seconds())
    return times


def shares(sigma: float) -> tuple[float, float]:
    """Return polls for each job and the median delay as a share, learning on the way."""
    chance = random.Random(8)  # noqa: S311 - a reproducible draw.
    latency, polls, lags = Latency(), list[int](), list[float]()
    for _ in range(4000):
        seconds = 6.0 * math.exp(chance.gauss(0, sigma))
        *_, before, found = times = asked(latency, seconds)
        # As in life: only the questions are known, not the end itself.
        latency = latency.learn(timedelta(seconds=found), after=timedelta(seconds=before))
        polls.append(len(times) - 1)
        lags.append((found - seconds) / seconds)
    return sum(polls[100:]) / len(polls[100:]), sorted(lags[100:])[len(lags[100:]) // 2]


def test_few_questions_and_little_delay() -> None:
    """For latencies that spread by a quarter: under two polls on average, seen within a tenth."""
    polls, lag = shares(0.25)
    assert polls <= 1.9
    assert lag <= 0.10


def test_wide_latencies_stay_within_three() -> None:
    """For latencies that spread by a half: at most three polls, and still a small delay."""
    polls, lag = shares(0.5)
    assert polls <= 3.0
    assert lag <= 0.2


@given(
    st.lists(st.floats(0, 1e6), max_size=30),
    st.floats(0, 1e5),
    st.integers(0, 200),
)
def test_waits_are_always_sane(seen: list[float], elapsed: float, polls: int) -> None:
    """Whatever was learned, a wait is between 50 ms and a minute."""
    latency = Latency()
    for seconds in seen:
        latency = latency.learn(timedelta(seconds=seconds))
    wait = wait_before_poll(latency, elapsed=timedelta(seconds=elapsed), polls=polls)
    assert timedelta(milliseconds=50) <= wait <= timedelta(seconds=60)
