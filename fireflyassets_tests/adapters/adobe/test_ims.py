"""Tokens: minted rarely, shared widely, renewed early."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import pytest

from fireflyassets.adapters.adobe.exchange import Exchange
from fireflyassets.adapters.adobe.hosts import AllowedHosts
from fireflyassets.adapters.adobe.ims import Ims
from fireflyassets.adapters.adobe.mint import NoToken, TokenDesk
from fireflyassets.adapters.adobe.transport import open_client
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.tokens import StoredToken, TokenStore
from fireflyassets_tests.adapters.adobe.bench import (
    CREDENTIAL,
    SECRETS,
    FakeClock,
    error,
    grant,
)

BASE = "https://ims-na1.adobelogin.com"
ENTRY = "acme-client#firefly_api,openid"


class TokenService:
    """A token service that grants TOK-1, TOK-2 and so on, or first gives scripted answers."""

    def __init__(self, *first: httpx.Response | Exception, seconds: float = 86_399) -> None:
        self.first = list(first)
        self.seconds = seconds
        self.requests: list[httpx.Request] = []
        self.granted = 0
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        await self.open.wait()
        if self.first:
            answer = self.first.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        self.granted += 1
        return grant(f"TOK-{self.granted}", seconds=self.seconds)


def ims(service: TokenService, store: TokenStore, clock: FakeClock, *, chance: float = 0.5) -> Ims:
    exchange = Exchange(open_client(httpx.MockTransport(service)), most_bytes=10_000)
    desk = TokenDesk(
        base_url=BASE,
        exchange=exchange,
        hosts=AllowedHosts(["*.adobelogin.com"]),
        clock=clock,
        chance=lambda: chance,
    )
    return Ims(
        client_id="acme-client",
        scopes=CREDENTIAL.scopes,
        secret=(SECRETS, CREDENTIAL.secret),
        store=store,
        desk=desk,
        clock=clock,
        chance=lambda: chance,
    )


async def settle(tokens: Ims) -> None:
    """Let a renewal in the background come to its end."""
    while tokens._flight is not None:
        await asyncio.wait({tokens._flight})
        await asyncio.sleep(0)


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


def test_many_callers_share_one_mint() -> None:
    """Two hundred calls at once lead to one token request, and later ones to none."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def storm() -> list[str | NoToken]:
        first = await asyncio.gather(*(tokens.token() for _ in range(200)))
        return [*first, await tokens.token()]

    assert set(asyncio.run(storm())) == {"TOK-1"}
    assert service.granted == 1
    assert tokens.counts.mints == 1
    assert tokens.counts.calls == 201
    assert tokens.counts.hit_ratio == pytest.approx(200 / 201)


def test_processes_share_one_mint() -> None:
    """Of several processes one asks; the others wait for its token in the shared store."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    fleet = [ims(service, store, clock) for _ in range(5)]

    async def start() -> list[str | NoToken]:
        return await asyncio.gather(*(one.token() for one in fleet))

    assert set(asyncio.run(start())) == {"TOK-1"}
    assert service.granted == 1


def test_dead_process_s_lock_is_waited_out() -> None:
    """A process that died while asking delays the others by its lock's life, no longer."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    store.lock(ENTRY, life=timedelta(seconds=20))
    begun = clock.now()

    assert asyncio.run(ims(service, store, clock).token()) == "TOK-1"
    assert timedelta(seconds=20) <= clock.now() - begun <= timedelta(seconds=21)


@pytest.mark.parametrize(("chance", "early"), [(0.0, 13.5), (0.5, 15.0), (0.999, 16.5)])
def test_token_is_renewed_a_quarter_of_an_hour_early(chance: float, early: float) -> None:
    """Renewal starts 15 minutes before the end, give or take a tenth by chance."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock, chance=chance)
    end = clock.now() + timedelta(seconds=86_399)

    async def around() -> list[int]:
        await tokens.token()
        seen = []
        for offset in (-5, 5):
            clock.pass_time(
                end - timedelta(minutes=early) - clock.now() + timedelta(seconds=offset)
            )
            await tokens.token()
            await settle(tokens)
            seen.append(service.granted)
        return seen

    assert asyncio.run(around()) == [1, 2]


def test_old_token_serves_while_a_new_one_is_fetched() -> None:
    """A renewal under way makes nobody wait."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def renew() -> list[str | NoToken]:
        seen = [await tokens.token()]
        clock.pass_time(timedelta(hours=23, minutes=50))
        service.open.clear()
        seen += [await tokens.token(), await tokens.token()]
        service.open.set()
        await settle(tokens)
        return [*seen, await tokens.token()]

    assert asyncio.run(renew()) == ["TOK-1", "TOK-1", "TOK-1", "TOK-2"]
    assert service.granted == 2


def test_renewal_of_another_process_is_taken_over() -> None:
    """Who comes second to renew finds the first one's token and asks for none."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    first, second = ims(service, store, clock, chance=0.9), ims(service, store, clock, chance=0.1)

    async def renew() -> str | NoToken:
        await first.token()
        await second.token()
        clock.pass_time(timedelta(hours=23, minutes=55))
        await first.token()
        await settle(first)
        await second.token()
        await settle(second)
        return await second.token()

    assert asyncio.run(renew()) == "TOK-2"
    assert service.granted == 2


def test_failed_renewal_leaves_the_old_token_in_use() -> None:
    """As long as the old token lives, an outage of the token service is nobody's trouble."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def outage() -> list[str | NoToken]:
        seen = [await tokens.token()]
        clock.pass_time(timedelta(hours=23, minutes=50))
        service.first = [error(503, {}) for _ in range(3)]
        seen.append(await tokens.token())
        await settle(tokens)
        seen.append(await tokens.token())
        clock.pass_time(timedelta(minutes=1))
        await tokens.token()
        await settle(tokens)
        return [*seen, await tokens.token()]

    assert asyncio.run(outage()) == ["TOK-1", "TOK-1", "TOK-1", "TOK-2"]


def test_short_lives_do_not_make_a_storm() -> None:
    """A token of one minute is renewed in its last quarter, not at every call."""
    service, clock = TokenService(seconds=60), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def minute() -> None:
        for _ in range(40):
            await tokens.token()
            await settle(tokens)
            clock.pass_time(timedelta(seconds=1))

    asyncio.run(minute())

    assert service.granted == 1


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


def test_endless_life_is_bounded() -> None:
    """A life of hundreds of digits, or not a number, does not break the arithmetic."""
    for seconds in ("9" * 400, "1e400", "NaN"):
        text = f'{{"access_token": "a", "expires_in": {seconds}}}'
        service, clock = TokenService(httpx.Response(200, text=text)), FakeClock()
        store = MemoryTokens(clock)

        asyncio.run(ims(service, store, clock).token())

        stored = store.read(ENTRY)
        assert stored is None or stored.expires_at - clock.now() <= timedelta(days=7)


def test_stored_token_is_used_after_a_restart() -> None:
    """A new process finds the token of the one before it."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    store.write(ENTRY, StoredToken("KEPT", clock.now() + timedelta(hours=1)))

    assert asyncio.run(ims(service, store, clock).token()) == "KEPT"
    assert service.granted == 0


def test_rejected_token_is_replaced_once_for_all() -> None:
    """A hundred calls whose token was refused share one new one."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def storm() -> list[str | NoToken]:
        old = await tokens.token()
        assert isinstance(old, str)
        return await asyncio.gather(*(tokens.replacement(old) for _ in range(100)))

    assert set(asyncio.run(storm())) == {"TOK-2"}
    assert service.granted == 2


def test_late_rejection_does_not_drop_the_new_token() -> None:
    """Who hears of a 401 late gets the token that replaced the old one meanwhile."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def late() -> str | NoToken:
        old = await tokens.token()
        assert isinstance(old, str)
        await tokens.replacement(old)
        return await tokens.replacement(old)

    assert asyncio.run(late()) == "TOK-2"
    assert service.granted == 2


def test_token_revoked_after_use_is_replaced_again() -> None:
    """A replacement that was accepted once counts as any other token."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def revoked_twice() -> str | NoToken:
        first = await tokens.token()
        assert isinstance(first, str)
        second = await tokens.replacement(first)
        assert isinstance(second, str)
        tokens.accepted(second)
        return await tokens.replacement(second)

    assert asyncio.run(revoked_twice()) == "TOK-3"


def test_caller_that_gives_up_leaves_the_flight_to_others() -> None:
    """Cancelling one waiter neither stops the token request nor starts another."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def impatient() -> str | NoToken:
        service.open.clear()
        first, second = (asyncio.ensure_future(tokens.token()) for _ in range(2))
        while not service.requests:
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        service.open.set()
        return await second

    assert asyncio.run(impatient()) == "TOK-1"
    assert len(service.requests) == 1


def test_closing_stops_a_flight() -> None:
    """Nothing is left running after the clients are closed."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def close() -> bool:
        service.open.clear()
        call = asyncio.ensure_future(tokens.token())
        while not service.requests:
            await asyncio.sleep(0)
        await tokens.aclose()
        await asyncio.gather(call, return_exceptions=True)
        return call.cancelled()

    assert asyncio.run(close())


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
