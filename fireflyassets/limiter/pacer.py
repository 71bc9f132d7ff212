"""Waiting for tickets, fairly.

Here: one pacer for each wave and API family, its line of waiters and its one open block. Not here:
the law (`protocol`) and the store. A pacer asks for a block only while somebody waits, and for the
next one only when the last is used up; so the order of blocks over all pacers is a weighted round
robin, an idle wave holds nothing, and its share goes to the others.

A waiter gets its ticket when the ticket is due, never before: what the caller does with it is
decided as late as possible, and whatever it does before the call counts as lateness.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

from fireflyassets.limiter.arithmetic import HORIZON_US, block_size
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.port import (
    Due,
    Limiter,
    Parked,
    Paused,
    Stale,
    Ticket,
    Voided,
    Waiting,
)

P = ParamSpec("P")
R = TypeVar("R")
HORIZON = timedelta(microseconds=HORIZON_US)
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

    *weight* is the tenant's, *open_waves* how many waves of the tenant draw on this item now; both
    may be set while the pacer runs and hold from the next block on. For one event loop.
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
        self.weight = weight
        self.open_waves = open_waves
        self._limiter = limiter
        self._item = item
        self._now = now
        self._sleep = sleep
        self._offload = offload
        self._turn = asyncio.Lock()  # First come, first served.
        self._refusals = asyncio.Lock()
        self._block: deque[Ticket] = deque()
        self._silent: tuple[datetime, LimiterUnavailable] | None = None

    async def take(self) -> Ticket | Parked:
        """Return a ticket when it is due, or `Parked` at once when none is near.

        Call within 100 ms. A cancelled waiter leaves its ticket to the next.

        Raises:
            LimiterUnavailable: The store did not answer, now or within the last ten seconds.
        """
        async with self._turn:
            if self._silent is not None and self._now() < self._silent[0]:
                raise self._silent[1].with_traceback(None)
            try:
                return await self._next()
            except LimiterUnavailable as outage:
                self._silent = (self._now() + SILENCE, outage)
                raise

    async def _next(self) -> Ticket | Parked:
        while True:
            if not self._block:
                count = block_size(self.weight, self.open_waves)
                answer = await self._offload(self._limiter.reserve, self._item, count)
                if isinstance(answer, Parked):
                    return answer
                self._block.extend(answer.tickets)
            outcome = await self._wait_for(self._block[0])
            if isinstance(outcome, Parked):
                return outcome
            self._block.popleft()
            if isinstance(outcome, Due):
                return outcome.ticket

    async def refused(self, retry_after: timedelta | None) -> Paused:
        """Report a 429: all processes pause, and the refused call takes a new ticket.

        Refusals queue, so that all but the first find the pause already made.
        """
        async with self._refusals:
            return await self._offload(self._limiter.pause, self._item, retry_after)

    async def _wait_for(self, ticket: Ticket) -> Due | Voided | Parked:
        """Sleep until *ticket* is due, following it when it moves."""
        while True:
            match self._limiter.check(ticket):
                case Stale():
                    await self._offload(self._limiter.refresh, self._item)
                case Waiting(moved, check_at, reason):
                    now = self._now()
                    if moved.due_at - now > HORIZON:
                        return Parked(moved.due_at, reason)
                    await self._sleep((check_at - now).total_seconds())
                case Due() | Voided() as outcome:
                    return outcome
