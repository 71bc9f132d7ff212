"""Several processes over one strict table, and everything that can come between them.

Here: the world that runs a list of operations in virtual time and raises as soon as an invariant is
broken. Not here: the operations (`plans`) and the broken protocols (`test_invariants`).

True time moves only here. Each process has a clock that is up to 50 ms off, and fires its tickets
up to 40 ms after it meant to.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, cast

from botocore.exceptions import ClientError

from fireflyassets.limiter.arithmetic import (
    DAY_US,
    HORIZON_US,
    LATE_US,
    SECOND_US,
    STALE_US,
    State,
    instant,
    paced_interval,
)
from fireflyassets.limiter.dynamodb import DynamoLimiter
from fireflyassets.limiter.dynamodb_words import decode
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import NOBODY, Due, Flow, Granted, Stale, Ticket, Voided, Waiting
from fireflyassets_tests.limiter.plans import (
    MAX_SKEW_US,
    Advance,
    Clear,
    Midnight,
    Operation,
    Override,
    Pause,
    Plan,
    Repeat,
    Reserve,
)
from fireflyassets_tests.limiter.strict_dynamo import Attributes, Request, StrictTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

ITEM = "organisation#firefly"
MAX_LATE_US = 40_000
MILLISECOND_US = 1_000


class InvariantBroken(AssertionError):
    """The protocol did what it must never do."""


@dataclass
class Process:
    """One process: a limiter, a clock that is *skew* µs off, and tickets with their alarms."""

    limiter: DynamoLimiter
    skew: int
    alarms: dict[int, int] = field(default_factory=dict[int, int])
    flow: Flow = NOBODY


LimiterFactory = Callable[["DynamoDBClient", Callable[[], datetime]], DynamoLimiter]


class Interleaving:
    """Runs one plan."""

    def __init__(self, plan: Plan, factory: LimiterFactory, *, spare_values: bool = False) -> None:
        self.now = 1_767_600_000 * SECOND_US
        self.plan = plan
        limits = Limits(plan.rate, source="test", as_of=date(2026, 1, 1), per_day=plan.per_day)
        self.nominal = paced_interval(limits)
        self.table = WatchedTable(self, spare_values=spare_values)
        self.processes = [self._process(factory, skew) for skew in plan.skews]
        self.granted: set[int] = set()
        self.fired: list[int] = []
        for process in self.processes:
            process.limiter.register(ITEM, limits)

    def _process(self, factory: LimiterFactory, skew: int) -> Process:
        client = cast("DynamoDBClient", self.table)
        flow = Flow("ahead" if skew > 0 else "behind", 3)
        return Process(factory(client, lambda: instant(self.now + skew)), skew, flow=flow)

    def run(self) -> None:
        """Do everything, let all tickets fire, and look at what fired."""
        self._do_all(self.plan.operations)
        self._advance(HORIZON_US + SECOND_US)
        self._check_windows()

    def _do_all(self, operations: tuple[Operation, ...]) -> None:
        for operation in operations:
            self._do(operation)

    def _do(self, operation: Operation) -> None:
        match operation:
            case Reserve(number, count):
                self.table.travel = self._travel(operation)
                self._reserve(self._at(number), count)
                self.table.travel = None
            case Pause(number, retry_after):
                self.table.travel = self._travel(operation)
                self._at(number).limiter.pause(ITEM, timedelta(seconds=retry_after))
                self.table.travel = None
            case Override(number, percent, seconds):
                self.table.travel = self._travel(operation)
                rate = 60 * SECOND_US * percent / 100 / self.nominal
                duration = timedelta(seconds=seconds)
                limiter = self._at(number).limiter
                limiter.override(ITEM, rate, duration=duration, by="ops", why="drawn")
                self.table.travel = None
            case Clear(number):
                self._at(number).limiter.clear_override(ITEM, by="ops")
            case Advance(milliseconds):
                self._advance(milliseconds * MILLISECOND_US)
            case Repeat(back):
                self.table.repeat(back)
            case Midnight(before):
                next_day = (self.now // DAY_US + 1) * DAY_US
                self._advance(max(0, next_day - before * MILLISECOND_US - self.now))

    def _at(self, number: int) -> Process:
        return self.processes[number % len(self.processes)]

    def _travel(self, operation: Reserve | Pause | Override) -> Callable[[], None]:
        def travel() -> None:
            self._do_all(operation.meanwhile)
            self._advance(operation.delay * MILLISECOND_US)

        return travel

    def _reserve(self, process: Process, count: int) -> None:
        answer = process.limiter.reserve(ITEM, count, flow=process.flow)
        if not isinstance(answer, Granted):
            return
        for ticket in answer.tickets:
            if ticket.number in self.granted:
                raise InvariantBroken(f"Ticket {ticket.number} was handed out twice.")
            self.granted.add(ticket.number)
            process.alarms[ticket.number] = self.now

    def _advance(self, duration: int) -> None:
        """Let *duration* µs pass, stopping at each alarm of a ticket."""
        until = self.now + duration
        while True:
            alarms = [
                (at, number, process)
                for process in self.processes
                for number, at in process.alarms.items()
            ]
            if not alarms:
                break
            at, number, process = min(alarms, key=lambda alarm: alarm[:2])
            if at > until:
                break
            self.now = max(self.now, at)
            self._look(process, number)
        self.now = max(self.now, until)

    def _look(self, process: Process, number: int) -> None:
        ticket = Ticket(ITEM, number, instant(0))
        answer = process.limiter.check(ticket)
        if isinstance(answer, Stale):
            process.limiter.refresh(ITEM)
            answer = process.limiter.check(ticket)
        match answer:
            case Due():
                del process.alarms[number]
                self._fire(number)
            case Voided():
                del process.alarms[number]
            case Waiting(_, check_at):
                late = number * 7919 % MAX_LATE_US  # Any fixed scatter will do.
                local = (check_at - instant(0)) // timedelta(microseconds=1)
                process.alarms[number] = max(self.now + 1, local - process.skew + late)
            case Stale():
                raise InvariantBroken("A refreshed state was still too old.")

    def _fire(self, number: int) -> None:
        self.fired.append(self.now)
        for applied_at, blocked in self.table.pauses:
            if applied_at + STALE_US + 1 < self.now < blocked - 2 * MAX_SKEW_US:
                raise InvariantBroken(f"Ticket {number} fired inside a pause.")

    def live_tickets(self) -> list[int]:
        """Return the tickets that someone still holds."""
        return [number for process in self.processes for number in process.alarms]

    def _check_windows(self) -> None:
        spread = 2 * MAX_SKEW_US + LATE_US
        for window in (SECOND_US, 10 * SECOND_US):
            allowed = (window + spread) // self.nominal + 1
            for first, at in enumerate(self.fired):
                calls = bisect_right(self.fired, at + window) - first
                if calls > allowed:
                    raise InvariantBroken(f"{calls} calls in {window} µs, {allowed} allowed.")


class WatchedTable(StrictTable):
    """A table that checks each applied update; *travel* runs before the next one arrives."""

    def __init__(self, world: Interleaving, *, spare_values: bool) -> None:
        super().__init__(spare_values=spare_values)
        self.world = world
        self.travel: Callable[[], None] | None = None
        self.log: list[Request] = []
        self.pauses: list[tuple[int, int]] = []
        self.counted: Counter[int] = Counter()

    def update_item(self, **request: object) -> Request:
        """Send the request: what comes between runs first, then the update is applied."""
        sent_at, travel, self.travel = self.world.now, self.travel, None
        if travel is not None:
            travel()
        self.log.append(cast("Request", request))
        return self._watched(cast("Request", request), sent_at)

    def repeat(self, back: int) -> None:
        """Apply an old request again; nobody hears the answer."""
        with suppress(ClientError):
            self._watched(self.log[-1 - back % len(self.log)], None)

    def _watched(self, request: Request, sent_at: int | None) -> Request:
        old = self.items.get(ITEM)
        answer = self.apply(request)
        if old is not None:
            before, after = _decode(old), _decode(answer["Attributes"])
            taken = int(request["ExpressionAttributeValues"].get(":k", {"N": "0"})["N"])
            _compare(before, after)
            self._check_law(before, after)
            self._check_tickets(after, taken, sent_at)
        return answer

    def _check_law(self, before: State, after: State) -> None:
        if after.blocked > before.blocked:
            self.pauses.append((self.world.now, after.blocked))
        now = self.world.now
        least = self.world.nominal
        if before.is_overridden(now + MAX_SKEW_US) and after.over_since == before.over_since:
            least = after.over_interval
        if after.interval < least:
            raise InvariantBroken("The rate is above what contract or operator allow.")
        if after.interval < before.interval:
            return  # A rising rate is the one thing that may bring tickets nearer.
        for number in self.world.live_tickets():
            due_at = after.due_at(number)
            if number >= after.base_number and due_at < max(before.due_at(number), after.blocked):
                raise InvariantBroken(f"Ticket {number} moved nearer, or into a pause.")

    def _check_tickets(self, after: State, taken: int, sent_at: int | None) -> None:
        if not taken:
            return
        first, last = after.next_number - taken, after.next_number - 1
        if sent_at is not None and after.has_ended_override(sent_at - MAX_SKEW_US):
            raise InvariantBroken(f"Ticket {first} is under an override that is over.")
        if first < after.base_number:
            raise InvariantBroken(f"Ticket {first} was void when it was handed out.")
        if sent_at is not None and after.due_at(first) < sent_at - MAX_SKEW_US:
            raise InvariantBroken(f"Ticket {first} was old when it was handed out.")
        if sent_at is not None and after.due_at(last) > sent_at + HORIZON_US + MAX_SKEW_US:
            raise InvariantBroken(f"Ticket {last} is too far ahead.")
        if sent_at is not None and after.line_room(sent_at + MAX_SKEW_US) < 0:
            raise InvariantBroken(f"With ticket {last} too many are open.")
        self.counted[after.day] += taken
        if self.world.plan.per_day and self.counted[after.day] > self.world.plan.per_day:
            raise InvariantBroken(f"Day {after.day} is over its quota.")


def _decode(stored: Attributes) -> State:
    state = decode(cast("Mapping[str, AttributeValueTypeDef]", stored))
    assert state is not None
    return state


def _compare(before: State, after: State) -> None:
    in_turn = after.turn and after.next_number > before.next_number
    if in_turn and sum(after.flows.values()) <= sum(before.flows.values()):
        raise InvariantBroken("A ticket in turn cost nobody's turn.")
    if 0 < after.turn < before.turn:
        raise InvariantBroken("The turn went back.")
    for name in ("epoch", "next_number", "sequence", "blocked", "day"):
        if getattr(after, name) < getattr(before, name):
            raise InvariantBroken(f"{name} went back.")
