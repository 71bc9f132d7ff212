"""Webhooks as ports: what is kept of them, and who brings them away.

Belongs here: events that wait to be told, endpoints, deliveries; senders. Does not: the rules
(``core/endpoint.py``), who does what when (``stages/telling.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fireflyassets.core.endpoint import Attempt, Delivery, Endpoint, Outcome
from fireflyassets.core.event import Event


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which deliveries of a customer are meant."""

    customer: str
    endpoint_id: str | None = None
    outcome: Outcome | None = None
    since: datetime | None = None
    until: datetime | None = None


class WebhookStore(ABC):
    """Events, endpoints and deliveries. Every racing write is conditional."""

    @abstractmethod
    def pending(self, *, most: int) -> list[Event]:
        """Return up to *most* events that nobody was told of yet, the oldest first.

        An index proposes them: it may be behind, so `fan_out` decides.
        """

    @abstractmethod
    def add_event(self, event: Event) -> bool:
        """Write an event that follows from others, once; False if it is there, told or not."""

    @abstractmethod
    def fan_out(self, event: Event, deliveries: Sequence[Delivery]) -> bool:
        """Write an event's deliveries and note that it is told, all or nothing, once.

        False, and nothing is written, if somebody else has done it.
        """

    @abstractmethod
    def pass_over(self, events: Sequence[Event]) -> bool:
        """Note of up to a hundred events that nobody is to be told of them, all or nothing.

        False, and nothing is written, if somebody else has told or passed over one of them.
        """

    @abstractmethod
    def endpoints(self, customer: str) -> list[Endpoint]:
        """Return a customer's endpoints by id, read consistently."""

    @abstractmethod
    def endpoint(self, customer: str, endpoint_id: str) -> Endpoint | None:
        """Return one endpoint, read consistently."""

    @abstractmethod
    def every_endpoint(self) -> list[Endpoint]:
        """Return everybody's endpoints; an index has them, which may be behind."""

    @abstractmethod
    def add_endpoint(self, endpoint: Endpoint) -> None:
        """Keep a new endpoint."""

    @abstractmethod
    def change_endpoint(self, endpoint: Endpoint, event: Event | None = None) -> Endpoint | None:
        """Write an endpoint as changed, with the event that tells of it.

        None, and nothing is written, if it is another version by now; else as it stands.
        """

    @abstractmethod
    def remove_endpoint(self, customer: str, endpoint_id: str) -> None:
        """Forget an endpoint; what waits for it is not sent."""

    @abstractmethod
    def deliveries(
        self, chosen: Chosen, *, after: str | None = None, most: int = 100
    ) -> list[Delivery]:
        """Return up to *most* deliveries, the newest first, behind the one of the id *after*."""

    @abstractmethod
    def delivery(self, customer: str, delivery_id: str) -> Delivery | None:
        """Return one delivery, read consistently."""

    @abstractmethod
    def add_delivery(self, delivery: Delivery) -> None:
        """Keep a delivery that no event of the outbox asks for."""

    @abstractmethod
    def replay(self, delivery: Delivery, *, now: datetime) -> bool:
        """Make a delivery that is not waiting due now; False if it waits or has moved."""

    @abstractmethod
    def claim(
        self, endpoint: Endpoint, *, now: datetime, until: datetime, most: int
    ) -> list[Delivery]:
        """Take up to *most* of an endpoint's deliveries that are due, the longest due first.

        They are the caller's until *until*, which is their ``due_at``. An index proposes them.
        """

    @abstractmethod
    def settle(self, before: Delivery, after: Delivery) -> bool:
        """Write what became of a delivery that was taken; False if it is another's by now."""


class Courier(ABC):
    """Brings one delivery to one kind of endpoint."""

    @abstractmethod
    async def bring(self, delivery: Delivery, endpoint: Endpoint) -> Attempt:
        """Try once, within bounds of time and bytes; whatever happens is told, not raised."""


class Announcer(ABC):
    """Tells our own side: an event bus, and the people who look after a customer."""

    @abstractmethod
    def announce(self, event: Event, body: str) -> None:
        """Tell of an event; once more where it is told again.

        Raises:
            StoreUnavailable: It can't be told now: the event stays pending.
        """
