"""The protocol over any store that has conditional writes.

Here: trying one planned write after the other until one holds, and what this process knows of each
item. Not here: the choice of writes (`protocol`) and the store (`memory`, `dynamodb`).
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State, instant, micros
from fireflyassets.limiter.port import (
    Due,
    Granted,
    ItemState,
    Limiter,
    Limits,
    Parked,
    Paused,
    ReservationContended,
    Stale,
    Ticket,
    UnknownItem,
    Voided,
    Waiting,
)

# Two lost writes are normal after idle time, five can follow from a raise, a new day and a race.
TRIES = 12


@dataclass(frozen=True, slots=True)
class Known:
    """A state and the time before it was asked for."""

    state: State
    at: int


@dataclass(frozen=True, slots=True)
class Applied:
    """The write held; *state* is the state after it."""

    state: State


@dataclass(frozen=True, slots=True)
class Lost:
    """The write did not hold; *state* is what is stored, None if there is nothing."""

    state: State | None


class KnownStates:
    """The newest state of each item that this process has seen; safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, Known] = {}

    def get(self, item: str) -> Known | None:
        """Return what is known of *item*."""
        with self._lock:
            return self._known.get(item)

    def learn(self, item: str, state: State, *, at: int, before: Known | None) -> None:
        """Remember *state*, unless an answer that overtook it was newer.

        *at* is when it was asked for, *before* what was known then. A store that answers with an
        older state than was known before the question has been emptied: then its word counts.
        """
        emptied = before is not None and state.sequence < before.state.sequence
        with self._lock:
            known = self._known.get(item)
            if known is None or emptied or known.state.sequence <= state.sequence:
                if known is not None and known.at - at <= law.STALE_US:
                    at = max(at, known.at)  # Else the clock was set back: then the old time lies.
                self._known[item] = Known(state, at)

    def forget(self, item: str) -> None:
        """Drop *item*, because it is no longer stored."""
        with self._lock:
            self._known.pop(item, None)

    def check(self, ticket: Ticket, now: int) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*."""
        known = self.get(ticket.item)
        if known is None:
            return Stale()
        match protocol.judge(known.state, known_at=known.at, number=ticket.number, now=now):
            case protocol.Fires(due_at):
                return Due(Ticket(ticket.item, ticket.number, instant(due_at)))
            case protocol.Waits(due_at, look_at):
                moved = Ticket(ticket.item, ticket.number, instant(due_at))
                return Waiting(moved, instant(look_at))
            case protocol.Void():
                return Voided(ticket)
            case protocol.TooOld():
                return Stale()


class ConditionalLimiter(Limiter):
    """A limiter whose store applies one write at a time, each under its own condition.

    *now* is the clock of all due times, aware and in UTC. The clocks of all processes must agree
    within 50 ms: a store that tells the time (an HTTP ``Date``) is where to learn the offset.
    """

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self._now = now
        self._known = KnownStates()
        self._limits: dict[str, Limits] = {}

    @abstractmethod
    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        """Apply *write* if its condition holds."""

    @abstractmethod
    def _read(self, item: str) -> State | None:
        """Read the stored state, seeing every write that was answered before."""

    def register(self, item: str, limits: Limits) -> None:
        """Make *item* known under *limits*; see `Limiter.register`."""
        self._limits[item] = limits
        self._try(item, protocol.Init(law.initial(limits, self._time())))
        for _ in range(TRIES):
            change = protocol.plan_limits(self._state(item).state, self._time(), limits)
            if change is None or isinstance(self._try(item, change), Applied):
                return
        raise ReservationContended(item, tries=TRIES)

    def reserve(self, item: str, count: int) -> Granted | Parked:
        """Take up to *count* tickets; see `Limiter.reserve`."""
        if count < 1:
            raise ValueError(f"A reservation takes at least one ticket, not {count}.")
        fresh = False
        for _ in range(TRIES):
            step = protocol.plan(self._state(item).state, self._time(), count)
            if isinstance(step, protocol.Refusal):
                if fresh:
                    return Parked(instant(step.until), step.reason)
                fresh = self._confirm(item)
                continue
            answer = self._try(item, step)
            if isinstance(step, protocol.Take) and isinstance(answer, Applied):
                return _granted(item, answer.state, step.count)
        raise ReservationContended(item, tries=TRIES)

    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*; see `Limiter.check`."""
        return self._known.check(ticket, self._time())

    def refresh(self, item: str) -> None:
        """Learn the item's state from the store."""
        at, before = self._time(), self._known.get(item)
        state = self._read(item)
        if state is None:
            self._known.forget(item)
            self._state(item)
        else:
            self._known.learn(item, state, at=at, before=before)

    def pause(self, item: str, retry_after: timedelta | None) -> Paused:
        """Hold every ticket of *item*; see `Limiter.pause`."""
        asked = None if retry_after is None else retry_after // timedelta(microseconds=1)
        capped = asked is not None and asked > law.MAX_PAUSE_US
        for _ in range(TRIES):
            state = self._state(item).state
            change = protocol.plan_pause(state, self._time(), asked)
            if change is None:
                return Paused(instant(state.blocked), lowered=False, capped=capped)
            answer = self._try(item, change)
            if isinstance(answer, Applied):
                lowered = answer.state.lowered != state.lowered
                return Paused(instant(answer.state.blocked), lowered=lowered, capped=capped)
        raise ReservationContended(item, tries=TRIES)

    def state(self, item: str) -> ItemState:
        """Return what people are shown about *item*, read from the store."""
        self.refresh(item)
        return shown(item, self._state(item).state, self._time())

    def _time(self) -> int:
        return micros(self._now())

    def _state(self, item: str) -> Known:
        """Return what is known, else what is stored, else make the item from its limits."""
        if (known := self._known.get(item)) is not None:
            return known
        at = self._time()
        state = self._read(item)
        if state is None:
            if item not in self._limits:
                raise UnknownItem(item)
            self._try(item, protocol.Init(law.initial(self._limits[item], at)))
            return self._state(item)
        self._known.learn(item, state, at=at, before=None)
        return Known(state, at)

    def _confirm(self, item: str) -> bool:
        """Make sure that what is known is at most a second old, before refusing on its word."""
        if not 0 <= self._time() - self._state(item).at <= law.STALE_US:
            self.refresh(item)
        return True

    def _try(self, item: str, write: protocol.Write) -> Applied | Lost:
        at, before = self._time(), self._known.get(item)
        answer = self._write(item, write)
        if answer.state is None:
            self._known.forget(item)
        else:
            self._known.learn(item, answer.state, at=at, before=before)
        return answer


def _granted(item: str, state: State, count: int) -> Granted:
    first = state.next_number - count
    due_at = tuple(instant(state.due_at(first + n)) for n in range(count))
    return Granted(item, first, count, due_at)


def shown(item: str, state: State, now: int) -> ItemState:
    """Return *state* in people's terms."""
    first = max(state.next_number, state.first_live(now))
    counted_today = state.day >= now // law.DAY_US
    return ItemState(
        item=item,
        rate_per_minute=60 * law.SECOND_US / state.interval,
        nominal_per_minute=60 * law.SECOND_US / state.nominal,
        reason=state.reason,
        since=instant(state.since),
        used_today=state.day_count if counted_today else 0,
        day_limit=state.day_limit or None,
        next_ticket=first,
        next_due_at=instant(state.due_at(first)),
        outstanding=max(0, state.next_number - state.first_live(now)),
        blocked_until=instant(state.blocked) if state.blocked > now else None,
    )
