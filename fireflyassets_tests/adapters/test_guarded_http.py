"""The door to strangers. Here: real sockets, odd servers, names that change where they lead."""

import asyncio
import gzip
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.guarded_http import (
    HEAD_BYTES,
    Answer,
    Guard,
    GuardedHttp,
    Unreachable,
)
from fireflyassets_tests.adapters import strange_servers as servers
from fireflyassets_tests.adapters.strange_servers import Behaviour, Stranger, listening, saying

BODY = '{"a":"🌿 \u2028 </script>","b":1.0}'.encode()
HERE = Guard(trusted=("127.0.0.1",))
SOON = timedelta(seconds=0.4)


def exchange(
    behave: Behaviour, *, guard: Guard = HERE, url: str = "http://127.0.0.1:{port}/in?x=1"
) -> tuple[Answer | str, Stranger]:
    """Post once to a stranger; return the answer, or why there was none."""

    async def run() -> tuple[Answer | str, Stranger]:
        async with listening(behave) as stranger:
            http = GuardedHttp(guard, deadline=SOON)
            try:
                to = url.format(port=stranger.port)
                return await http.post(to, BODY, {"webhook-id": "evt_1"}), stranger
            except Unreachable as error:
                return str(error), stranger
            finally:
                await http.close()

    return asyncio.run(run())


def test_the_bytes_that_are_given_are_the_bytes_that_are_sent() -> None:
    told, stranger = exchange(saying(204))

    assert isinstance(told, Answer)
    assert told.status == 204
    (request,) = stranger.requests
    assert request.startswith(b"POST /in?x=1 HTTP/1.1\r\n")
    assert request.endswith(b"\r\n\r\n" + BODY)


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/", "https://elsewhere.example/", "/in"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int, location: str) -> None:
    """Neither to another host nor to itself: the answer is told as it is."""
    told, stranger = exchange(saying(status, Location=location))

    assert isinstance(told, Answer)
    assert told.status == status
    assert len(stranger.requests) == 1


def test_a_200_without_end_is_read_to_its_bound() -> None:
    told, _ = exchange(servers.endless)

    assert isinstance(told, Answer)
    assert (told.status, len(told.head)) == (200, HEAD_BYTES)


def test_a_gzip_bomb_is_never_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)

    told, stranger = exchange(saying(200, bomb, Content_Encoding="gzip"))

    assert isinstance(told, Answer)
    assert told.head == bomb[:HEAD_BYTES]
    assert b"Accept-Encoding: identity" in stranger.requests[0]


@pytest.mark.parametrize("behave", [servers.hanging, servers.dripping])
def test_who_says_nothing_or_drips_is_left_at_the_deadline(behave: Behaviour) -> None:
    told, _ = exchange(behave)

    assert told == "No answer within 0.4 seconds."


def test_a_status_counts_though_its_body_drips() -> None:
    """The bytes behind it are for the log alone."""
    told, _ = exchange(servers.dripping_body)

    assert isinstance(told, Answer)
    assert told.status == 200
    assert 0 < len(told.head) < HEAD_BYTES


def test_what_is_no_http_is_no_answer() -> None:
    told, _ = exchange(servers.babbling)

    assert told == "The answer is no HTTP."


def test_a_retry_after_is_told() -> None:
    told, _ = exchange(saying(429, b"later", Retry_After="120"))

    assert told == Answer(429, "120", b"later")


def leads_to(*addresses: str) -> Callable[[str], Awaitable[list[str]]]:
    """Return a resolver that answers with one address after the other, the last for ever."""
    left = list(addresses)

    async def resolve(_: str) -> list[str]:
        return (left.pop(0) if len(left) > 1 else left[0]).split()

    return resolve


@pytest.mark.parametrize("first", ["127.0.0.1", "8.8.8.8 127.0.0.1", "::ffff:127.0.0.1"])
def test_a_name_that_leads_inside_is_not_dialled(first: str) -> None:
    """One inner address among public ones is enough: nobody chooses which is dialled."""
    guard = Guard(resolve=leads_to(first))

    told, stranger = exchange(saying(200), guard=guard, url="https://hooks.example.com:8443/")

    assert told == "The host is not on the public internet."
    assert stranger.connections == 0
    assert asyncio.run(guard.problem("https://hooks.example.com/"))


def test_a_name_that_leads_elsewhere_after_it_was_judged_is_not_followed() -> None:
    """Rebinding: public while it is registered, inner when it is dialled."""
    guard = Guard(resolve=leads_to("8.8.8.8", "127.0.0.1"))
    assert asyncio.run(guard.problem("https://hooks.example.com/")) is None

    told, _ = exchange(saying(200), guard=guard, url="https://hooks.example.com/")

    assert told == "The host is not on the public internet."


def test_a_request_resolves_its_name_once() -> None:
    """The address that was judged is dialled; a second look might see another one."""
    asked: list[str] = []

    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    guard = Guard(trusted=("receiver.test",), resolve=resolve)
    told, _ = exchange(saying(200), guard=guard, url="http://receiver.test:{port}/")

    assert isinstance(told, Answer)
    assert asked == ["receiver.test"]


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    """Of those that were judged: a host may have one for each family."""
    guard = Guard(trusted=("receiver.test",), resolve=leads_to("127.0.0.2 127.0.0.1"))

    told, _ = exchange(saying(200), guard=guard, url="http://receiver.test:{port}/")

    assert isinstance(told, Answer)


def test_a_name_without_an_address_is_refused() -> None:
    async def resolve(_: str) -> list[str]:
        raise OSError

    problem = asyncio.run(Guard(resolve=resolve).problem("https://nowhere.example/"))

    assert problem is not None


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a server's side for *name*, and a client's side that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = SystemClock().now()
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "pair.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(
        cadata=made.public_bytes(serialization.Encoding.PEM).decode()
    )


@pytest.mark.parametrize(
    ("named", "trusts", "passes"),
    [("receiver.test", True, True), ("other.test", True, False), ("receiver.test", False, False)],
)
def test_the_certificate_must_be_of_the_name(
    tmp_path: Path, named: str, *, trusts: bool, passes: bool
) -> None:
    """Though an address is dialled; and nothing of a request goes to a server that is not it."""
    server, client = certificate(tmp_path, named)
    guard = Guard(trusted=("receiver.test",), resolve=leads_to("127.0.0.1"))

    async def run() -> tuple[Answer | str, Stranger]:
        async with listening(saying(200), tls=server) as stranger:
            http = GuardedHttp(guard, authorities=client if trusts else None)
            try:
                url = f"https://receiver.test:{stranger.port}/"
                return await http.post(url, BODY, {}), stranger
            except Unreachable as error:
                return str(error), stranger
            finally:
                await http.close()

    told, stranger = asyncio.run(run())

    assert isinstance(told, Answer) == passes
    assert passes or str(told).startswith("The certificate was not accepted")
    assert len(stranger.requests) == passes
