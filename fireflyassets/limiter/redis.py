"""The limiter in Redis: one script call per operation, by the server's clock.

Here: the client's side of the script and the offset between the two clocks. Not here: the law in
Lua (`redis_script`). A client is handed in, so that this module needs no Redis package.

A server that lost its memory gets each item back from whoever knows its limits; tickets of before
are void then, and the day's count starts anew. A replica that takes over without the last writes
may hand those tickets out once more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, cast

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State, instant, micros
from fireflyassets.limiter.clock import Watch
from fireflyassets.limiter.errors import (
    ItemBroken,
    LimiterUnavailable,
    OverrideRefused,
    ReservationContended,
    UnknownItem,
)
from fireflyassets.limiter.known import KnownStates
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
    ParkReason,
    Paused,
    Stale,
    Ticket,
    Voided,
    Waiting,
)
from fireflyassets.limiter.redis_law import state_of, text_of
from fireflyassets.limiter.redis_script import LAW
from fireflyassets.limiter.showing import override_of, shown, stored_override

OFFSET_LIFE_US = 60 * law.SECOND_US  # Clocks drift: after a minute a worse measurement is better.
OVERRIDE_TRIES = 12  # The law rarely moves between reading and setting.
UNMEASURED_US = law.DAY_US
REFUSALS = {
    "ahead": ParkReason.TOO_FAR_AHEAD,
    "turn": ParkReason.NOT_YOUR_TURN,
    "quota": ParkReason.DAY_QUOTA,
    "paused": ParkReason.PAUSED,
    "open": ParkReason.BREAKER_OPEN,
    "overridden": ParkReason.OVERRIDDEN,
}


class Script(Protocol):
    """A script that the server knows by its hash."""

    def __call__(self, keys: Sequence[str], args: Sequence[str | int]) -> object:
        """Run it."""
        ...


class RedisClient(Protocol):
    """What is needed of `redis.Redis`."""

    def register_script(self, script: str) -> Script:
        """Return *script*, ready to be called."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the script; times by the server's clock."""

    outcome: str
    first: int
    second: int
    third: int
    state: State


@dataclass(frozen=True, slots=True)
class Offset:
    """Server time less local time, as measured at *at* by a call of *round_trip*."""

    value: int
    round_trip: int
    at: int


class RedisLimiter(Limiter):
    """A limiter shared by every process that reaches the server.

    All due times come from the server's clock, moved to the local one by an offset that each call
    measures; the quickest call of the last minute counts. *outages* are what the client raises when
    the server does not answer. While *watch* does not trust the local clock nothing fires, and the
    next call measures anew. *server_clock* off takes *now* for the law too, for a server that
    stands still in a test.
    """

    def __init__(
        self,
        client: RedisClient,
        *,
        now: Callable[[], datetime],
        watch: Watch | None = None,
        outages: tuple[type[Exception], ...] = (OSError,),
        server_clock: bool = True,
    ) -> None:
        self._script = client.register_script(LAW)
        self._now = now
        self._watch = watch
        self._outages = outages
        self._server_clock = server_clock
        self._offset = Offset(0, round_trip=UNMEASURED_US, at=0)
        self._known = KnownStates()
        self._limits: dict[str, Limits] = {}

    def now(self) -> datetime:
        """Return the local time; due times are told in it."""
        return self._now()

    def register(self, item: str, limits: Limits) -> None:
        """Make *item* known under *limits*; see `Limiter.register`."""
        told, self._limits[item] = self._limits.get(item), limits
        _ = self._call(item, "read") if told == limits else self._tell(item, limits)

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
        lead = notice // timedelta(microseconds=1)
        whose = (flow.name, flow.weight, flow.open_waves)
        answer = self._call(item, "reserve", count, lead, *whose)
        if answer.outcome in REFUSALS:
            return Parked(self._local(answer.first), REFUSALS[answer.outcome])
        numbers = range(answer.first, answer.first + answer.second)
        due_at = tuple(self._local(answer.state.due_at(number)) for number in numbers)
        return Granted(item, answer.first, answer.second, due_at)

    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*; see `Limiter.check`."""
        if self._watch is not None and not self._watch.trusted():
            return Stale()
        answer = self._known.check(ticket, self._server_time())
        behind = timedelta(microseconds=self._offset.value)
        match answer:
            case Due(moved):
                return Due(Ticket(moved.item, moved.number, moved.due_at - behind))
            case Waiting(moved, check_at, reason):
                local = Ticket(moved.item, moved.number, moved.due_at - behind)
                return Waiting(local, check_at - behind, reason)
            case Voided() | Stale():
                return answer

    def refresh(self, item: str) -> None:
        """Learn the item's state from the server, which ends an override whose time is over."""
        self._call(item, "read")

    def pause(self, item: str, retry_after: timedelta | None) -> Paused:
        """Hold every ticket of *item*; see `Limiter.pause`."""
        asked = None if retry_after is None else retry_after // timedelta(microseconds=1)
        answer = self._call(item, "pause", "none" if asked is None else asked)
        until = self._local(answer.state.blocked)
        if answer.second:
            audit_opened(item, until)
        return Paused(until, lowered=answer.first == 1, opened=answer.state.opened > 0)

    def answered(self, ticket: Ticket) -> None:
        """Close an open breaker if *ticket* was its probe; see `Limiter.answered`."""
        known = self._known.get(ticket.item)
        if known is not None and known.state.opened:
            self._call(ticket.item, "answered", ticket.number)

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
        for _ in range(OVERRIDE_TRIES):
            seen = override_of(before := self._call(item, "read").state)
            check_standing(item, seen, by=by, replace=replace)
            answer = self._call(item, "override", interval, lasts, by, why, before.epoch)
            if answer.outcome == "above":
                raise OverrideRefused(item, ABOVE_CONTRACT)
            if answer.outcome == "overridden":
                audit_set(item, made := stored_override(answer.state))
                return Overridden(made, seen)
        raise ReservationContended(item, tries=OVERRIDE_TRIES)

    def clear_override(self, item: str, *, by: str) -> Override | None:
        """End an override before its time; see `Limiter.clear_override`."""
        check_words(item, by=by, why=by)
        override = override_of(self._call(item, "read").state)
        if override is None or self._call(item, "clear").outcome == "none":
            return None
        audit_cleared(item, override, by=by)
        return override

    def reset(self, item: str, *, by: str, why: str) -> None:
        """Let *item* begin anew by the server's clock; see `Limiter.reset`."""
        check_words(item, by=by, why=why)
        self._call(item, "reset")
        audit_reset(item, by=by, why=why)

    def state(self, item: str) -> ItemState:
        """Return what people are shown about *item*, read from the server."""
        return shown(item, self._call(item, "read").state, self._server_time())

    def _call(self, item: str, operation: str, *arguments: str | int) -> Answer:
        self._settle()
        asked_at, before = micros(self._now()), self._known.get(item)
        clock = "server" if self._server_clock else asked_at
        try:
            answered = self._script([item], [operation, clock, *arguments])
            raw = cast("list[bytes | str]", answered)
        except self._outages as error:
            raise LimiterUnavailable(item, type(error).__name__) from error
        outcome, *rest = [text_of(value) for value in raw]
        if not rest:
            return self._made_again(item, operation, *arguments)
        if outcome == "broken":
            raise ItemBroken(item, rest[0])
        first, second, third, server_time, *stored = rest
        self._measure(int(server_time), asked_at)
        state = state_of(stored)
        self._known.learn(item, state, at=asked_at + self._offset.value, before=before)
        if before is not None and before.state.has_ended_override(int(server_time)):
            audit_ended(item, stored_override(before.state))
        return Answer(outcome, int(first), int(second), int(third), state)

    def _tell(self, item: str, limits: Limits) -> None:
        day_limit = limits.per_day or law.NO_DAY_LIMIT
        interval, as_of = law.paced_interval(limits), limits.as_of.toordinal()
        answer = self._call(item, "register", interval, day_limit, as_of, limits.source)
        if answer.outcome == "replaced":
            audit_limits(item, limits)

    def _made_again(self, item: str, operation: str, *arguments: str | int) -> Answer:
        if item not in self._limits or operation == "register":
            raise UnknownItem(item)
        self._known.forget(item)
        self._tell(item, self._limits[item])
        return self._call(item, operation, *arguments)

    def _settle(self) -> None:
        """Measure the offset anew with the next call, if the local clock was moved."""
        if self._watch is not None and not self._watch.trusted():
            self._watch.settle()
            self._offset = Offset(self._offset.value, round_trip=UNMEASURED_US, at=0)

    def _measure(self, server_time: int, asked_at: int) -> None:
        if not self._server_clock:
            return
        answered_at = micros(self._now())
        round_trip = answered_at - asked_at
        expired = asked_at - self._offset.at > OFFSET_LIFE_US
        if round_trip <= self._offset.round_trip or expired:
            self._offset = Offset(server_time - (asked_at + answered_at) // 2, round_trip, asked_at)

    def _server_time(self) -> int:
        return micros(self._now()) + self._offset.value

    def _local(self, server_time: int) -> datetime:
        return instant(server_time - self._offset.value)
