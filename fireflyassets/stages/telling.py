"""Telling: each endpoint has a lane of its own, and what hangs or fails holds up no other.

In: pending events and due deliveries. Out: tries, written down; endpoints that turned. Spends:
nothing. What a try does to either is in ``core/endpoint.py``; how it is made, in the couriers.

A delivery is durable before it is tried, and a process has it for `LEASE`: one that dies loses
nothing, and what it had sent is sent again under the same id.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import metric
from fireflyassets.core.endpoint import (
    Attempt,
    Delivery,
    Endpoint,
    Health,
    Kind,
    Outcome,
    State,
    after,
    disabled,
    tried,
)
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.tally import Tally
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.webhooks import Courier, WebhookStore
from fireflyassets.stages.relay import FRESH, LEASE, MOST, Prepared, Relay

_log: Final = logging.getLogger(__name__)

WIDEST: Final = 8
"""Tries of one endpoint side by side, once it has shown that it answers."""
FIRST_WIDTH: Final = 2
WAITING: Final = 100
"""Deliveries of one endpoint that a process holds; more stay in the table."""
NEEDED: Final = timedelta(seconds=12)
"""Of a lease, so that a try ends within it."""
LOOK_EVERY: Final = timedelta(seconds=30)
"""How often an endpoint's line in the table is looked at without a reason."""
LOOK_FOR: Final = 25
"""Deliveries that one look takes at most: each is a write."""
IDLE: Final = timedelta(milliseconds=200)
AWAY: Final = timedelta(seconds=1)


@dataclass(slots=True)
class _Lane:
    endpoint: Endpoint
    look_at: datetime
    waiting: deque[Delivery] = field(default_factory=deque[Delivery])
    busy: int = 0
    width: int = FIRST_WIDTH
    is_looking: bool = False

    def room(self, now: datetime) -> int:
        """Return how many more deliveries it takes now."""
        health = self.endpoint.health
        if health.is_paused(now):
            return 0
        most = 1 if health.is_probed else WAITING
        return max(0, most - self.busy - len(self.waiting))

    def may_try(self, now: datetime) -> bool:
        """Say whether one more try may begin."""
        health = self.endpoint.health
        width = 1 if health.is_probed else self.width
        return bool(self.waiting) and self.busy < width and not health.is_paused(now)


class Telling:
    """Tells customers. One in a process; processes share the work by leases."""

    def __init__(
        self,
        store: WebhookStore,
        relay: Relay,
        couriers: Mapping[Kind, Courier],
        clock: Clock,
        offload: Offload,
        *,
        tally: Tally,
        chance: Callable[[], float],
    ) -> None:
        self._store = store
        self._relay = relay
        self._couriers = couriers
        self._clock = clock
        self._offload = offload
        self._tally = tally
        self._chance = chance
        self._lanes: dict[str, _Lane] = {}
        self._refreshed_at: datetime | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, over: asyncio.Event) -> None:
        """Tell until *over* is set; then what is under way is brought to its end."""
        while not over.is_set():
            try:
                full = await self.turn()
            except StoreUnavailable as error:
                _log.warning("Webhooks wait: %s", error)
                await self._clock.sleep(AWAY)
            else:
                await self._clock.sleep(timedelta(0) if full else IDLE)
        await self.landed()

    async def landed(self) -> None:
        """Wait until nothing is under way."""
        for lane in self._lanes.values():
            lane.waiting.clear()
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def turn(self) -> bool:
        """Look once at the outbox and at the lines that may hold something; start what may go.

        True where more is pending than one look takes.

        Raises:
            StoreUnavailable: A later turn does the rest.
        """
        now = self._clock.now()
        if self._refreshed_at is None or now - self._refreshed_at > FRESH:
            self._refresh(await self._offload(self._store.every_endpoint), now)
        room = Counter({name: lane.room(now) for name, lane in self._lanes.items()})
        prepared = await self._offload(self._relay.read, room)
        told = await asyncio.gather(*map(self._tell, prepared), return_exceptions=True)
        for one in told:
            if isinstance(one, BaseException):
                raise one
        for lane in self._lanes.values():
            self._begin(lane)  # A pause may be over, and with it the lease of what was held.
            if lane.room(now) and lane.look_at <= now and not lane.is_looking:
                lane.is_looking = True
                self._start(self._look(lane))
        return len(prepared) == MOST

    async def _tell(self, prepared: Prepared) -> None:
        """Have an event's deliveries written, and begin with those that are ours."""
        if not await self._offload(self._relay.tell, prepared):
            return
        now = self._clock.now()
        for one in prepared.deliveries:
            lane = self._lanes.get(one.endpoint_id)
            if lane is None or one.due_at is None:
                continue
            if one.due_at > now:
                lane.waiting.append(one)
                self._begin(lane)
            else:
                self._look_by(lane, now)

    def _refresh(self, endpoints: list[Endpoint], now: datetime) -> None:
        known = {one.endpoint_id: one for one in endpoints}
        for name in self._lanes.keys() - known.keys():
            del self._lanes[name]
        for name, one in known.items():
            lane = self._lanes.setdefault(name, _Lane(one, now))
            if one.version > lane.endpoint.version:
                lane.endpoint = one
                self._look_by(lane, now)
        self._refreshed_at = now

    def _look_by(self, lane: _Lane, at: datetime) -> None:
        lane.look_at = min(lane.look_at, at)

    async def _look(self, lane: _Lane) -> None:
        """Take some of what is due of one endpoint."""
        now = self._clock.now()
        most = min(lane.room(now), LOOK_FOR)
        lane.look_at = now + LOOK_EVERY
        try:
            took = await self._offload(
                self._store.claim, lane.endpoint, now=now, until=now + LEASE, most=most
            )
            lane.waiting.extend(took)
            if len(took) == most:
                lane.look_at = now
        except StoreUnavailable as error:
            _log.warning("The line of %s was not read: %s", lane.endpoint.endpoint_id, error)
        finally:
            lane.is_looking = False
        self._begin(lane)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin(self, lane: _Lane) -> None:
        """Start as many tries as the lane's width allows."""
        now = self._clock.now()
        while lane.may_try(now):
            one = lane.waiting.popleft()
            if one.due_at is None or one.due_at - now < NEEDED:
                # It would not end within the lease: the table has it again when that is over.
                self._look_by(lane, one.due_at or now)
                continue
            lane.busy += 1
            self._start(self._try(lane, one))

    async def _try(self, lane: _Lane, delivery: Delivery) -> None:
        try:
            courier = self._couriers[lane.endpoint.kind]
            attempt = await courier.bring(delivery, lane.endpoint)
            before = lane.endpoint.health
            health = after(before, attempt, jitter=self._chance())
            lane.endpoint = replace(lane.endpoint, health=health)
            lane.width = min(WIDEST, lane.width + 1) if attempt.succeeded else 1
            done = tried(delivery, attempt, health, jitter=self._chance())
            await self._offload(self._store.settle, delivery, done)
            self._count(done, attempt)
            if done.due_at:
                self._look_by(lane, done.due_at)
            await self._keep(lane, before)
        except StoreUnavailable as error:
            _log.warning("A try of %s was not written: %s", delivery.delivery_id, error)
            self._look_by(lane, delivery.due_at or self._clock.now())
        except Exception:  # noqa: BLE001 - the boundary of one delivery: the others go on.
            _log.exception("Delivery %s failed on our side.", delivery.delivery_id)
        finally:
            lane.busy -= 1
            self._begin(lane)

    async def _keep(self, lane: _Lane, before: Health) -> None:
        """Write how an endpoint does, where that changes what others do; tell where it turned."""
        health = lane.endpoint.health
        if health == before or not (_matters(health) or _matters(before)):
            return
        for _ in range(2):
            event = disabled(lane.endpoint, before, self._clock.now())
            kept = await self._offload(self._store.change_endpoint, lane.endpoint, event)
            if kept:
                lane.endpoint = replace(kept, health=lane.endpoint.health)
                return
            # Its customer, or another process, was quicker: what it does now is said of that.
            name = (lane.endpoint.customer, lane.endpoint.endpoint_id)
            stands = await self._offload(self._store.endpoint, *name)
            if stands is None:
                return
            before = stands.health
            lane.endpoint = replace(stands, health=health)

    def _count(self, done: Delivery, attempt: Attempt) -> None:
        self._tally.add(metric.WEBHOOK_TRIES, outcome=done.outcome.value)
        if done.outcome is Outcome.DELIVERED and done.asked_at and done.tries == 0:
            took = (attempt.ended_at - done.asked_at).total_seconds()
            self._tally.observe(metric.WEBHOOK_END_TO_END, took, customer=done.customer)


def _matters(health: Health) -> bool:
    return health.state is not State.ACTIVE or health.is_probed or health.retry_at is not None
