"""Waiting for tickets, fairly.

Here: one pacer for each wave and API family, its line of waiters, its one open block and its turn.
Not here: the law (`reservation`) and the store. A pacer asks for a block only while somebody waits,
and for the next one only when the last is used up; so the order of blocks over all pacers is a
weighted round robin, an idle wave holds nothing, and its share goes to the others. Where the blocks
of all do not fit into the line, it waits for its tenant's turn, however long a round lasts.

A waiter gets its ticket when the ticket is due, never before: what the caller does with it is
decided as late as possible, and whatever it does before the call counts as lateness.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

from fireflyassets.limiter.arithmetic import (
    HORIZON_US,
    LATE_US,
    LEAD_US,
    STALE_US,
    block_size,
)
from fireflyassets.limiter.errors import LimiterError, LimiterUnavailable
from fireflyassets.limiter.port import (
    NO_NOTICE,
    NOBODY,
    Due,
    Flow,
    Granted,
    Limiter,
    Parked,
    ParkReason,
    Paused,
    Stale,
    Ticket,
    Voided,
    Waiting,
)

P = ParamSpec("P")
R = TypeVar("R")
HORIZON = timedelta(microseconds=HORIZON_US)
LATE = timedelta(microseconds=LATE_US)
TURN = timedelta(seconds=1)
"""How far a ticket that was taken early may move away and still be waited for."""
LEAD = timedelta(microseconds=LEAD_US)
FRESH = timedelta(microseconds=STALE_US)
SLOW_LOOKS = 3
"""So many answers in a row that are too old to go by when they come; then the store is too slow."""
SLOWEST_ANSWER = timedelta(seconds=5)
"""The most that is allowed for: tickets further ahead would only keep others waiting."""
SILENCE = timedelta(seconds=10)
"""How long a store that did not answer is not asked again: else each waiter of a line would sit
through a timeout of its own."""


class Offload(Protocol):
    """Runs a blocking call without blocking the loop, like `asyncio.to_thread`."""

    def __call__(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        """Run *call* elsewhere and return its answer."""
        ...


class Pacer:
    """Gives the waiters of one wave their tickets of one item, first come, first served.

    *weight* is the tenant's, *open_waves* how many waves of the tenant draw on this item now, and
    `place` how many of them come before this one; all may be set while the pacer runs and hold from
    the next block on. So may `early`: how long before its due time a ticket is handed out, for who
    has that long to do before the call. `tenant` is whose wave it is: where turns are kept, all
    waves of one name have one share; so have all without a name. `to_come`, where it is set, tells
    how many calls will come that do not wait yet: no block is larger than they and the waiters
    together, since what is left of one when the wave ends is lost. For one event loop.
    """

    def __init__(
        self,
        limiter: Limiter,
        item: str,
        *,
        now: Callable[[], datetime],
        weight: int = 1,
        open_waves: int = 1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        offload: Offload = asyncio.to_thread,
    ) -> None:
        self.tenant = ""
        self.weight = weight
        self.open_waves = open_waves
        self.place = 0
        self.to_come: Callable[[], int] | None = None
        self.early = NO_NOTICE
        self._answers = NO_NOTICE
        self._asked_at = datetime.min.replace(tzinfo=UTC)
        self._limiter = limiter
        self._item = item
        self._now = now
        self._sleep = sleep
        self._offload = offload
        self._turn = asyncio.Lock()  # First come, first served.
        self._waiters = 0
        self._refusals = asyncio.Lock()
        self._latest: Ticket | None = None
        self._block: deque[Ticket] = deque()
        self._asking: asyncio.Future[Granted | Parked] | None = None
        self._silent: tuple[float, LimiterUnavailable] | None = None

    async def take(self) -> Ticket | Parked:
        """Return a ticket `early` before it is due, or `Parked` at once when none is near.

        Call within 100 ms of its due time; who takes it early, or has something to do before the
        call, asks `fires`. A cancelled waiter leaves its ticket to the next.

        Raises:
            LimiterUnavailable: The store did not answer, now or within the last ten seconds.
        """
        self._waiters += 1
        try:
            async with self._turn:
                return await self._unless_silent()
        finally:
            self._waiters -= 1

    async def fires(self, ticket: Ticket) -> bool:
        """Wait until *ticket* is due and say whether the call may be made, at once.

        It may not where the ticket has grown late, or moved further away: take a new one.

        Raises:
            LimiterUnavailable: What is known is too old, and the store did not answer.
        """
        if self._ahead:
            wait = ticket.due_at - self._now() - min(self._ahead, FRESH * 0.95)
            await self._sleep(max(0.0, wait.total_seconds()))
            if ticket.due_at - self._asked_at > FRESH:
                await self._ask(self._limiter.refresh, self._item)
        return isinstance(await self._wait_for(ticket, by=ticket.due_at), Due)

    @property
    def _ahead(self) -> timedelta:
        """Return how much sooner the last look is due where the store answers slowly."""
        return self._answers if self._answers > LEAD else NO_NOTICE

    async def _look(self, looks: int) -> int:
        """Learn the item's state, the next of so many looks; count it.

        Raises:
            LimiterUnavailable: Every answer is too old when it comes.
        """
        if looks >= SLOW_LOOKS and self._answers > FRESH:
            raise LimiterUnavailable(self._item, "within a second")
        await self._ask(self._limiter.refresh, self._item)
        return looks + 1

    async def _ask(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make a call of the store, and learn how long it takes to answer."""
        monotonic = asyncio.get_running_loop().time
        began, at = monotonic(), self._now()
        try:
            answer = await self._offload(call, *args, **kwargs)
            self._asked_at = at
            return answer
        finally:
            took = timedelta(seconds=monotonic() - began)
            self._answers = min(SLOWEST_ANSWER, max(self._answers * 0.9, took * 1.25))

    async def _unless_silent(self) -> Ticket | Parked:
        monotonic = asyncio.get_running_loop().time  # No step of the wall clock prolongs it.
        if self._silent is not None and monotonic() < self._silent[0]:
            raise self._silent[1].with_traceback(None)
        try:
            return await self._next()
        except LimiterUnavailable as outage:
            self._silent = (monotonic() + SILENCE.total_seconds(), outage)
            raise

    async def _next(self) -> Ticket | Parked:
        while True:
            early = self.early + self._ahead
            while self._block and self._block[0].due_at + LATE < self._now() + early:
                self._block.popleft()  # It would be late for whoever needs that long.
            if not self._block:
                answer = await self._reserve()
                if isinstance(answer, Parked):
                    return answer
                self._block.extend(answer.tickets)
            outcome = await self._wait_for(self._block[0])
            if isinstance(outcome, Parked):
                return outcome
            self._block.popleft()
            if isinstance(outcome, Due):
                self._latest = outcome.ticket
                return outcome.ticket

    async def _reserve(self) -> Granted | Parked:
        """Take the next block, waiting for our turn."""
        while True:
            answer = await self._answer()
            if isinstance(answer, Granted):
                return answer
            if answer.reason is not ParkReason.NOT_YOUR_TURN:
                return answer
            await self._sleep(max(0.0, (answer.until - self._now()).total_seconds()))

    async def _answer(self) -> Granted | Parked:
        """Ask for a block, or hear what the limiter says to a waiter that was cancelled since."""
        if self._asking is None or _is_stale(self._asking):
            asked = self._ask(
                self._limiter.reserve,
                self._item,
                self._size(),
                notice=max(NO_NOTICE, self.early + self._ahead + self._answers - LATE),
                flow=self._flow(),
            )
            self._asking = asyncio.ensure_future(asked)
            self._asking.add_done_callback(_heard)
        waiter = asyncio.current_task()
        try:
            return await asyncio.shield(self._asking)
        finally:
            if waiter is None or not waiter.cancelling():
                self._asking = None

    def _size(self) -> int:
        size = block_size(self.weight, self.open_waves, self.place)
        return size if self.to_come is None else min(size, self._waiters + self.to_come())

    def _flow(self) -> Flow:
        return Flow(self.tenant, self.weight, self.open_waves) if self.tenant else NOBODY

    async def refused(self, retry_after: timedelta | None) -> Paused:
        """Report a 429: all processes pause, and the refused call takes a new ticket.

        Refusals queue, so that all but the first find the pause already made.
        """
        async with self._refusals:
            return await self._offload(self._limiter.pause, self._item, retry_after)

    async def answered(self) -> None:
        """Report that a call was made and not refused: if it was the probe, the breaker closes.

        While that is open the ticket taken last is the only one that may be used. A store that
        does not answer is no reason to doubt the call: the next probe closes the breaker.
        """
        if self._latest is not None:
            with suppress(LimiterError):
                await self._offload(self._limiter.answered, self._latest)

    async def _wait_for(
        self, ticket: Ticket, *, by: datetime | None = None
    ) -> Due | Voided | Parked:
        """Sleep until `early` before *ticket* is due, following it when it moves.

        With *by*, until it is due; void, if it has moved well beyond.
        """
        early = self.early + self._ahead if by is None else NO_NOTICE
        looks = 0
        while True:
            match self._limiter.check(ticket):
                case Stale():
                    looks = await self._look(looks)
                case Waiting(moved) if by is not None and moved.due_at - by > TURN:
                    return Voided(moved)
                case Waiting(moved, check_at, reason):
                    now = self._now()
                    if moved.due_at - now > HORIZON:
                        return Parked(moved.due_at, reason)
                    if moved.due_at - now <= early:
                        return Due(moved)
                    wait = min(check_at, moved.due_at - early) - now
                    await self._sleep(max(0.0, wait.total_seconds()))
                case Due() | Voided() as outcome:
                    return outcome


def _is_stale(asked: "asyncio.Future[Granted | Parked]") -> bool:
    """Say whether a cancelled waiter left an answer without tickets: by now it may be another."""
    if not asked.done():
        return False
    return asked.cancelled() or bool(asked.exception()) or isinstance(asked.result(), Parked)


def _heard(asked: "asyncio.Future[Granted | Parked]") -> None:
    """Look at what came of it: where nobody waits any more, nobody else would."""
    if not asked.cancelled():
        asked.exception()
