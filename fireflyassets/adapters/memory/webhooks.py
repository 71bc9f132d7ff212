"""Webhooks in memory. Here: events, endpoints and deliveries of one process. Not here: rules."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock

from fireflyassets.core.endpoint import Delivery, Endpoint, Outcome
from fireflyassets.core.event import Event
from fireflyassets.ports.webhooks import Chosen, WebhookStore


class MemoryWebhooks(WebhookStore):
    """Dictionaries under one lock, over the events that a ledger has written."""

    def __init__(self, written: Callable[[], Iterable[Event]] = tuple) -> None:
        self._written = written
        self._lock = RLock()
        self._own: list[Event] = []
        self._told: set[str] = set()
        self._endpoints: dict[tuple[str, str], Endpoint] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}

    def pending(self, *, most: int) -> list[Event]:
        """Return up to *most* events that nobody was told of yet."""
        with self._lock:
            events = [*self._written(), *self._own]
            left = [one for one in events if one.event_id not in self._told]
        return sorted(left, key=lambda one: one.at)[:most]

    def add_event(self, event: Event) -> bool:
        """Write an event that follows from others, once."""
        with self._lock:
            if any(one.event_id == event.event_id for one in self._own):
                return False
            self._own.append(event)
            return True

    def fan_out(self, event: Event, deliveries: Sequence[Delivery]) -> bool:
        """Write an event's deliveries, once."""
        with self._lock:
            if event.event_id in self._told:
                return False
            self._told.add(event.event_id)
            for one in deliveries:
                self.add_delivery(one)
            return True

    def pass_over(self, events: Sequence[Event]) -> bool:
        """Note that nobody is to be told, once."""
        with self._lock:
            ids = {one.event_id for one in events}
            if self._told & ids:
                return False
            self._told |= ids
            return True

    def endpoints(self, customer: str) -> list[Endpoint]:
        """Return a customer's endpoints by id."""
        return [one for one in self.every_endpoint() if one.customer == customer]

    def endpoint(self, customer: str, endpoint_id: str) -> Endpoint | None:
        """Return one endpoint."""
        return self._endpoints.get((customer, endpoint_id))

    def every_endpoint(self) -> list[Endpoint]:
        """Return everybody's endpoints."""
        with self._lock:
            return sorted(self._endpoints.values(), key=lambda one: one.endpoint_id)

    def add_endpoint(self, endpoint: Endpoint) -> None:
        """Keep a new endpoint."""
        self._endpoints[endpoint.customer, endpoint.endpoint_id] = endpoint

    def change_endpoint(self, endpoint: Endpoint, event: Event | None = None) -> Endpoint | None:
        """Write an endpoint as changed; None if it is another version by now."""
        key = (endpoint.customer, endpoint.endpoint_id)
        with self._lock:
            if key not in self._endpoints or self._endpoints[key].version != endpoint.version:
                return None
            self._endpoints[key] = replace(endpoint, version=endpoint.version + 1)
            self._own += [event] if event else []
            return self._endpoints[key]

    def remove_endpoint(self, customer: str, endpoint_id: str) -> None:
        """Forget an endpoint."""
        self._endpoints.pop((customer, endpoint_id), None)

    def deliveries(
        self, chosen: Chosen, *, after: str | None = None, most: int = 100
    ) -> list[Delivery]:
        """Return up to *most* deliveries, the newest first."""
        with self._lock:
            found = [one for one in self._deliveries.values() if _is_meant(one, chosen)]
        found = [one for one in found if after is None or one.delivery_id < after]
        return sorted(found, key=lambda one: one.delivery_id, reverse=True)[:most]

    def delivery(self, customer: str, delivery_id: str) -> Delivery | None:
        """Return one delivery."""
        return self._deliveries.get((customer, delivery_id))

    def add_delivery(self, delivery: Delivery) -> None:
        """Keep a delivery."""
        with self._lock:
            self._deliveries[delivery.customer, delivery.delivery_id] = delivery

    def replay(self, delivery: Delivery, *, now: datetime) -> bool:
        """Make a delivery due now, unless it waits or has moved."""
        with self._lock:
            stands = self.delivery(delivery.customer, delivery.delivery_id)
            if stands != delivery or delivery.outcome is Outcome.WAITING:
                return False
            self.add_delivery(delivery.replayed(now))
            return True

    def claim(
        self, endpoint: Endpoint, *, now: datetime, until: datetime, most: int
    ) -> list[Delivery]:
        """Take up to *most* of an endpoint's due deliveries."""
        with self._lock:
            due = [
                (one.due_at, one.delivery_id, one)
                for one in self._deliveries.values()
                if one.endpoint_id == endpoint.endpoint_id and one.due_at and one.due_at <= now
            ]
            taken = [replace(one, due_at=until) for _, _, one in sorted(due)[:most]]
            for one in taken:
                self.add_delivery(one)
            return taken

    def settle(self, before: Delivery, after: Delivery) -> bool:
        """Write what became of a delivery that was taken."""
        with self._lock:
            stands = self.delivery(before.customer, before.delivery_id)
            if stands is None or stands.due_at != before.due_at:
                return False
            self.add_delivery(after)
            return True


def _is_meant(one: Delivery, chosen: Chosen) -> bool:
    return (
        one.customer == chosen.customer
        and chosen.endpoint_id in {None, one.endpoint_id}
        and chosen.outcome in {None, one.outcome}
        and (chosen.since is None or one.created_at >= chosen.since)
        and (chosen.until is None or one.created_at <= chosen.until)
    )
