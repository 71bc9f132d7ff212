"""What a shared limiter promises, in its own words: tickets and answers.

Here: the port `Limiter` and the values that cross it. Not here: limits (`limits`), the arithmetic
of tickets (`arithmetic`), any store (`memory`, `dynamodb`, `redis`), and waiting (`pacer`).

An *item* is one paced thing, written ``organisation#family``. A *ticket* is the right to make one
call of that item at its due time. Nobody spins: a ticket says when, and a pause or a change of rate
moves every ticket that is still outstanding.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from fireflyassets.limiter.limits import Limits

NO_NOTICE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to make one call of *item*, at *due_at* or at most 100 ms later."""

    item: str
    number: int
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Granted:
    """*count* tickets from number *first* on: at least one, at most as many as were asked."""

    item: str
    first: int
    count: int
    due_at: tuple[datetime, ...]

    @property
    def tickets(self) -> tuple[Ticket, ...]:
        """The tickets one by one, in order of their due times."""
        return tuple(Ticket(self.item, self.first + n, at) for n, at in enumerate(self.due_at))


@dataclass(frozen=True, slots=True)
class Flow:
    """Whose tickets they are, and how many of them each round has, at least one.

    All who ask under one *name* are one flow, however many they are and wherever they run:
    *open_waves*, as far as is known. More than the weight cannot share it ticket by ticket.
    """

    name: str
    weight: int = 1
    open_waves: int = 1


NOBODY = Flow("-")  # Whoever gives no name; all of them are one flow.


class ParkReason(StrEnum):
    """Why no ticket was taken; the value is the sentence people read."""

    TOO_FAR_AHEAD = "the next free call is more than five minutes ahead"
    NOT_YOUR_TURN = "others have had fewer calls for their weight and go first"
    DAY_QUOTA = "the day's quota is used up"
    PAUSED = "the service asked for a pause"
    BREAKER_OPEN = "the breaker is open, and one call tries the service first"
    OVERRIDDEN = "an operator has set a low rate for a time"


@dataclass(frozen=True, slots=True)
class Parked:
    """No ticket was taken and nothing was spent; ask again at *until*."""

    until: datetime
    reason: ParkReason


@dataclass(frozen=True, slots=True)
class Due:
    """Call now."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not yet; the ticket may move, so check it again at *check_at*.

    *reason* is the one to give, should it be too far ahead to wait for.
    """

    ticket: Ticket
    check_at: datetime
    reason: ParkReason = ParkReason.TOO_FAR_AHEAD


@dataclass(frozen=True, slots=True)
class Voided:
    """The ticket must not be used any more; take a new one."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Stale:
    """What is known about the item is too old to decide; refresh, then check again."""


@dataclass(frozen=True, slots=True)
class Paused:
    """The item fires nothing before *until*.

    *lowered*: this refusal also lowered the rate. *opened*: the breaker is open, since the service
    asked for more than the longest pause we take on its word.
    """

    until: datetime
    lowered: bool
    opened: bool


class PaceReason(StrEnum):
    """Why the item runs at its rate; the value is the sentence people read."""

    CONTRACT = "the contract's limits, less the headroom"
    REFUSED = "lowered after the service refused calls"
    RECOVERING = "rising again after refusals"
    OVERRIDDEN = "set by an operator"


@dataclass(frozen=True, slots=True)
class Override:
    """A rate that an operator set, in calls per minute: who, why, since when and until when.

    It caps the rate; refusals by the service may lower it further. It ends by itself.
    """

    rate_per_minute: float
    since: datetime
    until: datetime
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Overridden:
    """What an operator set, and the override that was in force until then, if there was one."""

    made: Override
    replaced: Override | None


@dataclass(frozen=True, slots=True)
class ItemState:
    """What people are shown about one item; rates in calls per minute, counts of today in UTC.

    *source* and *as_of* are those of the limits that it is paced by.
    """

    item: str
    rate_per_minute: float
    nominal_per_minute: float
    reason: PaceReason
    since: datetime
    source: str
    as_of: date
    override: Override | None
    used_today: int
    refused_today: int
    day_limit: int | None
    next_ticket: int
    next_due_at: datetime
    outstanding: int
    blocked_until: datetime | None
    opened_at: datetime | None

    @property
    def is_day_used_up(self) -> bool:
        """Say whether nothing is left of today's quota."""
        return self.day_limit is not None and self.used_today >= self.day_limit


class Limiter(ABC):
    """Hands out tickets of paced items to any number of processes.

    `now` and `check` never leave the process. All other methods may call a store and block, and
    raise `LimiterUnavailable` where it does not answer: then nothing may be sent.
    """

    @abstractmethod
    def now(self) -> datetime:
        """Return the time by the clock of all due times; waiting goes by it."""

    @abstractmethod
    def register(self, item: str, limits: Limits) -> None:
        """Make *item* known under *limits*.

        What was told last holds for every process, whatever the dates, and leaves a line in the
        log where it differs from what is stored. A process that tells the same again changes
        nothing: so two with different files do not undo each other's over and over.
        """

    @abstractmethod
    def reserve(
        self, item: str, count: int, *, notice: timedelta = NO_NOTICE, flow: Flow = NOBODY
    ) -> Granted | Parked:
        """Take up to *count* consecutive tickets, each due within five minutes.

        None is due sooner than *notice*: for who has something to do before the call. Once a
        block has not fitted whole, tickets go one by one to the *flow* that has had least for its
        weight; ``NOT_YOUR_TURN`` says when to ask again.

        Raises:
            UnknownItem: The item was never registered.
            ReservationContended: The store refused every try.
        """

    @abstractmethod
    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*, from what this process knows."""

    @abstractmethod
    def refresh(self, item: str) -> None:
        """Learn the item's state from the store; end an override whose time is over."""

    @abstractmethod
    def pause(self, item: str, retry_after: timedelta | None) -> Paused:
        """Hold every outstanding and future ticket of *item*, for all processes.

        Call it for each 429, which it counts. Refusals that ask for the same pause coalesce, and
        the rate is lowered at most once in five seconds. Without *retry_after* the pause is two
        seconds. More than 15 minutes are not believed: the item pauses for 15, and the breaker
        opens. All tickets are void then; after the pause one call is let through, and no other
        until it was answered without a refusal, or until a minute has passed without a word.
        """

    @abstractmethod
    def answered(self, ticket: Ticket) -> None:
        """Report that the call of *ticket* was made and not refused.

        Asks the store only while the breaker is open; it closes if the ticket was its probe.
        """

    @abstractmethod
    def override(
        self,
        item: str,
        rate_per_minute: float,
        *,
        duration: timedelta,
        by: str,
        why: str,
        replace: bool = False,
    ) -> Overridden:
        """Set the item's rate by hand for *duration*, for all processes.

        It replaces an earlier one of the same *by*, and with *replace* anybody's; the answer has
        the one in force that it replaced, as it was when the write held. Whoever sets it, and for
        how long, goes to the log. A rate that refusals had lowered is lifted to it; refusals after
        it lower the rate further, and it never lifts a pause.

        Raises:
            OverrideStands: One that somebody else set is in force; nothing was changed.
            OverrideRefused: The rate is not above zero or above the contract's, the duration is
                not above zero or over a week, or *by* or *why* says nothing or too much.
        """

    @abstractmethod
    def clear_override(self, item: str, *, by: str) -> Override | None:
        """End an override before its time and return it; None if there was none.

        Raises:
            OverrideRefused: *by* says nothing or too much.
        """

    @abstractmethod
    def reset(self, item: str, *, by: str, why: str) -> None:
        """Let *item* begin anew by today's clock, under the limits it has.

        For an item that a clock which ran ahead has pushed into the future. Tickets that are out
        are void; pause, breaker, override and lowered rate are gone; the day's count stays, unless
        that clock had begun another day. The next call is an interval away.

        Raises:
            OverrideRefused: *by* or *why* says nothing or too much.
        """

    @abstractmethod
    def state(self, item: str) -> ItemState:
        """Return what people are shown about *item*, read from the store."""


def item_key(organisation: str, family: str) -> str:
    """Return the item of an API *family* of an *organisation*; limits are the organisation's."""
    return f"{organisation}#{family}"
