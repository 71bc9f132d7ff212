"""From events to deliveries: the outbox is read, and each event written down for who wants it.

In: pending events. Out: deliveries, durable; the bus and our own people told. Spends: nothing.
Sending is not here (``stages/telling.py``).
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.endpoint import Delivery, Endpoint, delivery_of
from fireflyassets.core.event import Event
from fireflyassets.core.job import JobRow
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.webhooks import Announcer, WebhookStore
from fireflyassets.stages import notify
from fireflyassets.stages.completions import Completions

_log: Final = logging.getLogger(__name__)

MOST: Final = 100
"""Events of one turn."""
LEASE: Final = timedelta(seconds=30)
"""How long a delivery is a process's own: several tries' time."""
FRESH: Final = timedelta(seconds=5)
"""How old the list of a customer's endpoints may be."""
PASSED_AT: Final = 25
"""Events that nobody hears of are passed over together, so many or more at once."""
PASSED_AFTER: Final = timedelta(seconds=30)
"""How long the first of fewer waits for others."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An event with what is to be written of it."""

    event: Event
    body: str
    deliveries: tuple[Delivery, ...]


class Relay:
    """Writes the deliveries of events. Processes share the work: each event is told by one."""

    def __init__(
        self,
        store: WebhookStore,
        ledger: JobLedger,
        clock: Clock,
        *,
        api_url: str,
        announcer: Announcer | None = None,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._api_url = api_url
        self._announcer = announcer
        self._completions = Completions(ledger)
        self._bad: set[str] = set()
        self._known: dict[str, tuple[datetime, list[Endpoint]]] = {}

    def read(self, room: Counter[str]) -> list[Prepared]:
        """Return what is pending; *room* says how many more each endpoint is to get at once.

        Such a delivery is this process's own for `LEASE`; any other is due for anybody.

        Raises:
            StoreUnavailable: Not now.
        """
        pending = self._store.pending(most=MOST)
        events = [one for one in pending if self._is_heard(one)]
        self._pass_over([one for one in pending if not self._is_heard(one)])
        rows = self._rows(events)
        for one in {(one.customer, one.campaign): one for one in events if one.status}.values():
            # Before an end is told: while it is pending, a death loses nothing that follows.
            if done := self._completions.after(one, rows):
                self._store.add_event(done)
        told = (self._prepared(event, rows.get(event.job_id), room) for event in events)
        return [one for one in told if one]

    def tell(self, prepared: Prepared) -> bool:
        """Tell our own side, and write the deliveries; False if another process did.

        Raises:
            StoreUnavailable: The event stays pending; our own side may be told again.
        """
        if self._announcer:
            self._announcer.announce(prepared.event, prepared.body)
        return self._store.fan_out(prepared.event, prepared.deliveries)

    def _is_heard(self, event: Event) -> bool:
        return self._announcer is not None or bool(self._endpoints(event.customer))

    def _pass_over(self, unheard: Sequence[Event]) -> None:
        """Save the reads and writes that telling each by itself would take."""
        now = self._clock.now()
        if len(unheard) >= PASSED_AT or (unheard and now - unheard[0].at >= PASSED_AFTER):
            self._store.pass_over(unheard)

    def _rows(self, events: Sequence[Event]) -> dict[str, JobRow]:
        wanted: defaultdict[str, set[str]] = defaultdict(set)
        for one in events:
            if one.job_id:
                wanted[one.customer].add(one.job_id)
            if also := self._completions.asked_for(one):
                wanted[one.customer].add(also)
        return {
            job_id: row
            for customer, ids in wanted.items()
            for job_id, row in self._ledger.jobs(customer, sorted(ids)).items()
        }

    def _prepared(self, event: Event, row: JobRow | None, room: Counter[str]) -> Prepared | None:
        try:
            body = notify.event_body(event, row, api_url=self._api_url)
        except Exception:  # noqa: BLE001 - the boundary of one event: it waits, the others go on.
            if event.event_id not in self._bad:
                _log.exception("Event %s can't be told.", event.event_id)
                self._bad.add(event.event_id)
            return None
        return Prepared(event, body, tuple(self._made(event, body, row, room)))

    def _made(
        self, event: Event, body: str, row: JobRow | None, room: Counter[str]
    ) -> Iterator[Delivery]:
        asked_at = row.created_at if row else None
        for endpoint in self._endpoints(event.customer):
            if endpoint.wants(event.type):
                now = self._clock.now()
                at_once = room[endpoint.endpoint_id] > 0
                room[endpoint.endpoint_id] -= at_once
                due_at = now + LEASE if at_once else now
                yield delivery_of(event, endpoint, body, due_at=due_at, asked_at=asked_at)

    def _endpoints(self, customer: str) -> list[Endpoint]:
        now = self._clock.now()
        kept = self._known.get(customer)
        if kept is None or now - kept[0] > FRESH:
            kept = self._known[customer] = (now, self._store.endpoints(customer))
        return kept[1]
