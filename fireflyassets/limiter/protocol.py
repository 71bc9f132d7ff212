"""Which conditional write comes next, pure.

Here: the five writes of the protocol, the choice among them, what each does to a state, and the
fire rule. Not here: how a store spells a write (`dynamodb`, `redis`).

A caller decides from the state it knows, which may be old. The store applies a write only if its
condition holds on the stored state, and a lost write hands the stored state back, so that no read
is needed before the next try. In the steady state one write takes a block of tickets.
"""

from dataclasses import dataclass, replace
from enum import Enum

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State, ceil_div
from fireflyassets.limiter.port import Limits, PaceReason, ParkReason


@dataclass(frozen=True, slots=True)
class Init:
    """Create the item, if it does not exist."""

    state: State


class Line(Enum):
    """How a block joins the line of tickets."""

    HOT = "hot"
    COLD = "cold"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Take:
    """Take *count* tickets on *day*, if no more than *room* were taken on it.

    Hot: there is a line; append to it if *floor* <= next number <= *last*. Cold: the item was idle
    and its next number is behind *floor*; jump there, which forfeits the idle time. Idle: the same,
    but *floor* is due at *base_at* instead of at its place in the old grid; the epoch rises.
    """

    line: Line
    count: int
    epoch: int
    floor: int
    last: int
    day: int
    room: int
    base_at: int


@dataclass(frozen=True, slots=True)
class NewDay:
    """Count *day* from zero, if the stored day is earlier."""

    day: int


@dataclass(frozen=True, slots=True)
class Rebase:
    """Replace the law by *state*'s, if the epoch is still *epoch*; the write raises it."""

    epoch: int
    state: State


Write = Init | Take | NewDay | Rebase


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing can be taken before *until*."""

    until: int
    reason: ParkReason


def plan(state: State, now: int, count: int) -> Take | NewDay | Rebase | Refusal:
    """Choose the next write of a reservation of up to *count* tickets.

    Tickets count for the day they are due on. *last* carries two bounds in one number: the horizon
    and the end of that day.
    """
    if (faster := plan_raise(state, now)) is not None:
        return faster
    line, state = _line(state, now)
    floor = state.first_live(now)
    first = max(floor, state.next_number)
    due_at = state.due_at(first)
    if due_at - now > law.HORIZON_US:
        by_pause = state.blocked - now > law.HORIZON_US
        reason = ParkReason.PAUSED if by_pause else ParkReason.TOO_FAR_AHEAD
        return Refusal(due_at, reason)
    # Never back: a rate that rose at midnight may move a ticket into the day before.
    day = max(state.day, due_at // law.DAY_US)
    if day > state.day:
        return NewDay(day)
    room = state.day_room()
    if room < 1:
        return Refusal((day + 1) * law.DAY_US, ParkReason.DAY_QUOTA)
    count = min(count, room, max(1, state.last_due_by(now + law.BLOCK_HORIZON_US) - first + 1))
    return Take(
        line=line,
        count=count,
        epoch=state.epoch,
        floor=floor,
        last=_last_start(state, now, count=count, day=day),
        day=day,
        room=state.day_count + room - count,
        base_at=state.base_at,
    )


def _line(state: State, now: int) -> tuple[Line, State]:
    """Say how to join, and the law under which: an idle item need not wait for its old grid.

    All earlier tickets are at least one interval old, so starting anew is no burst. It costs every
    other process one lost write, so it is done only where the grid would cost over a second.
    """
    floor = state.first_live(now)
    if state.next_number >= floor:
        return Line.HOT, state
    start = max(now, state.blocked)
    if state.due_at(floor) - start <= law.IDLE_GRID_US:
        return Line.COLD, state
    return Line.IDLE, replace(state, base_number=floor, base_at=start)


def _last_start(state: State, now: int, *, count: int, day: int) -> int:
    end_of_line = law.HORIZON_US if count == 1 else law.BLOCK_HORIZON_US
    end_of_day = state.last_due_by((day + 1) * law.DAY_US - 1)
    return min(state.last_due_by(now + end_of_line) - count + 1, end_of_day)


def plan_raise(state: State, now: int) -> Rebase | None:
    """Raise a lowered rate by 1/30 of nominal for each ten quiet seconds, or do nothing."""
    quiet_since = max(state.blocked, state.lowered, state.raised)
    steps = (now - quiet_since) // law.RAISE_EVERY_US
    if state.interval <= state.nominal or steps < 1:
        return None
    shares = law.RAISE_DIVISOR * state.nominal + steps * state.interval
    faster = ceil_div(law.RAISE_DIVISOR * state.nominal * state.interval, shares)
    interval = max(state.nominal, faster)
    reason = PaceReason.CONTRACT if interval == state.nominal else PaceReason.RECOVERING
    return _rebase(
        state, now, replace(state, interval=interval, raised=now, reason=reason, since=now)
    )


def plan_pause(state: State, now: int, retry_after: int | None) -> Rebase | None:
    """Hold all tickets for *retry_after* and lower the rate, or do nothing if that was done.

    Inside a pause the rate is not lowered again: the refused call was sent before the pause.
    """
    resume = now + pause_length(retry_after)
    if state.blocked >= resume - law.COALESCE_US:
        return None
    paused = replace(state, blocked=max(state.blocked, resume))
    if now >= state.blocked and now - state.lowered >= law.LOWER_EVERY_US:
        interval = min(law.SLOWEST * state.nominal, ceil_div(state.interval * 20, 17))  # x 0.85
        paused = replace(
            paused, interval=interval, lowered=now, reason=PaceReason.REFUSED, since=now
        )
    return _rebase(state, now, paused)


def pause_length(retry_after: int | None) -> int:
    """Return how long to pause on the service's word: at least one second, at most 15 minutes."""
    asked = law.DEFAULT_PAUSE_US if retry_after is None else retry_after
    return min(law.MAX_PAUSE_US, max(law.MIN_PAUSE_US, asked))


def plan_limits(state: State, now: int, limits: Limits) -> Rebase | None:
    """Adopt *limits* unless they are older or the same; a lowered rate keeps its share."""
    nominal = law.paced_interval(limits)
    day_limit = limits.per_day or law.NO_DAY_LIMIT
    as_of = limits.as_of.toordinal()
    known = (state.nominal, state.day_limit, state.as_of)
    if as_of < state.as_of or known == (nominal, day_limit, as_of):
        return None
    interval = ceil_div(state.interval * nominal, state.nominal)
    adopted = replace(
        state, interval=interval, nominal=nominal, day_limit=day_limit, as_of=as_of, since=now
    )
    return _rebase(state, now, adopted)


def _rebase(state: State, now: int, changed: State) -> Rebase:
    """Move the base to the first ticket not yet due; it is never due sooner than before."""
    base = state.first_live(now)
    base_at = max(changed.blocked, state.due_at(base))
    return Rebase(state.epoch, replace(changed, base_number=base, base_at=base_at))


def apply(stored: State | None, write: Write) -> State | None:
    """Return the state after *write*, or None when its condition does not hold.

    This is the meaning of the writes; every store does the same in its own words.
    """
    match write:
        case Init():
            return write.state if stored is None else None
        case Take() if stored is not None:
            return _apply_take(stored, write)
        case NewDay() if stored is not None and stored.day < write.day:
            sequence = stored.sequence + 1
            return replace(stored, day=write.day, day_count=0, sequence=sequence)
        case Rebase() if stored is not None and stored.epoch == write.epoch:
            return replace(
                write.state,
                next_number=stored.next_number,
                epoch=stored.epoch + 1,
                sequence=stored.sequence + 1,
                day=stored.day,
                day_count=stored.day_count,
            )
        case _:
            return None


def _apply_take(stored: State, take: Take) -> State | None:
    fenced = stored.epoch == take.epoch and stored.day == take.day
    if not fenced or stored.day_count > take.room:
        return None
    sequence, day_count = stored.sequence + 1, stored.day_count + take.count
    taken = replace(stored, sequence=sequence, day_count=day_count)
    if take.line is Line.HOT:
        fits = take.floor <= stored.next_number <= take.last
        return replace(taken, next_number=stored.next_number + take.count) if fits else None
    if stored.next_number >= take.floor:
        return None
    jumped = replace(taken, next_number=take.floor + take.count)
    if take.line is Line.COLD:
        return jumped
    base = {"base_number": take.floor, "base_at": take.base_at}
    return replace(jumped, epoch=stored.epoch + 1, **base)


@dataclass(frozen=True, slots=True)
class Fires:
    """The ticket is due now; *due_at* is its due time by the law of today."""

    due_at: int


@dataclass(frozen=True, slots=True)
class Waits:
    """The ticket is due at *due_at*; look again at *look_at*."""

    due_at: int
    look_at: int


@dataclass(frozen=True, slots=True)
class Void:
    """The ticket was passed over by a rebase, or it is late."""


@dataclass(frozen=True, slots=True)
class TooOld:
    """The known state is too old to decide."""


def judge(state: State, *, known_at: int, number: int, now: int) -> Fires | Waits | Void | TooOld:
    """Apply the fire rule to ticket *number*, from a *state* learnt at *known_at*."""
    if number < state.base_number:
        return Void()
    due_at = state.due_at(number)
    ahead = due_at - now
    # Within the lead the answer must still be fresh when the ticket fires.
    decided_at = max(now, due_at) if ahead <= law.LEAD_US else now
    if decided_at - known_at > law.STALE_US or now < known_at:
        return TooOld()
    if ahead < -law.LATE_US:
        return Void()
    if ahead <= 0:
        return Fires(due_at)
    if ahead <= law.LEAD_US:
        return Waits(due_at, due_at)
    # A lowered rate may rise and move the ticket towards us, by less than half of what is left.
    lead = law.LEAD_US if state.interval <= state.nominal else max(law.LEAD_US, ahead // 2)
    return Waits(due_at, due_at - lead)
