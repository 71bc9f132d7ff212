"""When a campaign is done. Here: real transitions of a ledger in memory, and processes that die.

Not here: how an event is brought to a customer (``test_telling.py``).
"""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.event import Event, EventType
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Place
from fireflyassets.stages.relay import Relay
from fireflyassets_tests.contracts import ledgers, webhooks
from fireflyassets_tests.contracts.ledgers import ACME, NOON, ending, job


class CountedPages(MemoryLedger):
    """A ledger that counts what is read of a campaign's list."""

    read = 0

    def campaign_page(
        self,
        customer: str,
        campaign: str,
        *,
        after: Place | None,
        status: Status | None = None,
        is_held: bool = False,
        most: int,
        newest_first: bool = False,
    ) -> list[JobRow]:
        """Return a page."""
        page = super().campaign_page(
            customer,
            campaign,
            after=after,
            status=status,
            is_held=is_held,
            most=most,
            newest_first=newest_first,
        )
        self.read += len(page)
        return page


class Bureau:
    """A campaign whose jobs run, and processes that tell of it."""

    def __init__(self, *keys: str) -> None:
        self.ledger = CountedPages()
        self.world = replace(ledgers.memory_world(), ledger=self.ledger)
        self.store = webhooks.over(self.ledger)
        self.store.add_endpoint(webhooks.endpoint())
        self.claims: dict[str, Claim] = {}
        self.ended_at = NOON
        self.add(*keys)

    def add(self, *keys: str) -> None:
        """Accept jobs, each a minute after the one before, and run them."""
        for key in keys:
            created_at = NOON + timedelta(minutes=len(self.claims))
            self.claims[key] = self.world.running(key, created_at=created_at)

    def ends(self, *keys: str, status: Status = Status.SUCCEEDED) -> None:
        """End jobs, each a second after the one before."""
        for key in keys:
            self.ended_at += timedelta(seconds=1)
            how = replace(ending(status), ended_at=self.ended_at)
            self.ledger.finish(self.claims[key], how)

    def process(self) -> Relay:
        """Return a process that tells, as a fresh start has it."""
        clock = FakeClock(NOON)
        return Relay(self.store, self.ledger, clock, api_url="https://assets.example")

    def told(self, *processes: Relay) -> list[Event]:
        """Let processes take turns until nothing is pending; return what they told."""
        told: list[Event] = []
        while self.store.pending(most=1):
            for process in processes:
                read = process.read(Counter())
                told += [one.event for one in read if process.tell(one)]
        return told


def completions(told: list[Event]) -> list[Event]:
    return [one for one in told if one.type is EventType.CAMPAIGN_COMPLETED]


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")])
def test_the_last_end_is_told_as_the_campaigns(order: tuple[str, ...]) -> None:
    """In whatever order they end, once, and not before the last."""
    at = Bureau("a", "b", "c")
    process = at.process()

    early: list[Event] = []
    for key in order[:-1]:
        at.ends(key)
        early += at.told(process)
    at.ends(order[-1])
    late = at.told(process)

    assert completions(early) == []
    (done,) = completions(late)
    assert (done.customer, done.campaign) == (ACME, "spring")
    assert done.facts["jobs"] == done.facts["succeeded"] == "3"


def test_every_end_counts_and_is_named() -> None:
    """What failed, was put aside or cancelled has ended too."""
    at = Bureau("a", "b", "c", "d", "e")
    for key, status in zip("abcde", list(Status)[2:], strict=True):
        at.ends(key, status=status)

    (done,) = completions(at.told(at.process()))

    assert done.facts == {
        "jobs": "5",
        **dict.fromkeys(("succeeded", "failed", "dlq", "review", "cancelled"), "1"),
    }


def test_two_last_ends_seen_by_two_processes_are_one_completion() -> None:
    """Both see both, and both write the same."""
    at = Bureau("a", "b")
    first, second = at.process(), at.process()
    at.ends("a", "b")

    read = [first.read(Counter()), second.read(Counter())]
    told = [one.event for each in read for one in each if first.tell(one)]
    told += at.told(first, second)

    assert len(completions(told)) == 1


def test_a_death_before_the_last_end_is_told_loses_nothing() -> None:
    """Nor does one right behind: what was written is told by another, under the same id."""
    at = Bureau("a", "b")
    at.ends("a", "b")

    at.process().read(Counter())
    first = at.store.pending(most=9)
    told = at.told(at.process())

    assert len(completions(first)) == 1
    assert completions(told) == completions(first)


def test_jobs_that_are_added_complete_it_anew() -> None:
    """A completion is of the jobs that were there; another one has an id of its own."""
    at = Bureau("a")
    process = at.process()
    at.ends("a")
    (first,) = completions(at.told(process))

    at.add("b", "c")
    at.ends("b")
    between = at.told(process)
    at.ends("c")
    (second,) = completions(at.told(process))

    assert completions(between) == []
    assert first.webhook_id != second.webhook_id
    assert second.facts["jobs"] == "3"


def test_a_job_that_runs_again_completes_it_anew() -> None:
    """A replay opens the campaign though all that is newer has ended."""
    at = Bureau("a", "b")
    process = at.process()
    at.ends("a", status=Status.DLQ)
    at.told(process)
    again = at.ledger.reclaim(at.claims["a"].job_id, ACME, "w-2", now=NOON)
    assert isinstance(again, Claim)
    at.claims["a"] = again

    at.ends("b")
    open_still = at.told(process)
    at.ends("a")
    (done,) = completions(at.told(process))

    assert completions(open_still) == []
    assert done.facts["succeeded"] == "2"


def test_a_campaign_of_hundreds_is_read_about_twice() -> None:
    """In the order of acceptance: one open job is asked for, and not the list."""
    keys = [f"k{number}" for number in range(250)]
    at = Bureau(*keys)
    process = at.process()

    told: list[Event] = []
    for key in keys:
        at.ends(key)
        told += at.told(process)

    assert len(completions(told)) == 1
    assert at.ledger.read < 2.2 * len(keys)


def test_another_campaign_of_the_customer_does_not_hold_it_up() -> None:
    at = Bureau("a")
    at.ledger.record([job("other", campaign_id="autumn")])
    at.ends("a")

    assert len(completions(at.told(at.process()))) == 1
