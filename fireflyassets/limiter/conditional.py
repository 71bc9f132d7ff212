"""The protocol over any store that has conditional writes.

Here: trying one planned write after the other until one holds. Not here: the choice of writes
(`reservation`, `rates`), what this process knows (`known`) and the store (`memory`, `dynamodb`).
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter import protocol, rates, reservation
from fireflyassets.limiter.arithmetic import State, instant, micros
from fireflyassets.limiter.clock import Watch
from fireflyassets.limiter.errors import OverrideRefused, ReservationContended, UnknownItem
from fireflyassets.limiter.known import Known, KnownStates
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.overriding import (
    ABOVE_CONTRACT,
    asked_interval,
    audit_cleared,
    audit_ended,
    audit_limits,
    audit_opened,
    audit_reset,
    audit_set,
    check_standing,
    check_words,
)
from fireflyassets.limiter.port import (
    NO_NOTICE,
    NOBODY,
    Due,
    Flow,
    Granted,
    ItemState,
    Limiter,
    Overridden,
    Override,
    Parked,
    Paused,
    Stale,
    Ticket,
    Voided,
    Waiting,
)
from fireflyassets.limiter.showing import override_of, shown, standing_override, stored_override

# Two lost writes are normal after idle time, five can follow from a raise, a new day and a race.
TRIES = 12


@dataclass(frozen=True, slots=True)
class Applied:
    """The write held; *state* is the state after it."""

    state: State


@dataclass(frozen=True, slots=True)
class Lost:
    """The write did not hold; *state* is what is stored, None if there is nothing."""

    state: State | None


class ConditionalLimiter(Limiter):
    """A limiter whose store applies one write at a time, each under its own condition.

    *now* is the clock of all due times, aware and in UTC. The clocks of all processes must agree
    within 50 ms: a store that tells the time (`date_clock`) is where to learn the offset. While
    *watch* does not trust the clock nothing fires, and whatever asks the store settles it first.
    """

    def __init__(self, *, now: Callable[[], datetime], watch: Watch | None = None) -> None:
        self._now = now
        self._watch = watch
        self._known = KnownStates()
        self._limits: dict[str, Limits] = {}

    @abstractmethod
    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        """Apply *write* if its condition holds."""

    @abstractmethod
    def _read(self, item: str) -> State | None:
        """Read the stored state, seeing every write that was answered before."""

    def now(self) -> datetime:
        """Return the time by the clock of all due times."""
        return self._now()

    def register(self, item: str, limits: Limits) -> None:
        """Make *item* known under *limits*; see `Limiter.register`."""
        is_told = self._limits.get(item) == limits
        self._limits[item] = limits
        self._settle()
        self._try(item, protocol.Init(law.initial(limits, self._time())))
        if is_told:
            return
        before, after = self._change(item, lambda state, now: rates.plan_limits(state, now, limits))
        if after is not before:
            audit_limits(item, limits)

    def reserve(
        self,
        item: str,
        count: int,
        *,
        notice: timedelta = NO_NOTICE,
        flow: Flow = NOBODY,
    ) -> Granted | Parked:
        """Take up to *count* tickets; see `Limiter.reserve`."""
        if count < 1:
            raise ValueError(f"A reservation takes at least one ticket, not {count}.")
        self._settle()
        ask = reservation.Ask(count, notice // timedelta(microseconds=1), flow)
        fresh = False
        for _ in range(TRIES):
            if self._state(item).state.turn and not fresh:
                # Turns go on fast: a lost write costs more than a read.
                fresh = self._confirm(item)
            state, now = self._state(item).state, self._time()
            step = reservation.plan(state, now, ask)
            if isinstance(step, reservation.Refusal):
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
        if self._watch is not None and not self._watch.trusted():
            return Stale()
        return self._known.check(ticket, self._time())

    def refresh(self, item: str) -> None:
        """Learn the item's state from the store; end an override whose time is over."""
        self._settle()
        at, before = self._time(), self._known.get(item)
        state = self._read(item)
        if state is None:
            self._known.forget(item)
            self._state(item)
        else:
            self._known.learn(item, state, at=at, before=before)
        self._change(item, rates.plan_end)

    def pause(self, item: str, retry_after: timedelta | None) -> Paused:
        """Hold every ticket of *item*; see `Limiter.pause`."""
        self._settle()
        asked = None if retry_after is None else retry_after // timedelta(microseconds=1)
        before, after = self._change(item, lambda state, now: rates.plan_pause(state, now, asked))
        lowered = after.lowered != before.lowered
        if after.opened and not before.opened:
            audit_opened(item, instant(after.blocked))
        return Paused(instant(after.blocked), lowered=lowered, opened=after.opened > 0)

    def answered(self, ticket: Ticket) -> None:
        """Close an open breaker if *ticket* was its probe; see `Limiter.answered`."""
        known = self._known.get(ticket.item)
        if known is None or not known.state.opened:
            return
        self._change(ticket.item, lambda state, now: rates.plan_answered(state, now, ticket.number))

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
        """Set the item's rate by hand for a time; see `Limiter.override`."""
        interval = asked_interval(item, rate_per_minute, duration=duration, by=by, why=why)
        lasts = duration // timedelta(microseconds=1)

        def plan(state: State, now: int) -> protocol.Rebase:
            check_standing(item, standing_override(state, now), by=by, replace=replace)
            if interval < state.nominal:
                raise OverrideRefused(item, ABOVE_CONTRACT)
            setting = rates.Setting(interval, now + lasts, by, why)
            return rates.plan_override(state, now, setting)

        self.refresh(item)
        before, after = self._change(item, plan)
        made = stored_override(after)
        audit_set(item, made)
        return Overridden(made, standing_override(before, after.over_since))

    def clear_override(self, item: str, *, by: str) -> Override | None:
        """End an override before its time; see `Limiter.clear_override`."""
        check_words(item, by=by, why=by)
        self.refresh(item)
        before, _ = self._change(item, rates.plan_clear)
        override = override_of(before)
        if override is not None:
            audit_cleared(item, override, by=by)
        return override

    def reset(self, item: str, *, by: str, why: str) -> None:
        """Let *item* begin anew by today's clock; see `Limiter.reset`."""
        check_words(item, by=by, why=why)
        self.refresh(item)
        self._change(item, rates.plan_reset)
        audit_reset(item, by=by, why=why)

    def state(self, item: str) -> ItemState:
        """Return what people are shown about *item*, read from the store."""
        self.refresh(item)
        return shown(item, self._state(item).state, self._time())

    def _settle(self) -> None:
        if self._watch is not None:
            self._watch.settle()

    def _time(self) -> int:
        return micros(self._now())

    def _change(
        self, item: str, plan: Callable[[State, int], protocol.Write | None]
    ) -> tuple[State, State]:
        """Make a planned change, if any is needed; return the state before and after it."""
        for _ in range(TRIES):
            state = self._state(item).state
            write = plan(state, self._time())
            if write is None:
                return state, state
            answer = self._try(item, write)
            if isinstance(answer, Applied):
                return state, answer.state
        raise ReservationContended(item, tries=TRIES)

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
            return answer
        self._known.learn(item, answer.state, at=at, before=before)
        changed = isinstance(write, protocol.Rebase) and isinstance(answer, Applied)
        if changed and before is not None and before.state.has_ended_override(at):
            audit_ended(item, stored_override(before.state))
        return answer


def _granted(item: str, state: State, count: int) -> Granted:
    first = state.next_number - count
    due_at = tuple(instant(state.due_at(first + n)) for n in range(count))
    return Granted(item, first, count, due_at)
