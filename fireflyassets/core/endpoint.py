"""Endpoints and deliveries: where customers want events, and how each is brought there.

Belongs here: both as values, and every rule of what a try does to them: waits, budgets, when an
endpoint is paused, left to polling, or disabled. Does not: sending, writing, chance and time, which
are handed in.

    active ──5 in a row fail──> active, paused; one try at a time, at growing intervals
      ^                           │
      │<──────a try succeeds──────┤ over an hour without a success
      │                           v
      └<──a probe succeeds──── polling       410 from any state ──> disabled
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from fireflyassets.core.event import Event, EventType, instant

MOST_ENDPOINTS: Final = 50
"""Of one customer: one transaction writes an event's deliveries to all of them."""
WAITS: Final = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 28800)
)
"""Behind each failed try of a delivery: a day in all. Then it has failed, and can be replayed."""
BROKEN_AFTER: Final = 5
"""Failures in a row, whatever they were of, after which an endpoint is paused."""
FIRST_PAUSE: Final = timedelta(seconds=10)
LONGEST_PAUSE: Final = timedelta(minutes=5)
DOWN_AFTER: Final = timedelta(hours=1)
"""Without a success since a failure: then its customer polls until a probe gets through."""
LONGEST_ASKED: Final = timedelta(hours=4)
"""Most that a Retry-After holds an endpoint back."""
OVERLAP: Final = timedelta(hours=24)
"""How long a rotated secret still signs."""
KEPT: Final = timedelta(days=30)
"""How long a delivery can be looked at and replayed."""
ATTEMPTS_KEPT: Final = 20
HEAD: Final = 200
"""Letters of an answer's body that are kept."""
_GONE: Final = 410
_ASKS: Final = frozenset({429, 503})
_HOW: Final = {
    "gone": "Enable the endpoint with PATCH /v1/endpoints/{id}; then replay with "
    "POST /v1/endpoints/{id}/replay what was missed. Until then ask GET /v1/jobs/{job_id}.",
    "down": "Answer 2xx to the try that comes each five minutes, and it is back by itself, with "
    "what waits. Until then ask GET /v1/campaigns/{campaign}/jobs.",
}


class Kind(StrEnum):
    """How an endpoint is reached."""

    WEBHOOK = "webhook"
    SNS = "sns"


class State(StrEnum):
    """Whether an endpoint gets events."""

    ACTIVE = "active"
    POLLING = "polling"
    """It has been down for long: it is probed, and its customer polls."""
    DISABLED = "disabled"
    """It said 410, or its customer switched it off: only they switch it on."""


class Outcome(StrEnum):
    """How a delivery stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    """No try is left; it can be replayed."""


@dataclass(frozen=True, slots=True)
class Health:
    """How an endpoint does. It is written when it turns, and not with every success."""

    state: State = State.ACTIVE
    failures: int = 0
    """In a row."""
    failing_since: datetime | None = None
    retry_at: datetime | None = None
    """Until then it is paused; the next try is one alone."""
    last_error: str = ""

    def is_paused(self, now: datetime) -> bool:
        """Say whether nothing may be sent now."""
        return self.state is State.DISABLED or (self.retry_at is not None and now < self.retry_at)

    @property
    def is_probed(self) -> bool:
        """Say whether it gets one try at a time."""
        return self.failures >= BROKEN_AFTER or self.state is State.POLLING


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a customer wants to be told."""

    customer: str
    endpoint_id: str
    kind: Kind
    url: str
    """Or the ARN of a topic."""
    types: frozenset[EventType]
    """What it is told of; empty: everything."""
    created_at: datetime
    secret: int = 1
    """Number of the secret that signs: it rises with each rotation."""
    older_until: datetime | None = None
    """Until when the secret before it signs too."""
    health: Health = field(default_factory=Health)
    version: int = 1

    def wants(self, kind: EventType) -> bool:
        """Say whether it is told of such events now."""
        return self.health.state is not State.DISABLED and (not self.types or kind in self.types)

    def secrets(self, now: datetime) -> tuple[int, ...]:
        """Return the numbers of the secrets that sign now, the newest first."""
        both = self.older_until is not None and now < self.older_until
        return (self.secret, self.secret - 1) if both else (self.secret,)

    def rotated(self, now: datetime) -> "Endpoint":
        """Return it with a new secret; the one before signs for a day more."""
        return replace(self, secret=self.secret + 1, older_until=now + OVERLAP)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try."""

    at: datetime
    status: int | None
    """Of the answer; None where none came."""
    took: timedelta
    said: str
    """The head of the answer's body, or why there was none."""
    retry_after: timedelta | None = None

    @property
    def ended_at(self) -> datetime:
        """Return when the answer was there, or was given up."""
        return self.at + self.took

    @property
    def asked_wait(self) -> timedelta:
        """Return how long we are asked to wait, as far as that is heeded."""
        return min(self.retry_after or timedelta(0), LONGEST_ASKED)

    @property
    def succeeded(self) -> bool:
        """Say whether the customer has it."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 - HTTP's range.

    @property
    def fault(self) -> str:
        """Return what went wrong, for people."""
        return self.said if self.status is None else f"HTTP {self.status}"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event for one endpoint."""

    customer: str
    delivery_id: str
    """It begins with the event's time, so that a customer's deliveries sort by it."""
    endpoint_id: str
    webhook_id: str
    type: EventType
    body: str
    created_at: datetime
    """When the event happened."""
    outcome: Outcome = Outcome.WAITING
    due_at: datetime | None = None
    """When it is tried, or when whoever tries it now has lost the right to."""
    tries: int = 0
    """Since it was made or replayed last."""
    attempts: tuple[Attempt, ...] = ()
    job_id: str = ""
    asked_at: datetime | None = None
    """When the job was accepted that it tells the end of."""

    @property
    def expires_at(self) -> datetime:
        """Return when it is forgotten."""
        return self.created_at + KEPT

    def replayed(self, now: datetime) -> "Delivery":
        """Return it as due now, with all its tries before it."""
        return replace(self, outcome=Outcome.WAITING, due_at=now, tries=0)


def delivery_of(
    event: Event, endpoint: Endpoint, body: str, *, due_at: datetime, asked_at: datetime | None
) -> Delivery:
    """Return the delivery of *event* to *endpoint*, which has the same id whoever makes it."""
    at = event.at.strftime("%Y%m%dT%H%M%S") + f"{event.at.microsecond // 1000:03d}"
    name = f"{at}-{event.webhook_id[4:20]}-{endpoint.endpoint_id}"
    return Delivery(
        customer=event.customer,
        delivery_id=name,
        endpoint_id=endpoint.endpoint_id,
        webhook_id=event.webhook_id,
        type=event.type,
        body=body,
        created_at=event.at,
        due_at=due_at,
        job_id=event.job_id,
        asked_at=asked_at,
    )


def tried(delivery: Delivery, attempt: Attempt, health: Health, *, jitter: float) -> Delivery:
    """Return a delivery after a try; *health* is its endpoint's after it, *jitter* in [0, 1).

    While the endpoint is probed a failure is not the delivery's own, and costs it no try.
    """
    kept = (*delivery.attempts, attempt)[-ATTEMPTS_KEPT:]
    if attempt.succeeded:
        return replace(delivery, attempts=kept, outcome=Outcome.DELIVERED, due_at=None)
    tries = delivery.tries + (not health.is_probed)
    if tries > len(WAITS) or health.state is State.DISABLED:
        return replace(delivery, attempts=kept, tries=tries, outcome=Outcome.FAILED, due_at=None)
    wait = WAITS[max(0, tries - 1)] * (0.5 + jitter)
    due = attempt.ended_at + max(wait, attempt.asked_wait)
    if health.is_probed and health.retry_at is not None:
        due = health.retry_at
    return replace(delivery, attempts=kept, tries=tries, due_at=due)


def after(health: Health, attempt: Attempt, *, jitter: float) -> Health:
    """Return an endpoint's health after a try; the same where nothing turned."""
    if attempt.succeeded:
        return health if health == Health() else Health()
    now = attempt.ended_at
    if attempt.status == _GONE:
        return replace(health, state=State.DISABLED, last_error=attempt.fault, retry_at=None)
    failures, since = health.failures + 1, health.failing_since or now
    pause = timedelta(0)
    if failures >= BROKEN_AFTER:
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - BROKEN_AFTER, 10))
        pause *= 0.75 + jitter / 2
    if attempt.status in _ASKS:
        pause = max(pause, attempt.asked_wait)
    down = health.state is State.POLLING or now - since >= DOWN_AFTER
    return Health(
        state=State.POLLING if down else State.ACTIVE,
        failures=failures,
        failing_since=since,
        retry_at=now + pause if pause else None,
        last_error=attempt.fault,
    )


def disabled(endpoint: Endpoint, before: Health, now: datetime) -> Event | None:
    """Return the event of an endpoint that has just been left to polling or disabled."""
    state = endpoint.health.state
    if state is before.state or state is State.ACTIVE:
        return None
    reason = "gone" if state is State.DISABLED else "down"
    since = endpoint.health.failing_since or now
    return Event(
        event_id=f"endpoint#{endpoint.endpoint_id}#{reason}#{instant(since)}",
        type=EventType.ENDPOINT_DISABLED,
        customer=endpoint.customer,
        at=now,
        facts={
            "endpointId": endpoint.endpoint_id,
            "reason": reason,
            "since": instant(since),
            "lastError": endpoint.health.last_error[:HEAD],
            "howToReturn": _HOW[reason].replace("{id}", endpoint.endpoint_id),
        },
    )
