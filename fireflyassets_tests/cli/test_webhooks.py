"""``fireflyassets webhooks`` over memory. Here: what is shown, and what is sent again."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.webhooks import MemoryWebhooks
from fireflyassets.cli.webhooks import WebhookDesk
from fireflyassets.core.endpoint import Attempt, Outcome
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.event import Event, EventType
from fireflyassets.ports.webhooks import Chosen
from fireflyassets.stages.endpoints import Endpoints
from fireflyassets_tests.contracts.webhooks import delivery, endpoint
from fireflyassets_tests.front_door import CUSTOMER, NOON


class Counter:
    """A desk with five deliveries that failed and one that came, and what it says."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.store = MemoryWebhooks()
        self.desk = WebhookDesk(Endpoints(self.store, FakeClock(NOON)), self.said.append)
        to = endpoint(customer=CUSTOMER)
        self.store.add_endpoint(to)
        for number in range(6):
            at = NOON + timedelta(minutes=number)
            event = Event(f"e{number}", EventType.JOB_FAILED, CUSTOMER, at)
            tried = Attempt(at, 500 if number else 200, timedelta(seconds=1), "said")
            outcome = Outcome.FAILED if number else Outcome.DELIVERED
            made = delivery(event, to, due_at=NOON)
            done = replace(made, due_at=None, outcome=outcome, attempts=(tried,))
            self.store.add_delivery(done)

    def due(self) -> int:
        """Return how many wait to be sent."""
        return len(self.store.deliveries(Chosen(CUSTOMER, outcome=Outcome.WAITING)))


def test_endpoints_and_deliveries_are_listed() -> None:
    at = Counter()

    at.desk.show_endpoints(CUSTOMER, as_json=False)
    at.desk.show_all(Chosen(CUSTOMER), most=3, as_json=True)

    assert "https://hooks.example.com/ep_1" in at.said[0]
    assert [one["outcome"] for one in json.loads(at.said[1])] == ["failed"] * 3


def test_a_replay_says_first_what_it_would_do() -> None:
    """Without the word nothing moves."""
    at = Counter()

    at.desk.replay(Chosen(CUSTOMER), None, go=False)

    assert at.said == ["5 deliveries would be sent again. --go does it."]
    assert at.due() == 0


def test_one_a_range_or_an_endpoint_is_sent_again() -> None:
    """Of several, those that failed; one that was delivered only by its name."""
    for chosen, moved in [
        (Chosen(CUSTOMER), 5),
        (Chosen(CUSTOMER, "ep_1"), 5),
        (Chosen(CUSTOMER, "ep_other"), 0),
        (Chosen(CUSTOMER, since=NOON + timedelta(minutes=4)), 2),
        (Chosen(CUSTOMER, outcome=Outcome.DELIVERED), 1),
    ]:
        at = Counter()
        at.desk.replay(chosen, None, go=True)
        assert at.due() == moved

    at = Counter()
    (delivered,) = at.store.deliveries(Chosen(CUSTOMER, outcome=Outcome.DELIVERED))
    at.desk.replay(Chosen(CUSTOMER), delivered.delivery_id, go=True)
    assert at.due() == 1


def test_a_delivery_is_shown_with_every_try() -> None:
    at = Counter()
    (one, *_) = at.store.deliveries(Chosen(CUSTOMER))

    at.desk.show(CUSTOMER, one.delivery_id)

    (attempt,) = json.loads(at.said[0])["attempts"]
    assert (attempt["status"], attempt["milliseconds"], attempt["said"]) == (500, 1000, "said")


def test_another_customers_delivery_is_as_absent_as_none() -> None:
    at = Counter()
    (one, *_) = at.store.deliveries(Chosen(CUSTOMER))

    with pytest.raises(UnusableArgument):
        at.desk.show("bolt", one.delivery_id)
