"""Connections: how many a crowd of polls opens, and what timeouts leave. Not here: contents."""

import asyncio
import random
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.transport import KEPT, open_client, open_transport
from fireflyassets_tests.adapters.adobe.raw_server import Connection, RawServer, raw_server

A_MOMENT = 0.01
"""In which others may come, or run out of time."""


class Slow:
    """Answers after a moment, and counts the calls that are with it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = self.peak = 0

    def __call__(self, connection: Connection, _: bytes) -> None:
        """Answer one call."""
        with self._lock:
            self._now += 1
            self.peak = max(self.peak, self._now)
        connection.stopped.wait(A_MOMENT)
        with self._lock:
            self._now -= 1
        with suppress(OSError):
            connection.answer("200 OK", b"{}")


Ask = Callable[[Sequence[float]], Awaitable[list[Answer | NoAnswer]]]
"""For how many seconds each of several calls at once may wait -> what came."""


def asked(server: RawServer, scenario: Callable[[Ask], Awaitable[int]]) -> int:
    """Run *scenario* with one client."""
    address = parse_address(f"{server.url}/v3/status/1")
    assert address is not None

    async def go() -> int:
        transport = open_transport(ssl.create_default_context())
        exchange = Exchange(open_client(transport), most_bytes=1000)

        async def ask(waits: Sequence[float]) -> list[Answer | NoAnswer]:
            now = asyncio.get_running_loop().time()
            calls = (exchange.send(Call("GET", address), until=now + wait) for wait in waits)
            return await asyncio.gather(*calls)

        try:
            return await scenario(ask)
        finally:
            await exchange.aclose()

    return asyncio.run(go())


async def answered(ask: Ask, count: int) -> int:
    """Return how many of so many patient calls at once get an answer."""
    return sum(isinstance(reply, Answer) for reply in await ask([20.0] * count))


def test_a_crowd_of_polls_shares_few_connections() -> None:
    """A stall must not open hundreds of connections: looking after them would make it last."""
    slow = Slow()
    with raw_server(slow) as server:
        assert asked(server, lambda ask: answered(ask, 300)) == 300
    assert slow.peak <= KEPT


def test_timeouts_use_up_no_connection() -> None:
    """Calls that end at their deadline in a busy process leave the pool as it was."""
    chance = random.Random(5)  # noqa: S311 - a reproducible draw.

    async def busy() -> None:
        while True:
            sum(range(500_000))
            await asyncio.sleep(0)

    async def storm(ask: Ask) -> int:
        others = asyncio.create_task(busy())
        for _ in range(20):
            await ask([chance.uniform(0.05, 0.4) for _ in range(KEPT)])
        others.cancel()
        return await answered(ask, 2 * KEPT)

    with raw_server(Slow()) as server:
        assert asked(server, storm) == 2 * KEPT
