"""The writes of the protocol and what each does to a state, pure.

Here: the conditional writes and their meaning. Not here: which one comes next (`reservation`,
`rates`), when a ticket fires (`firing`), and how a store spells a write (`dynamodb`, `redis`).

A caller decides from the state it knows, which may be old. The store applies a write only if its
condition holds on the stored state, and a lost write hands the stored state back, so that no read
is needed before the next try. In the steady state one write takes a block of tickets.
"""

from dataclasses import dataclass, replace
from enum import Enum

from fireflyassets.limiter.arithmetic import State


@dataclass(frozen=True, slots=True)
class Init:
    """Create the item, if it does not exist."""

    state: State


class Line(Enum):
    """How a block joins the line of tickets."""

    HOT = "hot"
    TURN = "turn"
    COLD = "cold"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Take:
    """Take *count* tickets on *day*, if no more than *room* were taken on it.

    Hot: there is a line; append to it if *floor* <= next number <= *last*, and if the rounds have
    not come further than *turn*. Turn: the same where turns are kept, if *flow* is still where it
    *was* (0 if it never took part); the rounds have come to *turn* then, and the flow to *goes_on*.
    Cold: the item was idle and its next number is behind *floor*; jump there, which forfeits the
    idle time and ends all turns. Idle: the same, but *floor* is due at *base_at* instead of at its
    place in the old grid; the epoch rises.
    """

    line: Line
    count: int
    epoch: int
    floor: int
    last: int
    day: int
    room: int
    base_at: int
    turn: int
    flow: str
    was: int
    goes_on: int


@dataclass(frozen=True, slots=True)
class NewDay:
    """Count *day* from *moved*, if the stored day is earlier and the line is still as it was.

    *moved* are the open tickets that a pause has brought into that day.
    """

    day: int
    epoch: int
    next_number: int
    moved: int


@dataclass(frozen=True, slots=True)
class Rebase:
    """Replace the law by *state*'s, if the epoch is still *epoch*; the write raises it.

    It fails, too, if the rounds have come further than *state* knows.

    It counts *refused* more refusals, and *moved* tickets that it brings into the counted day.
    """

    epoch: int
    state: State
    refused: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """Count one more refusal and change nothing else, if the epoch is still *epoch*."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Put *state* in the place of everything, if the epoch is still *epoch*."""

    epoch: int
    state: State


Write = Init | Take | NewDay | Rebase | Tally | Reset


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
            same = (stored.epoch, stored.next_number) == (write.epoch, write.next_number)
            counts = {"day_count": write.moved, "refused": 0, "sequence": stored.sequence + 1}
            return replace(stored, day=write.day, **counts) if same else None
        case Rebase() | Reset() | Tally() if stored is not None and stored.epoch == write.epoch:
            return _apply_law(stored, write)
        case _:
            return None


def _apply_law(stored: State, write: Rebase | Reset | Tally) -> State | None:
    match write:
        case Rebase() if stored.turn > write.state.turn:
            return None
        case Rebase():
            return replace(
                write.state,
                next_number=stored.next_number,
                epoch=stored.epoch + 1,
                sequence=stored.sequence + 1,
                day=stored.day,
                day_count=stored.day_count + write.moved,
                refused=stored.refused + write.refused,
                flows=stored.flows,
            )
        case Reset():
            return write.state
        case Tally():
            return replace(stored, refused=stored.refused + 1, sequence=stored.sequence + 1)


def _apply_take(stored: State, take: Take) -> State | None:
    fenced = stored.epoch == take.epoch and stored.day == take.day
    if not fenced or stored.day_count > take.room:
        return None
    sequence, day_count = stored.sequence + 1, stored.day_count + take.count
    taken = replace(stored, sequence=sequence, day_count=day_count, turn=take.turn)
    if take.line in (Line.HOT, Line.TURN):
        fits = take.floor <= stored.next_number <= take.last and stored.turn <= take.turn
        taken = replace(taken, next_number=stored.next_number + take.count)
        if take.line is Line.TURN:
            fits = fits and stored.flows.get(take.flow, 0) == take.was
            taken = replace(taken, flows={**stored.flows, take.flow: take.goes_on})
        return taken if fits else None
    if stored.next_number >= take.floor:
        return None
    jumped = replace(taken, next_number=take.floor + take.count, flows={})
    if take.line is Line.COLD:
        return jumped
    base = {"base_number": take.floor, "base_at": take.base_at}
    return replace(jumped, epoch=stored.epoch + 1, **base)
