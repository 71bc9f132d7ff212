"""Which write a reservation makes next, pure.

Here: the choice among hot, cold and idle takes, a new day, turns and a refusal. Not here: what a
write does (`protocol`), how the rate moves (`rates`).

While all blocks that are asked for fit into the line and every flow's waves can share its weight,
first come is first served. Once one does not fit whole, or a flow has more waves than weight, the
item keeps *turns* (start-time fair queueing): of each flow the virtual time at which
its next ticket begins, which grows by a round over its weight with each ticket, and how far the
rounds have come, which is where the ticket that was furthest began. So no flow is ahead of the
rounds by more than one ticket. One which the rounds have reached finds a place at once. One which
they have not waits until the next ticket is nearly due: then the first of them all has it, and a
little later anybody, so that none is lost for those who have left; that brings the rounds there.
Nearly is less than two intervals: nobody takes two such tickets while another uses its one.
When the item is idle it forgets all turns.
"""

from dataclasses import dataclass, replace

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import NOBODY, Flow, ParkReason
from fireflyassets.limiter.protocol import Line, NewDay, Rebase, Take
from fireflyassets.limiter.rates import plan_probe, plan_raise, plan_turns


@dataclass(frozen=True, slots=True)
class Ask:
    """Up to *count* tickets, due after *notice* µs, for *flow*."""

    count: int
    notice: int = 0
    flow: Flow = NOBODY


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
    uneven = ask.flow.open_waves > ask.flow.weight
    if not state.turn and (uneven or room < min(ask.count, longest)):
        return plan_turns(state, now)
    if room < 1:
        # It asks again when half of the line has gone.
        half = state.next_number - (longest + 1) // 2
        return Refusal(state.due_at(half) + 1, ParkReason.NOT_YOUR_TURN)
    soonest = _soonest(state, ask, due_at)
    return Refusal(soonest, ParkReason.NOT_YOUR_TURN) if now < soonest else None


def _soonest(state: State, ask: Ask, due_at: int) -> int:
    """Return when the flow may take a ticket that is due at *due_at*; 0 if that is at once."""
    start, reached = start_of(state, ask.flow), _round_end(state.turn)
    if start < reached:
        return 0
    ahead = [at for at in state.flows.values() if reached <= at < start]
    near = min(law.NEAR_US, state.interval)
    return due_at - ask.notice - (near if ahead else near * 3 // 2)


def _round_end(turn: int) -> int:
    """Return where the round of *turn* ends: the whole of it is reached, for few come to look."""
    return (turn // law.ROUND + 1) * law.ROUND


def start_of(state: State, flow: Flow) -> int:
    """Return where the flow's next ticket begins; 0 while no turns are kept.

    A newcomer begins where the rounds are. Who lags behind may make up for one round. What is
    further ahead than two rounds can be is of other rounds, left by a process of before.
    """
    at = state.flows.get(flow.name, 0)
    if not state.turn or not 0 < at <= state.turn + 2 * law.ROUND:
        return state.turn
    return max(1, at, state.turn - law.ROUND)


def _share(state: State, now: int, ask: Ask) -> int:
    """Return how many of the tickets asked for the flow may have in the round that is reached.

    One, unless half of the line stays free: others are let in while a whole block waits.
    """
    start = start_of(state, ask.flow)
    rest = _round_end(max(state.turn, start)) - start
    tickets = (rest * ask.flow.weight + law.ROUND // 2) // law.ROUND
    left = state.line_room(now) - ask.count
    is_free = 2 * left >= law.open_ticket_limit(state.interval)
    return min(tickets, ask.count if is_free else 1)


def _take(state: State, now: int, ask: Ask, line: Line) -> Take:
    """Return the take; *last* carries the bounds in one: line, horizon, end of the day, turn."""
    floor = state.first_live(now + ask.notice)
    first = max(floor, state.next_number)
    day = max(state.day, state.due_at(first) // law.DAY_US)
    end = state.first_live(now) + law.open_ticket_limit(state.interval)
    end = min(end, state.last_due_by(now + law.HORIZON_US) + 1)
    start = start_of(state, ask.flow)
    room, wanted = state.day_room(), _share(state, now, ask) if start else ask.count
    count = 1 if state.opened else max(1, min(wanted, room, end - first))
    last = min(end - count, state.last_due_by((day + 1) * law.DAY_US - 1))
    if start >= _round_end(state.turn):
        last = min(last, first)  # Nobody else may have taken it, or it is none to be lost.
    return Take(
        line=Line.TURN if start else line,
        count=count,
        epoch=state.epoch,
        floor=floor,
        last=last,
        day=day,
        room=state.day_count + room - count,
        base_at=state.base_at,
        turn=max(state.turn, start),
        flow=ask.flow.name,
        was=state.flows.get(ask.flow.name, 0),
        goes_on=start + count * law.ROUND // ask.flow.weight,
    )


def _line(state: State, soonest: int) -> tuple[Line, State]:
    """Say how to join, and the law under which: an idle item need not wait for its old grid.

    All earlier tickets are at least one interval old, so starting anew is no burst. It costs every
    other process one lost write, so it is done only where the grid would cost over a second.
    """
    floor = state.first_live(soonest)
    if state.next_number >= floor:
        return Line.HOT, state
    state = replace(state, turn=0, flows={})  # Idle: whoever asks finds a place.
    start = max(soonest, state.blocked)
    if state.due_at(floor) - start <= law.IDLE_GRID_US and not state.opened:
        return Line.COLD, state
    return Line.IDLE, replace(state, base_number=floor, base_at=start)
