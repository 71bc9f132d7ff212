"""Events, endpoints and deliveries in DynamoDB.

Belongs here: the conditional writes. Does not: attribute names (``webhook_codec.py``), rules.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import event_codec
from fireflyassets.adapters.aws import webhook_codec as codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.database import Applied, Committed, Database, filtered, query
from fireflyassets.adapters.aws.expressions import Change, Condition, new, put, update
from fireflyassets.adapters.aws.tables import DUE, LIVE, PENDING, Tables
from fireflyassets.core.endpoint import Delivery, Endpoint, Outcome
from fireflyassets.core.event import Event
from fireflyassets.ports.webhooks import Chosen, WebhookStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef, UpdateTypeDef

_EVER: Final = datetime(2020, 1, 1, tzinfo=UTC)


class DynamoWebhooks(WebhookStore):
    """Tables shared by every process that reaches them. Safe to share by threads."""

    def __init__(self, client: "DynamoDBClient", *, prefix: str) -> None:
        self._database = Database(client, Backoff())
        self._tables = Tables(prefix)

    def pending(self, *, most: int) -> list[Event]:
        """Return up to *most* events that nobody was told of yet, the oldest first."""
        condition = Condition("#pendingKey = :key", {":key": to.text(event_codec.PENDING)})
        request = query(self._tables.outbox, condition, index=PENDING.name)
        request["Limit"] = most
        found = map(event_codec.told_of, islice(self._database.pages(request), most))
        return [one for one in found if one]

    def add_event(self, event: Event) -> bool:
        """Write an event that follows from others, once."""
        write = put(self._tables.outbox, event_codec.own_item(event), new("eventId"))
        return isinstance(self._database.put(write), Applied)

    def fan_out(self, event: Event, deliveries: Sequence[Delivery]) -> bool:
        """Write an event's deliveries and note that it is told, once."""
        table, told = self._tables.deliveries, self._told(event)
        if not deliveries:
            return isinstance(self._database.update(told), Applied)
        writes: list[TransactWriteItemTypeDef] = [
            {"Put": put(table, codec.delivery_item(one))} for one in deliveries
        ]
        return isinstance(self._database.transact([{"Update": told}, *writes]), Committed)

    def pass_over(self, events: Sequence[Event]) -> bool:
        """Note that nobody is to be told, all or nothing, once."""
        told: list[TransactWriteItemTypeDef] = [{"Update": self._told(one)} for one in events]
        return isinstance(self._database.transact(told), Committed)

    def _told(self, event: Event) -> "UpdateTypeDef":
        key = {"eventId": to.text(event.event_id)}
        pending = {":pending": to.text(event_codec.PENDING)}
        told = Change({"pendingKey": None})
        return update(self._tables.outbox, key, told, Condition("#pendingKey = :pending", pending))

    def endpoints(self, customer: str) -> list[Endpoint]:
        """Return a customer's endpoints by id, read consistently."""
        condition = Condition("#customer = :customer", {":customer": to.text(customer)})
        found = self._database.pages(query(self._tables.endpoints, condition))
        return [codec.endpoint_of(item) for item in found]

    def endpoint(self, customer: str, endpoint_id: str) -> Endpoint | None:
        """Return one endpoint, read consistently."""
        key = codec.endpoint_key(customer, endpoint_id)
        item = self._database.get(self._tables.endpoints, key)
        return codec.endpoint_of(item) if item else None

    def every_endpoint(self) -> list[Endpoint]:
        """Return everybody's endpoints, by an index."""
        condition = Condition("#live = :live", {":live": to.text(codec.LIVE)})
        request = query(self._tables.endpoints, condition, index=LIVE.name)
        return [codec.endpoint_of(item) for item in self._database.pages(request)]

    def add_endpoint(self, endpoint: Endpoint) -> None:
        """Keep a new endpoint."""
        self._database.put(put(self._tables.endpoints, codec.endpoint_item(endpoint)))

    def change_endpoint(self, endpoint: Endpoint, event: Event | None = None) -> Endpoint | None:
        """Write an endpoint as changed; None if it is another version by now."""
        changed = replace(endpoint, version=endpoint.version + 1)
        stands = Condition("#version = :version", {":version": to.number(endpoint.version)})
        write = put(self._tables.endpoints, codec.endpoint_item(changed), stands)
        writes: list[TransactWriteItemTypeDef] = [{"Put": write}]
        if event:
            writes.append({"Put": put(self._tables.outbox, event_codec.own_item(event))})
        return changed if isinstance(self._database.transact(writes), Committed) else None

    def remove_endpoint(self, customer: str, endpoint_id: str) -> None:
        """Forget an endpoint."""
        key = codec.endpoint_key(customer, endpoint_id)
        self._database.delete(self._tables.endpoints, key)

    def deliveries(
        self, chosen: Chosen, *, after: str | None = None, most: int = 100
    ) -> list[Delivery]:
        """Return up to *most* deliveries, the newest first, behind the one of the id *after*."""
        request = query(self._tables.deliveries, _between(chosen, after))
        if wanted := _wanted(chosen):
            request = filtered(request, wanted)
        request["ScanIndexForward"] = False
        found = map(codec.delivery_of, self._database.pages(request))
        return list(islice((one for one in found if one.delivery_id != after), most))

    def delivery(self, customer: str, delivery_id: str) -> Delivery | None:
        """Return one delivery, read consistently."""
        key = codec.delivery_key(customer, delivery_id)
        item = self._database.get(self._tables.deliveries, key)
        return codec.delivery_of(item) if item else None

    def add_delivery(self, delivery: Delivery) -> None:
        """Keep a delivery that no event of the outbox asks for."""
        self._database.put(put(self._tables.deliveries, codec.delivery_item(delivery)))

    def replay(self, delivery: Delivery, *, now: datetime) -> bool:
        """Make a delivery that is not waiting due now; False if it waits or has moved."""
        if delivery.outcome is Outcome.WAITING:
            return False
        stands = Condition(
            "#outcome = :outcome AND attribute_not_exists(#dueAt)",
            {":outcome": to.text(delivery.outcome)},
        )
        return self._write(delivery.replayed(now), stands)

    def claim(
        self, endpoint: Endpoint, *, now: datetime, until: datetime, most: int
    ) -> list[Delivery]:
        """Take up to *most* of an endpoint's due deliveries, the longest due first."""
        condition = Condition(
            "#endpointId = :endpoint AND #dueAt <= :now",
            {":endpoint": to.text(endpoint.endpoint_id), ":now": to.instant(now)},
        )
        request = query(self._tables.deliveries, condition, index=DUE.name)
        request["Limit"] = most
        taken: list[Delivery] = []
        for item in islice(self._database.pages(request), most):
            stands = Condition("#dueAt = :seen", {":seen": item["dueAt"]})
            read = Reader(item)
            key = codec.delivery_key(read.text("customer"), read.text("deliveryId"))
            change = Change({"dueAt": to.instant(until)})
            told = self._database.update(update(self._tables.deliveries, key, change, stands))
            taken += [codec.delivery_of(told.item)] if isinstance(told, Applied) else []
        return taken

    def settle(self, before: Delivery, after: Delivery) -> bool:
        """Write what became of a delivery that was taken; False if it is another's by now."""
        if before.due_at is None:
            return False
        seen = {":seen": to.instant(before.due_at)}
        return self._write(after, Condition("#dueAt = :seen", seen))

    def _write(self, delivery: Delivery, stands: Condition) -> bool:
        key = codec.delivery_key(delivery.customer, delivery.delivery_id)
        request = update(self._tables.deliveries, key, Change(codec.progress(delivery)), stands)
        return isinstance(self._database.update(request), Applied)


def _between(chosen: Chosen, after: str | None) -> Condition:
    low = to.text((chosen.since or _EVER).astimezone(UTC).strftime("%Y%m%dT%H%M%S"))
    until = chosen.until.astimezone(UTC).strftime("%Y%m%dT%H%M%S") if chosen.until else ""
    high = to.text(after or f"{until}~")
    return Condition(
        "#customer = :customer AND #deliveryId BETWEEN :low AND :high",
        {":customer": to.text(chosen.customer), ":low": low, ":high": high},
    )


def _wanted(chosen: Chosen) -> Condition | None:
    parts: dict[str, str | None] = {"endpointId": chosen.endpoint_id, "outcome": chosen.outcome}
    texts = [f"#{name} = :{name}" for name, value in parts.items() if value]
    values: Item = {f":{name}": to.text(value) for name, value in parts.items() if value}
    return Condition(" AND ".join(texts), values) if texts else None
