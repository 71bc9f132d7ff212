"""Budgets: caps in operations for a customer's month, and what jobs hold of them.

Belongs here: the shape of a budget file, which caps a job draws on, the arithmetic of holding and
spending. Does not: writes (``ports/budgets.py``), prices (``core/money.py``).

What a month has *taken* is what is spent and what is reserved. A job's row holds its estimate from
intake to its end. From then on it has spent what was certainly billed, and holds only what may have
been billed besides. A month is a calendar month in UTC: the one in which the job was accepted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core import ids
from fireflyassets.core.money import Cost

CUSTOMER: Final = "customer"
"""The scope of all that a customer's jobs cost."""
ZERO: Final = Decimal(0)
ALERTS: Final = (50, 80, 100)
"""Percent of a cap at which people are told, where nobody says others."""

Slug = Annotated[str, StringConstraints(pattern=f"^{ids.SLUG.pattern}$")]
Tag = Annotated[str, StringConstraints(pattern=f"^{ids.SLUG.pattern}={ids.SLUG.pattern}$")]
"""``key=value``, as ``cost_tags`` of a campaign's file say it."""
Percent = Annotated[int, Field(strict=True, ge=1, le=100)]


def month_of(at: datetime) -> str:
    """Return an instant's month in UTC, as ``2026-11``."""
    return f"{at.astimezone(UTC):%Y-%m}"


def first_of(month: str) -> datetime:
    """Return the beginning of a month.

    Raises:
        ValueError: It is none.
    """
    return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)


def end_of(month: str) -> datetime:
    """Return the beginning of the next month."""
    return (first_of(month) + timedelta(days=31)).replace(day=1)


def campaign_scope(campaign: str) -> str:
    """Return the scope of one campaign's jobs."""
    return f"campaign:{campaign}"


def tag_scope(tag: str) -> str:
    """Return the scope of the jobs of all campaigns with that tag."""
    return f"tag:{tag}"


@dataclass(frozen=True, slots=True)
class Cap:
    """How much a scope may take in a month, and at which shares of it people are told."""

    scope: str
    operations: Decimal
    alerts: tuple[int, ...]
    """Percent of *operations*, rising."""
    source: str

    def step_at(self, taken: Decimal) -> int:
        """Return the highest alert that *taken* has reached; 0: none."""
        return max((one for one in self.alerts if self.reached_at(one) <= taken), default=0)

    def reached_at(self, percent: int) -> Decimal:
        """Return what must be taken for an alert."""
        return self.operations * percent / 100


class CapEntry(BaseModel):
    """What one budget is from a day on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    valid_from: date
    source: str = Field(min_length=1, max_length=200)
    operations: Decimal = Field(ge=0, le=10**12, allow_inf_nan=False)
    alerts: tuple[Percent, ...] = Field(default=ALERTS, max_length=10)

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if list(self.alerts) != sorted(set(self.alerts)):
            raise ValueError("alerts: give each percentage once, the lowest first")
        return self


Entries = Annotated[tuple[CapEntry, ...], Field(min_length=1, max_length=100)]


class BudgetFile(BaseModel):
    """One customer's budgets: a history for each; the newest entry that is valid counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    customer: Entries | None = None
    campaigns: dict[Slug, Entries] = Field(default_factory=dict)
    tags: dict[Tag, Entries] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_a_day(self) -> Self:
        for scope, entries in self._scopes():
            days = [entry.valid_from for entry in entries]
            if len(set(days)) < len(days):
                raise ValueError(f"{scope}: two entries begin on one day; keep one of them")
        return self

    def _scopes(self) -> Iterable[tuple[str, tuple[CapEntry, ...]]]:
        if self.customer is not None:
            yield CUSTOMER, self.customer
        yield from ((campaign_scope(name), entries) for name, entries in self.campaigns.items())
        yield from ((tag_scope(tag), entries) for tag, entries in self.tags.items())

    def caps(self, day: date) -> tuple[Cap, ...]:
        """Return every cap that is in force on *day*."""
        found: list[Cap] = []
        for scope, entries in self._scopes():
            valid = [entry for entry in entries if entry.valid_from <= day]
            if valid:
                entry = max(valid, key=lambda one: one.valid_from)
                found.append(Cap(scope, entry.operations, entry.alerts, entry.source))
        return tuple(found)


def drawn_on(caps: Iterable[Cap], campaign: str, tags: Mapping[str, str]) -> tuple[Cap, ...]:
    """Return the caps that the jobs of a campaign with these tags draw on."""
    scopes = {CUSTOMER, campaign_scope(campaign)}
    scopes |= {tag_scope(f"{key}={value}") for key, value in tags.items()}
    return tuple(cap for cap in caps if cap.scope in scopes)


@dataclass(frozen=True, slots=True)
class Booking:
    """What one job holds of its month's budgets."""

    month: str
    scopes: tuple[str, ...]
    held: Decimal
    """Reserved: the estimate until the job ends, after that what may have been billed."""
    spent: Decimal = ZERO
    """What was certainly billed, as it is told to the budgets."""

    @property
    def taken(self) -> Decimal:
        """Return what the job takes of each budget."""
        return self.held + self.spent

    def settled(self, cost: Cost) -> "Booking":
        """Return the booking of a job that has ended at a cost: the rest is given back."""
        return replace(self, held=cost.possible, spent=cost.certain)

    def renewed(self, estimate: Decimal) -> "Booking":
        """Return the booking of an ended job that is to be run again, for what is still to come."""
        return replace(self, held=self.held + self.still_to_come(estimate))

    def still_to_come(self, estimate: Decimal) -> Decimal:
        """Return what an ended job that is run again takes on top."""
        return max(ZERO, estimate - self.spent)


@dataclass(frozen=True, slots=True)
class Raise:
    """A cap that is higher for a time, with who said so and why."""

    operations: Decimal
    """On top of the cap."""
    until: datetime
    by: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Counter:
    """What a scope has taken in a month."""

    customer: str
    month: str
    scope: str
    taken: Decimal = ZERO
    spent: Decimal = ZERO
    cap: Decimal | None = None
    """The cap that the last reservation was held against, without any raise."""
    alerted: int = 0
    """The highest alert of the month that was told."""
    raised: Raise | None = None
    campaigns: frozenset[str] = frozenset()
    """Those whose jobs have drawn on it."""
    moved_at: datetime | None = None
    """When something was last reserved."""

    @property
    def reserved(self) -> Decimal:
        """Return what is held and not spent."""
        return self.taken - self.spent

    def lasting(self, now: datetime) -> Raise | None:
        """Return the raise that lasts, if one does."""
        return self.raised if self.raised and now < self.raised.until else None

    def bound(self, cap: Decimal, now: datetime) -> Decimal:
        """Return the most that may be taken now."""
        raised = self.lasting(now)
        return cap + raised.operations if raised else cap


@dataclass(frozen=True, slots=True)
class Block:
    """A reservation for the rows of one request, until each row holds its own part."""

    block_id: str
    customer: str
    campaign: str
    month: str
    scopes: tuple[str, ...]
    left: Decimal
    """What no row holds yet."""
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Alert:
    """A step of a budget's ladder that a reservation has reached; told once a month."""

    customer: str
    month: str
    scope: str
    percent: int
    taken: Decimal
    cap: Decimal
    at: datetime


def steps_between(cap: Cap, alerted: int, taken: Decimal) -> Sequence[int]:
    """Return the alerts that *taken* has reached and that were not told."""
    return [one for one in cap.alerts if alerted < one <= cap.step_at(taken)]


@dataclass(frozen=True, slots=True)
class Standing:
    """A counter beside the cap that is set for it; None: none is set any more."""

    counter: Counter
    cap: Cap | None

    def raised(self, now: datetime) -> Raise | None:
        """Return the raise that lasts, if one does."""
        return self.counter.lasting(now)

    def used(self, now: datetime) -> Decimal | None:
        """Return how much of what may be taken is, in percent; of nothing at all it is all."""
        if self.cap is None:
            return None
        bound = self.counter.bound(self.cap.operations, now)
        return 100 * self.counter.taken / bound if bound else Decimal(100)

    def left(self, now: datetime) -> Decimal | None:
        """Return what may still be reserved; None: as much as one likes."""
        if self.cap is None:
            return None
        return max(ZERO, self.counter.bound(self.cap.operations, now) - self.counter.taken)


def side_by_side(
    caps: Iterable[Cap], counters: Iterable[Counter], customer: str, month: str
) -> Iterator[Standing]:
    """Yield each cap with its counter, then counters that no cap is set for."""
    known = {one.scope: one for one in counters}
    for cap in caps:
        yield Standing(known.pop(cap.scope, Counter(customer, month, cap.scope)), cap)
    yield from (Standing(one, None) for one in known.values())
