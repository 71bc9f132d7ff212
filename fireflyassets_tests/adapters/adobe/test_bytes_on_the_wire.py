"""URLs we were given reach the wire byte for byte, over real sockets, and carry nothing extra."""

import asyncio
import string

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.adapters.adobe.exchange import Answer, Call, Exchange
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.transport import open_client, open_transport
from fireflyassets.ports.paid import Accepted, Fetched, Working
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.loopback import (
    granting,
    paid_requests,
    saying,
    settings_for,
)
from fireflyassets_tests.adapters.adobe.raw_server import Connection, raw_server

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64
TARGETS = [
    "/k/a%2Fb%2bc%20d/e+f?X-Amz-Credential=AKIA%2F20261130%2Fus-east-1&X-Amz-Signature=zz",
    "/k?b=2&a=1&a=0&empty=&novalue",
    "/a/../b/./c//d",
    "/k?next=https://x/?a=b&c=[1]{2}|3^4`5\\6",
    "/k?q=%e9%E9%zz",
    "/v3/status/urn:ff:jobs:epo854211:1;v=2@x!$&'()*,=",
    "/?",
    "/k?",
]
TARGET_LETTERS = st.text(
    st.sampled_from(string.ascii_letters + string.digits + "%/+.-_~:;?&=@!$'()*,[]{}|^`\\\"<>"),
    max_size=60,
)


def picture(connection: Connection, _: bytes) -> None:
    connection.answer("200 OK", PNG, "Content-Type: image/jpeg", "Set-Cookie: a=b; Path=/")


@pytest.mark.parametrize("target", TARGETS)
def test_result_url_goes_out_as_it_came(target: str) -> None:
    """The download's target equals the URL's, and no header of ours is beside it."""
    with raw_server(picture) as server:
        url = f"{server.url}{target}#fragment"
        fetched = bench.run(
            lambda clients: clients.results.fetch(url), configured=settings_for(server)
        )

    assert fetched == Fetched(PNG, "image/png")
    assert server.targets() == [target]
    head = server.requests[0].lower()
    for name in (
        b"authorization:",
        b"x-api-key:",
        b"x-request-id:",
        b"cookie:",
        b"accept-encoding: gzip",
    ):
        assert name not in head


@pytest.mark.parametrize("target", TARGETS)
def test_status_url_goes_out_as_it_came(target: str) -> None:
    """The poll's target equals the status URL's, with our headers beside it."""
    with raw_server(granting(saying("200 OK", {"status": "running"}))) as server:
        url = f"{server.url}{target}"
        poll = bench.run(lambda clients: clients.images.poll(url), configured=settings_for(server))

    assert poll == Working()
    assert server.targets()[-1] == target
    assert b"authorization: bearer tokmark-1\r\n" in server.requests[-1].lower()
    assert b"x-api-key: acme-client\r\n" in server.requests[-1].lower()


def test_any_target_goes_out_as_it_came() -> None:
    """Not only the awkward ones somebody thought of."""
    context = httpx.create_ssl_context(trust_env=False)
    with raw_server(picture) as server:

        @settings(max_examples=150, deadline=None, database=None)
        @given(TARGET_LETTERS)
        def check(tail: str) -> None:
            address = parse_address(f"{server.url}/{tail}")
            assert address is not None

            async def send() -> object:
                exchange = Exchange(open_client(open_transport(context)), most_bytes=1000)
                try:
                    until = asyncio.get_running_loop().time() + 10
                    return await exchange.send(Call("GET", address), until=until)
                finally:
                    await exchange.aclose()

            assert isinstance(asyncio.run(send()), Answer)
            assert server.targets()[-1] == f"/{tail}"

        check()


def test_the_library_alone_would_change_them() -> None:
    """The reason for the raw target: the library collapses dot segments and escapes letters."""
    for target in ("/a/../b", '/k?q="a"', "/k?q=a<b"):
        assert httpx.Request("GET", f"https://x{target}").url.raw_path != target.encode()


def test_paid_submits_take_fresh_connections_and_polls_share_one() -> None:
    """A submit never rides on an idle connection that the server may be closing just now."""
    link = {"jobId": "j", "statusUrl": "https://x.adobe.io/1"}

    def script(connection: Connection, request: bytes) -> None:
        body = link if request.startswith(b"POST") else {"status": "running"}
        saying("202 Accepted", body)(connection, request)

    async def use(clients: bench.AdobeClients, base: str) -> list[object]:
        before = [await clients.images.poll(f"{base}/v3/status/1") for _ in range(3)]
        return [*before, *[await clients.images.generate(bench.GENERATE) for _ in range(3)]]

    with raw_server(granting(script)) as server:
        answers = bench.run(
            lambda clients: use(clients, server.url), configured=settings_for(server)
        )

    assert [type(answer) for answer in answers] == [Working] * 3 + [Accepted] * 3
    assert len(paid_requests(server)) == 6
    assert server.connections == 4


def test_redirect_leaks_nothing() -> None:
    """Where an allowed host points elsewhere, nobody calls there, with or without a token."""
    with raw_server(picture) as elsewhere:
        away = saying("302 Found", {}, f"Location: {elsewhere.url}/steal")
        with raw_server(granting(away)) as server:
            url = f"{server.url}/v3/status/1"

            async def both(clients: bench.AdobeClients) -> None:
                await clients.images.poll(url)
                await clients.results.fetch(url)

            bench.run(both, configured=settings_for(server, elsewhere))

    assert elsewhere.requests == []


def test_dead_region_falls_back_to_the_base_host() -> None:
    """A refused connection to the job's own host is followed by the base host, same target."""
    with raw_server(granting(saying("200 OK", {"status": "running"}))) as server:
        with raw_server(picture) as gone:
            host, url = gone.host, f"{gone.url}/v3/status/urn:a:b?x=%2F"
        configured = bench.settings([server.host, host], base=server.url)
        poll = bench.run(lambda clients: clients.images.poll(url), configured=configured)

    assert poll == Working()
    assert server.targets()[-1] == "/v3/status/urn:a:b?x=%2F"
