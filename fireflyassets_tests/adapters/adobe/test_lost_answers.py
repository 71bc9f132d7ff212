"""Real connections that fail: what was certainly not sent, and what may have been."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from datetime import timedelta

import httpx
import pytest

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange, NoAnswer
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.transport import open_client, open_transport
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.ports.paid import NotAccepted, OutcomeLost, PollFailed, Submission
from fireflyassets.ports.tokens import StoredToken
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.loopback import (
    granting,
    paid_requests,
    saying,
    settings_for,
)
from fireflyassets_tests.adapters.adobe.raw_server import (
    HOST,
    Behaviour,
    Connection,
    RawServer,
    closed_port,
    raw_server,
)

SHORT = 1.0
DAY = timedelta(days=1)


def reset(connection: Connection, _: bytes) -> None:
    connection.reset()


def close(connection: Connection, _: bytes) -> None:
    connection.socket.shutdown(socket.SHUT_RDWR)


def hang(connection: Connection, _: bytes) -> None:
    connection.hang()


def half_an_answer(connection: Connection, _: bytes) -> None:
    connection.socket.sendall(b'HTTP/1.1 202 Accepted\r\nContent-Length: 500\r\n\r\n{"jobId"')
    connection.socket.shutdown(socket.SHUT_RDWR)


def half_then_silence(connection: Connection, _: bytes) -> None:
    connection.socket.sendall(b'HTTP/1.1 202 Accepted\r\nContent-Length: 500\r\n\r\n{"jobId"')
    connection.hang()


def garbage(connection: Connection, _: bytes) -> None:
    connection.socket.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    connection.socket.shutdown(socket.SHUT_RDWR)


def bad_gzip(connection: Connection, _: bytes) -> None:
    connection.answer("202 Accepted", b"not gzip", "Content-Encoding: gzip")


def submit(behave: Behaviour, *, seconds: float) -> tuple[Submission, RawServer]:
    clock = bench.FakeClock()
    store = MemoryTokens(clock)
    store.write("acme-client#firefly_api,openid", StoredToken("TOKMARK", clock.now() + DAY))
    with raw_server(behave) as server:
        outcome = bench.run(
            lambda clients: clients.images.generate(bench.GENERATE),
            configured=settings_for(server, seconds=seconds),
            clock=clock,
            store=store,
        )
    return outcome, server


@pytest.mark.parametrize(
    ("behave", "seconds"),
    [
        (reset, 20),
        (close, 20),
        (half_an_answer, 20),
        (garbage, 20),
        (bad_gzip, 20),
        (hang, SHORT),
        (half_then_silence, SHORT),
    ],
)
def test_silence_after_the_request_is_a_lost_outcome(behave: Behaviour, seconds: float) -> None:
    """The call was read, so whatever happens to its answer leaves the outcome unknown."""
    outcome, server = submit(behave, seconds=seconds)

    assert isinstance(outcome, OutcomeLost)
    assert len(paid_requests(server)) == 1


def test_drip_feed_does_not_outlive_the_timeout() -> None:
    """An answer that comes byte by byte ends at the submit's own deadline, as lost."""

    def drip(connection: Connection, _: bytes) -> None:
        connection.socket.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 500\r\n\r\n")
        while not connection.stopped.wait(0.02):
            connection.socket.sendall(b"x")

    outcome, _ = submit(drip, seconds=SHORT)

    assert isinstance(outcome, OutcomeLost)


def test_refused_connection_is_not_accepted() -> None:
    """Nobody listened, so nobody took the job."""
    with raw_server(granting(reset)) as server:
        configured = bench.settings(
            [server.host, f"{HOST}:{closed_port()}"], base=server.url, submit_seconds="5"
        )
        nowhere = configured.model_copy(
            update={"firefly_url": f"http://{configured.adobe_hosts[1]}"}
        )
        outcome = bench.run(
            lambda clients: clients.images.generate(bench.GENERATE), configured=nowhere
        )

    assert isinstance(outcome, NotAccepted)
    assert outcome.fault.code == "connect_error"


def test_token_service_that_hangs_is_not_accepted() -> None:
    """The deadline holds for the token too, and then nothing was sent."""
    with raw_server(hang) as server:
        outcome = bench.run(
            lambda clients: clients.images.generate(bench.GENERATE),
            configured=settings_for(server, seconds=SHORT),
        )

    assert isinstance(outcome, NotAccepted)
    assert outcome.fault.code == "no_token_in_time"
    assert paid_requests(server) == []


def test_poll_that_gets_no_answer_just_failed() -> None:
    """A question costs nothing: it is asked again later."""
    with raw_server(granting(reset)) as server:
        url = f"{server.url}/v3/status/1"
        poll = bench.run(lambda clients: clients.images.poll(url), configured=settings_for(server))

    assert isinstance(poll, PollFailed)


Use = Callable[[Exchange], Awaitable[Answer | NoAnswer]]


def exchanged(use: Use, *, connections: int = 10) -> Answer | NoAnswer:
    async def main() -> Answer | NoAnswer:
        context = httpx.create_ssl_context(trust_env=False)
        transport = open_transport(context, connections=connections)
        exchange = Exchange(open_client(transport), most_bytes=1000)
        try:
            return await use(exchange)
        finally:
            await exchange.aclose()

    return asyncio.run(main())


def call_to(url: str, *, content: bytes = b"{}") -> Call:
    address = parse_address(url)
    assert address is not None
    return Call("POST", address, content=content, fresh=True)


def until(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def test_handshake_that_hangs_has_sent_nothing() -> None:
    """Before TLS stands, no byte of the request is out."""
    with raw_server(hang, on_accept=True) as server:
        url = f"https://{server.host}/x"
        reply = exchanged(lambda exchange: exchange.send(call_to(url), until=until(SHORT)))

    assert isinstance(reply, NoAnswer)
    assert not reply.sent


def test_full_pool_has_sent_nothing() -> None:
    """Who waits for a connection until the deadline has not sent; who holds it has."""
    with raw_server(hang) as server:

        async def both(exchange: Exchange) -> Answer | NoAnswer:
            first = asyncio.ensure_future(
                exchange.send(call_to(f"{server.url}/1"), until=until(2 * SHORT))
            )
            await server.arrivals(1)
            second = await exchange.send(call_to(f"{server.url}/2"), until=until(SHORT))
            held = await first
            assert isinstance(held, NoAnswer)
            assert held.sent
            return second

        reply = exchanged(both, connections=1)

    assert isinstance(reply, NoAnswer)
    assert not reply.sent
    assert server.targets() == ["/1"]


def test_write_that_stops_half_way_has_sent() -> None:
    """A body that is stuck at the deadline counts as sent: the server may have read enough."""
    with raw_server(hang, on_accept=True) as server:
        call = call_to(f"{server.url}/x", content=b"x" * 30_000_000)
        reply = exchanged(lambda exchange: exchange.send(call, until=until(SHORT)))

    assert reply == NoAnswer("no_answer", sent=True)


def test_write_that_is_reset_has_sent() -> None:
    """So does one that breaks while it is written."""

    def read_some_and_reset(connection: Connection, _: bytes) -> None:
        connection.socket.recv(1024)
        connection.reset()

    with raw_server(read_some_and_reset, on_accept=True) as server:
        call = call_to(f"{server.url}/x", content=b"x" * 30_000_000)
        reply = exchanged(lambda exchange: exchange.send(call, until=until(5)))

    assert reply == NoAnswer("connection_lost", sent=True)


def test_early_refusal_of_a_long_body_is_heard() -> None:
    """A server that answers and closes in the middle of our body is understood, if it says so."""

    def refuse(connection: Connection, _: bytes) -> None:
        connection.socket.recv(1024)
        connection.answer("413 Too Large", b"<html>", "Connection: close")
        connection.socket.shutdown(socket.SHUT_WR)
        while connection.socket.recv(65536):
            pass

    with raw_server(refuse, on_accept=True) as server:
        call = call_to(f"{server.url}/x", content=b"x" * 3_000_000)
        reply = exchanged(lambda exchange: exchange.send(call, until=until(10)))

    assert isinstance(reply, Answer)
    assert reply.status == 413


def test_answer_without_end_is_cut() -> None:
    """An answer larger than any honest one is not read to its end."""
    with raw_server(saying("200 OK", {"x": "y" * 5000})) as server:
        url = f"{server.url}/x"
        reply = exchanged(lambda exchange: exchange.send(call_to(url), until=until(5)))

    assert reply == NoAnswer("oversized", sent=True)


def test_deadline_in_the_past_sends_nothing() -> None:
    """A call that is late before it starts does not start."""
    adobe = bench.ScriptedAdobe(bench.answering(bench.accepted()))

    async def late() -> Answer | NoAnswer:
        exchange = Exchange(open_client(adobe.transports.adobe), most_bytes=1000)
        return await exchange.send(call_to("https://x.adobe.io/x"), until=until(-1))

    assert asyncio.run(late()) == NoAnswer("no_answer", sent=False)
    assert adobe.seen == []


def test_cancelled_submit_passes_the_cancellation_on() -> None:
    """Who cancels a submit hears no answer, and the connection is closed."""
    with raw_server(granting(hang)) as server:

        async def cancel(clients: bench.AdobeClients) -> bool:
            task = asyncio.ensure_future(clients.images.generate(bench.GENERATE))
            await server.arrivals(2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return task.cancelled()

        assert bench.run(cancel, configured=settings_for(server))
