"""The limiter in Redis: one script call per operation, by the server's clock.

Here: the client's side of the script and the offset between the two clocks. Not here: the law in
Lua (`redis_script`). A client is handed in, so that this module needs no Redis package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, cast

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State, instant, micros
from fireflyassets.limiter.conditional import KnownStates, shown
from fireflyassets.limiter.port import (
    Due,
    Granted,
    ItemState,
    Limiter,
    Limits,
    PaceReason,
    Parked,
    ParkReason,
    Paused,
    Stale,
    Ticket,
    UnknownItem,
    Voided,
    Waiting,
)
from fireflyassets.limiter.redis_script import FIELDS, LAW

OFFSET_LIFE_US = 60 * law.SECOND_US  # Clocks drift: after a minute a worse measurement is better.
REFUSALS = {
    "ahead": ParkReason.TOO_FAR_AHEAD,
    "quota": ParkReason.DAY_QUOTA,
    "paused": ParkReason.PAUSED,
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
    measures; the quickest call of the last minute counts. *server_clock* off takes *now* for the
    law too, for a server that stands still in a test.
    """

    def __init__(
        self, client: RedisClient, *, now: Callable[[], datetime], server_clock: bool = True
    ) -> None:
        self._script = client.register_script(LAW)
        self._now = now
        self._server_clock = server_clock
        self._offset = Offset(0, round_trip=law.DAY_US, at=0)
        self._known = KnownStates()
        self._limits: dict[str, Limits] = {}

    def register(self, item: str, limits: Limits) -> None:
        """Make *item* known under *limits*; see `Limiter.register`."""
        self._limits[item] = limits
        day_limit = limits.per_day or law.NO_DAY_LIMIT
        as_of = limits.as_of.toordinal()
        self._call(item, "register", law.paced_interval(limits), day_limit, as_of)

    def reserve(self, item: str, count: int) -> Granted | Parked:
        """Take up to *count* tickets; see `Limiter.reserve`."""
        if count < 1:
            raise ValueError(f"A reservation takes at least one ticket, not {count}.")
        answer = self._call(item, "reserve", count)
        if answer.outcome in REFUSALS:
            return Parked(self._local(answer.first), REFUSALS[answer.outcome])
        numbers = range(answer.first, answer.first + answer.second)
        due_at = tuple(self._local(answer.state.due_at(number)) for number in numbers)
        return Granted(item, answer.first, answer.second, due_at)

    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*; see `Limiter.check`."""
        answer = self._known.check(ticket, self._server_time())
        behind = timedelta(microseconds=self._offset.value)
        match answer:
            case Due(moved):
                return Due(Ticket(moved.item, moved.number, moved.due_at - behind))
            case Waiting(moved, check_at):
                local = Ticket(moved.item, moved.number, moved.due_at - behind)
                return Waiting(local, check_at - behind)
            case Voided() | Stale():
                return answer

    def refresh(self, item: str) -> None:
        """Learn the item's state from the server."""
        self._call(item, "read")

    def pause(self, item: str, retry_after: timedelta | None) -> Paused:
        """Hold every ticket of *item*; see `Limiter.pause`."""
        asked = None if retry_after is None else retry_after // timedelta(microseconds=1)
        answer = self._call(item, "pause", "none" if asked is None else asked)
        return Paused(
            self._local(answer.state.blocked),
            lowered=answer.first == 1,
            capped=asked is not None and asked > law.MAX_PAUSE_US,
        )

    def state(self, item: str) -> ItemState:
        """Return what people are shown about *item*, read from the server."""
        return shown(item, self._call(item, "read").state, self._server_time())

    def _call(self, item: str, operation: str, *arguments: str | int) -> Answer:
        asked_at, before = micros(self._now()), self._known.get(item)
        clock = "server" if self._server_clock else asked_at
        raw = cast("list[bytes | str]", self._script([item], [operation, clock, *arguments]))
        outcome, *rest = [_text(value) for value in raw]
        if not rest:
            if item not in self._limits or operation == "register":
                raise UnknownItem(item)
            self._known.forget(item)
            self.register(item, self._limits[item])
            return self._call(item, operation, *arguments)
        first, second, server_time, reason, *numbers = rest
        self._measure(int(server_time), asked_at)
        fields = dict(zip(FIELDS, map(int, numbers), strict=True))
        state = State(**fields, reason=PaceReason[reason])
        self._known.learn(item, state, at=asked_at + self._offset.value, before=before)
        return Answer(outcome, int(first), int(second), state)

    def _measure(self, server_time: int, asked_at: int) -> None:
        if not self._server_clock:
            return
        answered_at = micros(self._now())
        round_trip = answered_at - asked_at
        expired = asked_at - self._offset.at > OFFSET_LIFE_US
        if round_trip <= self._offset.round_trip or expired:
            value = server_time - (asked_at + answered_at) // 2
            self._offset = Offset(value, round_trip, asked_at)

    def _server_time(self) -> int:
        return micros(self._now()) + self._offset.value

    def _local(self, server_time: int) -> datetime:
        return instant(server_time - self._offset.value)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
