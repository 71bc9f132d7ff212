"""Endpoints as their customers handle them: add, change, rotate, test, replay, remove.

In: a customer's wish, its address judged. Out: endpoints and due deliveries, written. Spends:
nothing. Sending is not here (``stages/telling.py``), nor whether an address may be sent to.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from fireflyassets.core.endpoint import (
    MOST_ENDPOINTS,
    Delivery,
    Endpoint,
    Health,
    Kind,
    Outcome,
    State,
    delivery_of,
)
from fireflyassets.core.event import Event, EventType, body_of, facts_payload
from fireflyassets.core.request import Problem
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.webhooks import Chosen, WebhookStore

_TRIES: Final = 5
_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different; None leaves it."""

    url: str | None = None
    types: frozenset[EventType] | None = None
    enabled: bool | None = None


class Endpoints:
    """What a customer can do to its endpoints; every answer None means that there is none."""

    def __init__(self, store: WebhookStore, clock: Clock) -> None:
        self.store = store
        self._clock = clock

    def add(
        self, customer: str, name: str, *, kind: Kind, url: str, types: Collection[EventType]
    ) -> Endpoint | Problem:
        """Keep a new endpoint under *name*, which nobody has had."""
        if len(self.store.endpoints(customer)) >= MOST_ENDPOINTS:
            said = f"There are {MOST_ENDPOINTS} endpoints, which is the most."
            return Problem("", "endpoints", said, "Remove one that is not needed.")
        made = Endpoint(customer, name, kind, url, frozenset(types), self._clock.now())
        self.store.add_endpoint(made)
        return made

    def change(self, customer: str, name: str, change: Change) -> Endpoint | None:
        """Change an endpoint; one that is enabled anew begins in good health."""

        def changed(one: Endpoint) -> Endpoint:
            health = one.health
            if change.enabled is not None:
                health = Health() if change.enabled else Health(State.DISABLED)
            url = one.url if change.url is None else change.url
            types = one.types if change.types is None else change.types
            return replace(one, url=url, types=types, health=health)

        return self._write(customer, name, changed)

    def rotate(self, customer: str, name: str) -> Endpoint | None:
        """Give an endpoint a new secret; the one before signs for a day more."""
        now = self._clock.now()
        return self._write(customer, name, lambda one: one.rotated(now))

    def test(self, customer: str, name: str, *, chance: str) -> Delivery | None:
        """Send an endpoint a test, as any event is sent; *chance* keeps two of them apart."""
        endpoint = self.store.endpoint(customer, name)
        if endpoint is None:
            return None
        now = self._clock.now()
        event = Event(
            event_id=f"test#{name}#{chance}",
            type=EventType.ENDPOINT_TEST,
            customer=customer,
            at=now,
            facts={"endpointId": name},
        )
        body = body_of(facts_payload(event))
        made = delivery_of(event, endpoint, body, due_at=now, asked_at=None)
        self.store.add_delivery(made)
        return made

    def replay(self, chosen: Chosen) -> int:
        """Make due again what is meant; return how many it were."""
        return sum(map(self.again, meant(self.store, chosen)))

    def again(self, delivery: Delivery) -> bool:
        """Make one delivery due again; False while it waits anyway."""
        return self.store.replay(delivery, now=self._clock.now())

    def _write(
        self, customer: str, name: str, how: Callable[[Endpoint], Endpoint]
    ) -> Endpoint | None:
        """Change an endpoint, whoever else does at the same moment."""
        for _ in range(_TRIES):
            stands = self.store.endpoint(customer, name)
            if stands is None:
                return None
            if kept := self.store.change_endpoint(how(stands)):
                return kept
        return None


def meant(store: WebhookStore, chosen: Chosen) -> Iterator[Delivery]:
    """Yield what a replay is of, the newest first: what failed, if no outcome is named."""
    wanted = replace(chosen, outcome=chosen.outcome or Outcome.FAILED)
    after: str | None = None
    while page := store.deliveries(wanted, after=after, most=_PAGE):
        yield from page
        after = page[-1].delivery_id


def moment(text: str) -> datetime | None:
    """Return the time that *text* names with its zone; None: it is none."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None
