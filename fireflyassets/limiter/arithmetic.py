"""The ticket law, pure: integers in, integers out; times in microseconds since 1970, UTC.

Here: the pace that limits allow, an item's state, and when its tickets are due. Not here: which
write a reservation needs (`protocol`), stores, clocks and waiting.

Ticket ``n`` of an item is due at ``base_at + (n - base_number) * interval``. A *rebase* rewrites
the base and the interval and raises the epoch, which moves every ticket from ``base_number`` on and
voids every earlier one. All other writes are conditional on the epoch, so that a caller with an old
picture of the law cannot act on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import PaceReason, ParkReason

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_DAY_LIMIT = 0
UNLIMITED = 10**12

HEADROOM_PERCENT = 80  # Absorbs lateness and clock spread: safe while both stay under 250 ms.
HORIZON_US = 300 * SECOND_US  # No ticket is taken further ahead.
LINE_US = 240 * SECOND_US  # All open tickets together are no more than this time has.
ROUND = SECOND_US  # One round of turns, in which a tenant of weight w has w calls.
NEAR_US = SECOND_US  # A ticket due so soon, or the next one, goes to whoever asks: else it is lost.
IDLE_GRID_US = SECOND_US  # An idle item whose next ticket is further ahead starts a new grid.
LATE_US = SECOND_US // 10  # A frozen process or a collection pause must not fire an old ticket.
STALE_US = SECOND_US  # Bounds how many calls leak after a pause: this times the rate.
LOOK_US = 60 * SECOND_US  # Who waits longer looks meanwhile: limits may have been raised.
LEAD_US = SECOND_US // 5  # The last look before the due time; covers one slow read.

MIN_PAUSE_US = SECOND_US
DEFAULT_PAUSE_US = 2 * SECOND_US
MAX_PAUSE_US = 900 * SECOND_US
PROBE_US = 60 * SECOND_US  # A probe that is not refused for so long closes the breaker.
COALESCE_US = SECOND_US // 2
LOWER_EVERY_US = 5 * SECOND_US
RAISE_EVERY_US = 10 * SECOND_US
RAISE_DIVISOR = 30  # One step up is 1/30 of nominal.
SLOWEST = 20  # The rate never falls below 1/20 of nominal.

MAX_OVERRIDE_US = 7 * DAY_US  # What was forgotten must not last.
SKIPPED = 10_000  # Numbers that a reset leaves out: more than can be taken while it is under way.
NUMBERING_US = SECOND_US // 1000  # First number of an item: its age since 1970 in these.


@dataclass(frozen=True, slots=True)
class State:
    """One item as stored; *sequence* counts its writes and orders two pictures of it.

    *interval* is the law in force: the slower of *earned*, what the service has let us have, and
    what an operator allows. *before_at* is when the ticket before the base was due: a rate that
    rises measures from it. *refused* and *day_count* count on *day*. Without an override its five
    fields are zero and empty. *as_of* and *source* are those of the limits that were told last.
    *turn* is how far the rounds of turns have come, 0 while everybody finds a place in the line,
    and *flows* says of each flow where its next ticket begins;
    *opened* when the breaker opened, 0 while it is closed. Open, the base ticket is the probe.
    """

    next_number: int
    base_number: int
    base_at: int
    before_at: int
    interval: int
    nominal: int
    earned: int
    epoch: int
    sequence: int
    blocked: int
    lowered: int
    raised: int
    turn: int
    opened: int
    day: int
    day_count: int
    day_limit: int
    refused: int
    as_of: int
    since: int
    over_interval: int
    over_until: int
    over_since: int
    over_by: str
    over_why: str
    source: str
    reason: PaceReason
    flows: Mapping[str, int]

    def due_at(self, number: int) -> int:
        """Return when ticket *number* is due."""
        return self.base_at + (number - self.base_number) * self.interval

    def first_live(self, now: int) -> int:
        """Return the first ticket that is not yet due at *now*."""
        return self.base_number + max(0, -((self.base_at - now) // self.interval))

    def last_due_by(self, at: int) -> int:
        """Return the last ticket due at or before *at*; below the base if there is none."""
        return self.base_number + (at - self.base_at) // self.interval

    def due_from(self, at: int) -> int:
        """Return how many open tickets are due at *at* or later."""
        return max(0, self.next_number - self.first_live(at))

    def line_room(self, now: int) -> int:
        """Return how many more tickets may be open at *now*; below zero after a rate has fallen."""
        return open_ticket_limit(self.interval) - self.due_from(now)

    def day_room(self) -> int:
        """Return how many tickets the counted day has left."""
        limit = UNLIMITED if self.day_limit == NO_DAY_LIMIT else self.day_limit
        return limit - self.day_count

    def is_overridden(self, now: int) -> bool:
        """Say whether an operator's rate holds at *now*."""
        return now < self.over_until

    def has_ended_override(self, now: int) -> bool:
        """Say whether an override is over and still stored."""
        return 0 < self.over_until <= now

    def allowed(self, now: int) -> int:
        """Return the shortest interval that an operator, else the contract, allows."""
        return self.over_interval if self.is_overridden(now) else self.nominal

    def far_reason(self, now: int) -> ParkReason:
        """Return why a ticket is too far ahead, if it is."""
        if self.blocked - now > HORIZON_US:
            return ParkReason.PAUSED
        by_hand = self.is_overridden(now) and self.interval == self.over_interval
        return ParkReason.OVERRIDDEN if by_hand else ParkReason.TOO_FAR_AHEAD

    def without_override(self) -> "State":
        """Return the state with no override; the interval stays as it is."""
        return replace(self, over_interval=0, over_until=0, over_since=0, over_by="", over_why="")


def micros(at: datetime) -> int:
    """Return an aware instant as microseconds."""
    return (at - EPOCH) // timedelta(microseconds=1)


def instant(at: int) -> datetime:
    """Return microseconds as an aware instant in UTC."""
    return EPOCH + timedelta(microseconds=at)


def paced_interval(limits: Limits) -> int:
    """Return the microseconds between two tickets: the slowest window decides, headroom taken."""
    return max(
        ceil_div(100 * (w.span // timedelta(microseconds=1)), HEADROOM_PERCENT * w.calls)
        for w in limits.paced_windows()
    )


def block_size(weight: int, open_waves: int, place: int = 0) -> int:
    """Return how many tickets one pacer holds at a time: its tenant's weight, shared by waves.

    What does not divide goes to the first: *place* is how many of the waves come before.
    """
    each, left = divmod(weight, max(1, open_waves))
    return max(1, each + (place < left))


def open_ticket_limit(interval: int) -> int:
    """Return how many tickets all open blocks of an item may hold together."""
    return max(1, LINE_US // interval)


def ceil_div(dividend: int, divisor: int) -> int:
    """Divide and round up."""
    return -(-dividend // divisor)


def initial(limits: Limits, now: int) -> State:
    """Return the state of a new item.

    Epoch and numbers start at the time, so that neither a write nor a ticket of an item that was
    lost fits the one that took its place: numbers grow by at most one in a millisecond.
    """
    interval = paced_interval(limits)
    first = now // NUMBERING_US
    return State(
        next_number=first,
        base_number=first,
        base_at=now,
        before_at=0,
        interval=interval,
        nominal=interval,
        earned=interval,
        epoch=now,
        sequence=0,
        blocked=0,
        lowered=0,
        raised=0,
        turn=0,
        opened=0,
        day=now // DAY_US,
        day_count=0,
        day_limit=limits.per_day or NO_DAY_LIMIT,
        refused=0,
        as_of=limits.as_of.toordinal(),
        since=now,
        over_interval=0,
        over_until=0,
        over_since=0,
        over_by="",
        over_why="",
        source=limits.source,
        reason=PaceReason.CONTRACT,
        flows={},
    )
