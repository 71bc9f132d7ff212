"""Tokens: minted rarely, shared widely, renewed early."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.ports.tokens import StoredToken
from fireflyassets_tests.adapters.adobe.bench import (
    FakeClock,
    error,
)
from fireflyassets_tests.adapters.adobe.token_bench import ENTRY, TokenService, ims, settle


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


def test_stored_token_is_used_after_a_restart() -> None:
    """A new process finds the token of the one before it."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    store.write(ENTRY, StoredToken("KEPT", clock.now() + timedelta(hours=1)))

    assert asyncio.run(ims(service, store, clock).token()) == "KEPT"
    assert service.granted == 0


def test_caller_that_gives_up_leaves_the_flight_to_others() -> None:
    """Cancelling one waiter neither stops the token request nor starts another."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def impatient() -> str | NoToken:
        service.open.clear()
        first, second = (asyncio.ensure_future(tokens.token()) for _ in range(2))
        await service.asked.wait()
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
        await service.asked.wait()
        await tokens.aclose()
        await asyncio.gather(call, return_exceptions=True)
        return call.cancelled()

    assert asyncio.run(close())


def test_failed_mint_leaves_the_lock_to_others() -> None:
    """Another process that finds no token asks at once, not after the lock's life."""
    service, clock = TokenService(*(error(503, {}) for _ in range(3))), FakeClock()
    store = MemoryTokens(clock)

    async def two() -> tuple[str | NoToken, str | NoToken]:
        return await ims(service, store, clock).token(), await ims(service, store, clock).token()

    first, second = asyncio.run(two())

    assert isinstance(first, NoToken)
    assert second == "TOK-1"
    assert sum(clock.waits, timedelta()) < timedelta(seconds=5)


def test_throttled_mint_keeps_the_lock() -> None:
    """When the token service asks us to wait, the other processes wait, too."""
    service, clock = TokenService(error(429, {}, {"Retry-After": "30"})), FakeClock()
    store = MemoryTokens(clock)

    asyncio.run(ims(service, store, clock).token())

    assert store.lock(ENTRY, life=timedelta(seconds=1)) is None


def test_cancelled_mint_leaves_the_lock_to_others() -> None:
    """A process that stops while it asks gives the right back."""
    service, clock = TokenService(), FakeClock()
    store = MemoryTokens(clock)
    tokens = ims(service, store, clock)

    async def close() -> None:
        service.open.clear()
        tokens.warm()
        await service.asked.wait()
        await tokens.aclose()

    asyncio.run(close())

    assert store.lock(ENTRY, life=timedelta(seconds=1)) is not None


def test_warmed_token_waits_for_the_first_call() -> None:
    """A start fetches the token before anybody asks, once."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def start() -> str | NoToken:
        tokens.warm()
        tokens.warm()
        await settle(tokens)
        tokens.warm()
        return await tokens.token()

    assert asyncio.run(start()) == "TOK-1"
    assert len(service.requests) == 1


def test_a_day_of_calls_hits_the_cache() -> None:
    """More than 99 % of the calls of a slow day, renewals included, ask nobody for a token."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def day() -> None:
        tokens.warm()
        for _ in range(48 * 60):
            await tokens.token()
            await settle(tokens)
            clock.pass_time(timedelta(minutes=1))

    asyncio.run(day())

    assert service.granted == 3
    assert tokens.counts.hit_ratio > 0.99


def rotating(*answers: httpx.Response) -> tuple[TokenService, str | NoToken]:
    """Ask once with two secrets alive."""
    both = {"ACME_ID": "acme", "ACME_SECRET": "NEWMARK=+1", "ACME_SECRET_OLDER": "OLDMARK"}
    service, clock = TokenService(*answers), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock, secrets=EnvironmentSecrets(both))
    return service, asyncio.run(tokens.token())


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (401, "invalid_client"),
        (400, "invalid_client"),
        (400, "invalid_client_secret"),
        (400, "access_denied"),
        (401, ""),
    ],
)
def test_older_secret_serves_where_the_newer_is_not_known(status: int, word: str) -> None:
    """In a rotation the newer secret is tried first, the older one where that is refused."""
    service, token = rotating(error(status, {"error": word}))

    assert token == "TOK-1"
    sent = [request.content.decode() for request in service.requests]
    assert ["NEWMARK" in body for body in sent] == [True, False]
    assert ["OLDMARK" in body for body in sent] == [False, True]


def test_older_secret_is_no_answer_to_other_refusals() -> None:
    """A wrong scope or an outage is not answered with another secret."""
    service, token = rotating(error(400, {"error": "invalid_scope"}))

    assert isinstance(token, NoToken)
    assert len(service.requests) == 1


def test_no_secret_of_a_rotation_is_echoed() -> None:
    """Whatever the token service quotes, neither secret reaches a fault."""
    said = {"error": "invalid_client", "error_description": "NEWMARK=+1 NEWMARK%3D%2B1 OLDMARK"}

    _, token = rotating(error(401, said), error(401, said))

    assert isinstance(token, NoToken)
    assert "MARK" not in repr(token)
