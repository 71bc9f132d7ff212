"""Learned polling: questions come when an answer is likely, and never too often."""

import math
import random
from collections.abc import Iterable, Iterator
from datetime import timedelta
from statistics import NormalDist, fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.polling import Latency, next_question


def asked(latency: Latency, seconds: float) -> list[float]:
    """Return when a job of *seconds* is asked for, up to the question that finds it done."""
    times = [0.0]
    while times[-1] < seconds:
        at = next_question(latency, asked=timedelta(seconds=times[-1]))
        times.append(at.total_seconds())
    return times


def drawn(sigma: float, *, blocks: int, usual: float = 6.0) -> list[float]:
    """Return lognormal latencies, of each block one from each stratum: no luck in their shape."""
    chance = random.Random(8)  # noqa: S311 - a reproducible draw.
    strata = [usual * math.exp(sigma * NormalDist().inv_cdf((n + 0.5) / 400)) for n in range(400)]
    return [seconds for _ in range(blocks) for seconds in chance.sample(strata, len(strata))]


def figures(found: list[tuple[int, float]]) -> tuple[float, float]:
    """Return polls for each job, and the median delay as a share."""
    return fmean(polls for polls, _ in found), median(lag for _, lag in found)


def learning(seconds: Iterable[float], latency: Latency) -> Iterator[tuple[int, float]]:
    """Yield polls and delay of each job, learning on the way."""
    for each in seconds:
        *_, before, seen = times = asked(latency, each)
        # As in life: only the questions are known, not the end itself.
        latency = latency.learn(timedelta(seconds=seen), after=timedelta(seconds=before))
        yield len(times) - 1, (seen - each) / each


@pytest.mark.parametrize(("sigma", "most"), [(0.25, 1.9), (0.5, 3.0)])
def test_schedule_asks_rarely_and_finds_soon(sigma: float, most: float) -> None:
    """Once a latency is known, half of the jobs are found within a tenth of their time."""
    known = Latency(math.log(6.0), sigma, count=1)
    found = [
        (len(times) - 1, (times[-1] - seconds) / seconds)
        for seconds in drawn(sigma, blocks=1)
        for times in [asked(known, seconds)]
    ]
    polls, lag = figures(found)
    assert polls <= most
    assert lag <= 0.10


@pytest.mark.parametrize(("sigma", "most"), [(0.25, 1.9), (0.5, 3.0)])
def test_learned_schedule_is_as_good(sigma: float, most: float) -> None:
    """What questions alone can teach is enough, from the first hundred jobs on."""
    found = list(learning(drawn(sigma, blocks=4), Latency()))
    polls, lag = figures(found[100:])
    assert polls <= most * 1.02
    assert lag <= 0.11


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_change_is_followed(factor: float) -> None:
    """A step that becomes twice as fast or slow is asked for at its new times in a while."""
    known = Latency()
    for seconds in drawn(0.25, blocks=2):
        known = known.learn(timedelta(seconds=seconds), after=timedelta(seconds=seconds * 0.9))
    found = list(learning(drawn(0.25, blocks=4, usual=6.0 * factor), known))
    polls, lag = figures(found[-400:])
    assert polls <= 2.0
    assert lag <= 0.12


def test_a_late_job_is_asked_for_by_its_own_age() -> None:
    """A job that is stuck costs few questions, however many were asked before."""
    known = Latency(math.log(15.0), 0.25, count=1)
    late = timedelta(minutes=8)
    assert timedelta(seconds=20) <= next_question(known, asked=late) - late


def test_the_first_to_end_do_not_stand_for_those_in_flight() -> None:
    """Three jobs that end at 30 s, with a hundred at work at 35 s, tell of a usual time beyond."""
    latency = Latency()
    for n in range(1, 4):
        latency = latency.learn(
            timedelta(seconds=30),
            after=timedelta(seconds=28),
            working=[timedelta(seconds=35)] * n * 33,
        )
    assert latency.quantile(0.0) > timedelta(seconds=40)


def test_a_stuck_job_makes_no_other_late() -> None:
    """One job at work for five minutes says nothing about a step that takes six seconds."""
    latency = Latency()
    for _ in range(5):
        latency = latency.learn(
            timedelta(seconds=6), after=timedelta(seconds=5), working=[timedelta(minutes=5)]
        )
    assert next_question(latency, asked=timedelta(0)) < timedelta(seconds=8)


def test_few_ask_in_the_place_of_all() -> None:
    """Of an unknown step, what five jobs outlast no other is asked for; what one does, it is."""
    one, five = ([timedelta(seconds=20)] * n for n in (1, 5))
    assert next_question(Latency(), asked=timedelta(0), working=one) == timedelta(seconds=1)
    assert next_question(Latency(), asked=timedelta(0), working=five) == timedelta(seconds=30)


@given(
    st.lists(st.floats(0, 1e6), max_size=30),
    st.floats(0, 1e5),
    st.lists(st.floats(0, 1e6), max_size=30),
)
def test_waits_are_always_sane(seen: list[float], asked: float, at_work: list[float]) -> None:
    """Whatever was learned, a wait is between 50 ms and a minute."""
    latency, working = Latency(), [timedelta(seconds=age) for age in at_work]
    for seconds in seen:
        latency = latency.learn(timedelta(seconds=seconds), working=working)
    before = timedelta(seconds=asked)
    wait = next_question(latency, asked=before, working=working) - before
    assert timedelta(milliseconds=50) <= wait <= timedelta(seconds=60)
