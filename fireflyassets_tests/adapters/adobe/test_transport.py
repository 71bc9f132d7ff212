"""Connections: how many a crowd of polls opens. Not here: what goes over them."""

import asyncio
import ssl
from dataclasses import dataclass, field

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.transport import open_client, open_transport


@dataclass
class Slow:
    """A server that lets a crowd gather before it answers, and counts its connections."""

    open: int = 0
    peak: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer each request of one connection after a moment in which others may come."""
        self.open += 1
        self.peak = max(self.peak, self.open)
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            for _ in range(20):
                await asyncio.sleep(0)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        self.open -= 1
        if not self.open:
            self.left.set()


def test_a_crowd_of_polls_shares_few_connections() -> None:
    """A stall must not open hundreds of connections: looking after them would make it last."""

    async def crowd() -> tuple[int, int]:
        slow = Slow()
        server = await asyncio.start_server(slow.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        address = parse_address(f"http://127.0.0.1:{port}/v3/status/1")
        assert address is not None
        context = ssl.create_default_context()
        exchange = Exchange(open_client(open_transport(context)), most_bytes=1000)
        until = asyncio.get_running_loop().time() + 60
        replies = await asyncio.gather(
            *(exchange.send(Call("GET", address), until=until) for _ in range(300))
        )
        await exchange.aclose()
        await slow.left.wait()
        server.close()
        return slow.peak, sum(isinstance(reply, Answer) for reply in replies)

    peak, answered = asyncio.run(crowd())
    assert answered == 300
    assert peak <= 32
