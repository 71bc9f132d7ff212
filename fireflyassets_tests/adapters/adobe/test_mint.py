"""The token request: its form, its few repeats, and which answers grant a token."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import pytest

from fireflyassets.adapters.adobe.exchange import Exchange
from fireflyassets.adapters.adobe.hosts import AllowedHosts
from fireflyassets.adapters.adobe.mint import NoToken, TokenDesk
from fireflyassets.adapters.adobe.transport import open_client
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets_tests.adapters.adobe.bench import (
    FakeClock,
    error,
)
from fireflyassets_tests.adapters.adobe.token_bench import ENTRY, TokenService, ims


def test_secret_travels_in_the_body() -> None:
    """The request has the four fields in its form body, and nothing in its URL."""
    service, clock = TokenService(), FakeClock()

    asyncio.run(ims(service, MemoryTokens(clock), clock).token())

    request = service.requests[0]
    assert request.extensions["target"] == b"/ims/token/v3"
    assert parse_qs(request.content.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["acme-client"],
        "client_secret": ["SECMARK-0123456789"],
        "scope": ["openid,firefly_api"],
    }
    assert "authorization" not in request.headers


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_trouble_is_asked_again(status: int) -> None:
    """429 and 5xx of the token service are asked again, after a growing wait."""
    service, clock = TokenService(error(status, {}), error(status, {})), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    assert asyncio.run(tokens.token()) == "TOK-1"
    assert clock.waits == [timedelta(seconds=0.75), timedelta(seconds=1.5)]


def test_silence_is_asked_again() -> None:
    """A connection that fails counts as passing trouble."""
    service, clock = TokenService(httpx.ConnectError("x"), httpx.ReadTimeout("x")), FakeClock()

    assert asyncio.run(ims(service, MemoryTokens(clock), clock).token()) == "TOK-1"


def test_asking_is_not_endless() -> None:
    """After three answers of trouble the caller hears it, with how long to wait."""
    service, clock = TokenService(*(error(503, {}) for _ in range(9))), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def twice() -> list[str | NoToken]:
        return [await tokens.token(), await tokens.token()]

    first, second = asyncio.run(twice())

    assert isinstance(first, NoToken)
    assert classify(first.fault) is FailureClass.TRANSIENT
    assert first.retry_after is not None
    assert isinstance(second, NoToken)
    assert len(service.requests) == 3


def test_short_retry_after_is_kept_and_a_long_one_is_passed_on() -> None:
    """The token service's own wait is honoured; one too long to sit out goes to the caller."""
    short, clock = TokenService(error(429, {}, {"Retry-After": "3"})), FakeClock()
    assert asyncio.run(ims(short, MemoryTokens(clock), clock).token()) == "TOK-1"
    assert clock.waits == [timedelta(seconds=3)]

    long, clock = TokenService(error(429, {}, {"Retry-After": "120"})), FakeClock()
    refused = asyncio.run(ims(long, MemoryTokens(clock), clock).token())
    assert isinstance(refused, NoToken)
    assert refused.retry_after == timedelta(seconds=120)
    assert len(long.requests) == 1


def test_refusal_is_final_for_a_while() -> None:
    """A wrong secret is asked once, not with every call; after half a minute again."""
    wrong = error(
        401, {"error": "invalid_client", "error_description": "acme-client SECMARK-0123456789"}
    )
    service, clock = TokenService(wrong), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def calls() -> list[str | NoToken]:
        refused = [await tokens.token() for _ in range(10)]
        clock.pass_time(timedelta(minutes=1))
        return [*refused, await tokens.token()]

    *refused, last = asyncio.run(calls())

    assert all(isinstance(one, NoToken) for one in refused)
    assert "SECMARK" not in repr(refused)
    assert last == "TOK-1"
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"access_token": "a"},
        {"access_token": "", "expires_in": 60},
        {"access_token": "a b", "expires_in": 60},
        {"access_token": "a\r\nX-Evil: 1", "expires_in": 60},
        {"access_token": "\u00e9", "expires_in": 60},
        {"access_token": 7, "expires_in": 60},
        {"access_token": "a", "expires_in": 0},
        {"access_token": "a", "expires_in": -1},
        {"access_token": "a", "expires_in": True},
        {"access_token": "a", "expires_in": "60"},
    ],
)
def test_unusable_grant_is_no_token(body: object) -> None:
    """A token that fits no header, or has no life, is not used."""
    service, clock = TokenService(httpx.Response(200, json=body)), FakeClock()

    refused = asyncio.run(ims(service, MemoryTokens(clock), clock).token())

    assert isinstance(refused, NoToken)
    assert refused.fault.code == "bad_token_answer"


@pytest.mark.parametrize("seconds", ["9" * 400, "1e400", "604801"])
def test_endless_life_is_bounded(seconds: str) -> None:
    """A life of hundreds of digits does not break the arithmetic; a week is the most."""
    text = f'{{"access_token": "a", "expires_in": {seconds}}}'
    service, clock = TokenService(httpx.Response(200, text=text)), FakeClock()
    store = MemoryTokens(clock)

    assert asyncio.run(ims(service, store, clock).token()) == "a"
    stored = store.read(ENTRY)
    assert stored is not None
    assert stored.expires_at - clock.now() == timedelta(days=7)


def test_life_that_is_no_number_is_no_life() -> None:
    """JSON's NaN is not taken for a time."""
    text = '{"access_token": "a", "expires_in": NaN}'
    service, clock = TokenService(httpx.Response(200, text=text)), FakeClock()

    assert isinstance(asyncio.run(ims(service, MemoryTokens(clock), clock).token()), NoToken)


def test_token_service_elsewhere_is_refused() -> None:
    """The secret is not sent to a host that is not on the list."""
    clock = FakeClock()
    with pytest.raises(UnusableConfiguration):
        TokenDesk(
            base_url="https://ims.evil.com",
            exchange=Exchange(open_client(httpx.MockTransport(TokenService())), most_bytes=1),
            hosts=AllowedHosts(["*.adobelogin.com"]),
            clock=clock,
            chance=lambda: 0.0,
        )
