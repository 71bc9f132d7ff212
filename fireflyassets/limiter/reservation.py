"""Which write a reservation makes next, pure.

Here: the choice among hot, cold and idle takes, a new day, turns and a refusal. Not here: what a
write does (`protocol`), how the rate moves (`rates`).

While all blocks that are asked for fit into the line, first come is first served. Once one does not
fit whole, the item keeps *turns*: each asker tells its own, a virtual time that grows by a
round over its weight with each ticket (start-time fair queueing). One whose turn the item has not
reached may take only what would be lost else, and that brings the item there. So whoever has had
less for its weight finds a place before anybody else, and no list of those who wait is kept. When
the item is idle it stops keeping turns.
"""

from dataclasses import dataclass, replace

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import ParkReason
from fireflyassets.limiter.protocol import Line, NewDay, Rebase, Take
from fireflyassets.limiter.rates import plan_probe, plan_raise, plan_turns


@dataclass(frozen=True, slots=True)
class Ask:
    """Up to *count* tickets, due after *notice* µs, for one whose turn is *turn*."""

    count: int
    notice: int = 0
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing can be taken before *until*."""

    until: int
    reason: ParkReason


def plan(state: State, now: int, ask: Ask) -> Take | NewDay | Rebase | Refusal:
    """Choose the next write of a reservation.

    Tickets count for the day they are due on.
    """
    if (step := plan_raise(state, now) or _probing(state, now)) is not None:
        return step
    line, state = _line(state, now + ask.notice)
    due_at = state.due_at(max(state.first_live(now + ask.notice), state.next_number))
    if due_at - now > law.HORIZON_US:
        reason = state.far_reason(now)
        by_hand = reason is ParkReason.OVERRIDDEN
        return Refusal(min(due_at, state.over_until) if by_hand else due_at, reason)
    if line is Line.HOT and (step := _in_turn(state, now, ask, due_at)) is not None:
        return step
    # Never back: a rate that rose at midnight may move a ticket into the day before.
    day = max(state.day, due_at // law.DAY_US)
    if day > state.day:
        moved = state.due_from(day * law.DAY_US)
        return NewDay(day, state.epoch, state.next_number, moved)
    if state.day_room() < 1:
        return Refusal((day + 1) * law.DAY_US, ParkReason.DAY_QUOTA)
    return _take(state, now, ask, line)


def _probing(state: State, now: int) -> Rebase | Refusal | None:
    step = plan_probe(state, now)
    return Refusal(step, ParkReason.BREAKER_OPEN) if isinstance(step, int) else step


def _in_turn(state: State, now: int, ask: Ask, due_at: int) -> Rebase | Refusal | None:
    """Return what comes before a take at *due_at* at the end of a line; None if nothing does."""
    room, longest = state.line_room(now), law.open_ticket_limit(state.interval)
    if not state.turn and room < min(ask.count, longest):
        return plan_turns(state, now)
    if room < 1:
        # It asks again when half of the line has gone.
        half = state.next_number - (longest + 1) // 2
        return Refusal(state.due_at(half) + 1, ParkReason.NOT_YOUR_TURN)
    spare_at = due_at - law.SPARE_US - ask.notice
    if start_of(state, ask.turn) > state.turn and now < spare_at:
        return Refusal(spare_at, ParkReason.NOT_YOUR_TURN)
    return None


def start_of(state: State, turn: int) -> int:
    """Return the turn at which one begins whose own is *turn*; 0 while none are kept.

    A newcomer begins where the item is. Who lags behind may make up for one round.
    """
    if not state.turn or not turn:
        return state.turn
    return max(turn, state.turn - law.ROUND)


def resumed(state: State, kept: int, stride: int) -> int:
    """Return the turn of one who has none yet and whose flow's last grant ended at *kept*.

    Nobody is ahead of the rounds by more than one ticket: what is further is of other rounds.
    """
    return max(state.turn, min(kept, state.turn + stride))


def _take(state: State, now: int, ask: Ask, line: Line) -> Take:
    """Return the take; *last* carries the bounds in one: line, horizon, end of the day, turn."""
    floor = state.first_live(now + ask.notice)
    first = max(floor, state.next_number)
    day = max(state.day, state.due_at(first) // law.DAY_US)
    end = state.first_live(now) + law.open_ticket_limit(state.interval)
    end = min(end, state.last_due_by(now + law.HORIZON_US) + 1)
    if start_of(state, ask.turn) > state.turn:
        end = min(end, first + 1)  # Nobody else may have taken it, or it is none to be lost.
    room = state.day_room()
    count = 1 if state.turn or state.opened else max(1, min(ask.count, room, end - first))
    return Take(
        line=line,
        count=count,
        epoch=state.epoch,
        floor=floor,
        last=min(end - count, state.last_due_by((day + 1) * law.DAY_US - 1)),
        day=day,
        room=state.day_count + room - count,
        base_at=state.base_at,
        turn=max(state.turn, start_of(state, ask.turn)),
    )


def _line(state: State, soonest: int) -> tuple[Line, State]:
    """Say how to join, and the law under which: an idle item need not wait for its old grid.

    All earlier tickets are at least one interval old, so starting anew is no burst. It costs every
    other process one lost write, so it is done only where the grid would cost over a second.
    """
    floor = state.first_live(soonest)
    if state.next_number >= floor:
        return Line.HOT, state
    state = replace(state, turn=0)  # Idle: whoever asks finds a place.
    start = max(soonest, state.blocked)
    if state.due_at(floor) - start <= law.IDLE_GRID_US and not state.opened:
        return Line.COLD, state
    return Line.IDLE, replace(state, base_number=floor, base_at=start)
