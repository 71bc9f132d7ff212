"""Events that nobody hears of. Here: what they cost. Not here: what is told (`test_telling.py`)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.stages.relay import MOST, PASSED_AFTER, PASSED_AT, Relay
from fireflyassets_tests.contracts import ledgers, webhooks
from fireflyassets_tests.contracts.ledgers import NOON


class CountedReads(MemoryLedger):
    """A ledger that counts the jobs that are read."""

    read = 0

    def jobs(self, customer: str, job_ids: Iterable[str]) -> dict[str, JobRow]:
        """Return jobs."""
        found = super().jobs(customer, job_ids)
        self.read += len(found)
        return found


class Silence:
    """A customer without endpoints whose jobs end, and a process that looks."""

    def __init__(self) -> None:
        self.ledger = CountedReads()
        self.world = replace(ledgers.memory_world(), ledger=self.ledger)
        self.store = webhooks.over(self.ledger)
        self.clock = FakeClock(NOON)
        self.relay = Relay(self.store, self.ledger, self.clock, api_url="https://assets.example")

    def ends(self, jobs: int) -> None:
        """End so many jobs."""
        for n in range(jobs):
            self.world.ended(Status.SUCCEEDED, f"job-{n}")

    def left(self) -> int:
        """Take a turn; return how many events are pending after it. None is told."""
        assert self.relay.read(Counter()) == []
        return len(self.store.pending(most=MOST))


def test_what_nobody_hears_of_is_passed_over_in_one_write() -> None:
    """Once there are many, and without reading their jobs."""
    here = Silence()
    here.ends(PASSED_AT - 1)
    few = here.left()
    here.world.ended(Status.SUCCEEDED, "one more")
    read = here.ledger.read

    assert (few, here.left()) == (PASSED_AT - 1, 0)
    assert here.ledger.read == read


def test_few_that_nobody_hears_of_do_not_stay() -> None:
    """They would stand before those of others."""
    here = Silence()
    here.ends(2)
    soon = here.left()
    here.clock.jump(PASSED_AFTER + timedelta(minutes=1))

    assert (soon, here.left()) == (2, 0)


def test_an_endpoint_that_comes_meanwhile_hears_them() -> None:
    """Nothing that is still pending is lost to it."""
    here = Silence()
    here.ends(2)
    here.left()
    here.store.add_endpoint(webhooks.endpoint())
    here.clock.jump(timedelta(seconds=10))

    told = here.relay.read(Counter())

    assert [len(one.deliveries) for one in told] == [1, 1]
