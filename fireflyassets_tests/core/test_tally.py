"""What is counted adds up, is rolled up, and stays within its bounds."""

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import metric
from fireflyassets.core.tally import MOST_SERIES, Tally, two_digits


def sums(tally: Tally, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Return labels -> sum of what is taken of one metric."""
    return {
        tuple(one.labels.items()): sum(value * times for value, times in one.values.items())
        for one in tally.taken()
        if one.metric.name == name
    }


def call(tally: Tally, endpoint: str, customer: str) -> None:
    tally.add(metric.CALLS, endpoint=endpoint, credential="c", customer=customer, status="200")


def test_a_count_is_rolled_up_by_each_set_of_labels() -> None:
    """Calls are told in all, by endpoint, credential, customer and status, never by all at once."""
    tally = Tally()
    for endpoint, customer in (("a", "acme"), ("a", "bolt"), ("b", "acme")):
        call(tally, endpoint, customer)

    assert sums(tally, "adobe_calls") == {
        (): 3,
        (("endpoint", "a"),): 2,
        (("endpoint", "b"),): 1,
        (("credential", "c"),): 3,
        (("customer", "acme"),): 2,
        (("customer", "bolt"),): 1,
        (("status", "200"),): 3,
    }


def test_what_is_taken_is_gone_and_the_total_stays() -> None:
    """A second look tells only what came since; the total tells all."""
    tally = Tally()
    call(tally, "a", "acme")
    tally.taken()
    call(tally, "a", "acme")

    assert sums(tally, "adobe_calls")[()] == 1
    (total,) = tally.totals()
    assert total.values == {2: 1}
    assert tally.taken() == []


def test_a_gauge_tells_its_last_value() -> None:
    """The last value holds, and is told once."""
    tally = Tally()
    tally.set(metric.DEAD, 7)
    tally.set(metric.DEAD, 0)

    (series,) = tally.taken()
    assert series.values == {0: 1}


@given(st.floats(0.001, 1e6))
def test_a_histogram_keeps_two_digits(value: float) -> None:
    """What is kept is within 5 % of what came, so that series stay short."""
    assert abs(two_digits(value) - value) <= 0.05 * value


def test_labels_without_end_do_not_fill_the_memory() -> None:
    """Past the most series, further ones are dropped, counted and harmless; known ones go on."""
    tally = Tally()
    for number in range(MOST_SERIES + 50):
        call(tally, f"endpoint-{number}", "acme")
    call(tally, "endpoint-0", "acme")

    assert len(tally.totals()) == MOST_SERIES + 1
    assert sums(tally, "metrics_dropped")[()] == 50
    assert next(
        one for one in tally.totals() if one.labels.get("endpoint") == "endpoint-0"
    ).values == {2: 1}


def test_a_value_that_is_no_number_harms_nothing() -> None:
    """Not a number, endless and negative times count as none."""
    assert [two_digits(odd) for odd in (float("nan"), float("inf"), -1.0)] == [0, 0, 0]


def test_counting_costs_next_to_nothing() -> None:
    """What one job counts, 50 notes, takes less than 0.2 ms of the process's time."""
    tally, jobs = Tally(), 400
    begun = time.process_time()
    for _ in range(25 * jobs):
        call(tally, "/v3/status/{id}", "acme")
        tally.observe(metric.LATENCY, 0.123, endpoint="/v3/status/{id}")

    assert (time.process_time() - begun) / jobs < 0.0002


def test_threads_lose_no_count() -> None:
    """Four threads that count at once lose nothing, while a fifth takes it away."""
    tally, taken = Tally(), list[float]()

    def work() -> None:
        for _ in range(2000):
            call(tally, "a", "acme")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken.append(sums(tally, "adobe_calls").get((), 0))
    taken.append(sums(tally, "adobe_calls").get((), 0))

    assert sum(taken) == 8000
