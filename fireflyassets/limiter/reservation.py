"""Which write a reservation makes next, pure.

Here: the choice among hot, cold and idle takes, a new day and a refusal. Not here: what a write
does (`protocol`), how the rate moves (`rates`).
"""

from dataclasses import dataclass, replace

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import ParkReason
from fireflyassets.limiter.protocol import Line, NewDay, Rebase, Take
from fireflyassets.limiter.rates import plan_raise


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing can be taken before *until*."""

    until: int
    reason: ParkReason


def plan(state: State, now: int, count: int, notice: int = 0) -> Take | NewDay | Rebase | Refusal:
    """Choose the next write of a reservation of up to *count* tickets, due after *notice*.

    Tickets count for the day they are due on. *last* carries two bounds in one number: the horizon
    and the end of that day.
    """
    if (faster := plan_raise(state, now)) is not None:
        return faster
    line, state = _line(state, now + notice)
    floor = state.first_live(now + notice)
    first = max(floor, state.next_number)
    due_at = state.due_at(first)
    if due_at - now > law.HORIZON_US:
        reason = state.far_reason(now)
        by_hand = reason is ParkReason.OVERRIDDEN
        return Refusal(min(due_at, state.over_until) if by_hand else due_at, reason)
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


def _line(state: State, soonest: int) -> tuple[Line, State]:
    """Say how to join, and the law under which: an idle item need not wait for its old grid.

    All earlier tickets are at least one interval old, so starting anew is no burst. It costs every
    other process one lost write, so it is done only where the grid would cost over a second.
    """
    floor = state.first_live(soonest)
    if state.next_number >= floor:
        return Line.HOT, state
    start = max(soonest, state.blocked)
    if state.due_at(floor) - start <= law.IDLE_GRID_US:
        return Line.COLD, state
    return Line.IDLE, replace(state, base_number=floor, base_at=start)


def _last_start(state: State, now: int, *, count: int, day: int) -> int:
    end_of_line = law.HORIZON_US if count == 1 else law.BLOCK_HORIZON_US
    end_of_day = state.last_due_by((day + 1) * law.DAY_US - 1)
    return min(state.last_due_by(now + end_of_line) - count + 1, end_of_day)
