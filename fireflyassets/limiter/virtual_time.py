"""Time that passes only while nothing else can happen.

Here: an asyncio event loop whose clock jumps to the next timer as soon as every task waits, so that
an hour of pacing takes a second and gives the same result each time. Not here: what is simulated
(`simulation`).

Inside, `asyncio.sleep` works as ever. Threads do not: a call in another thread takes no virtual
time, and the loop would not wait for it.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class _JumpingSelector(selectors.SelectSelector):
    """A selector that never blocks: it adds what it should have waited to *elapsed*."""

    def __init__(self) -> None:
        super().__init__()
        self.elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Jump by *timeout*; without one nothing could ever happen again."""
        if timeout is None:
            raise RuntimeError("Every task waits for something that virtual time cannot bring.")
        self.elapsed += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time; pass the class as ``loop_factory`` of `asyncio.Runner`."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return self._jumping.elapsed


class VirtualClock:
    """The wall clock of a virtual loop: starts at *start*, and may be *skew* off."""

    def __init__(self, *, start: datetime = START, skew: timedelta = timedelta(0)) -> None:
        self._start = start + skew

    def now(self) -> datetime:
        """Return the virtual time of the running loop."""
        return self._start + timedelta(seconds=asyncio.get_running_loop().time())


def run(main: Callable[[], Coroutine[None, None, R]]) -> R:
    """Run *main* in a fresh virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


class Latency:
    """An `Offload` that answers after as many virtual seconds as *seconds* says.

    The call is made half-way, as a request reaches a store: the way there and the way back count.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds

    async def __call__(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make *call*, late."""
        delay = self._seconds()
        await asyncio.sleep(delay / 2)
        answer = call(*args, **kwargs)
        await asyncio.sleep(delay / 2)
        return answer
