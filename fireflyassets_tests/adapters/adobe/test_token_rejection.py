"""Tokens that a service refused: replaced once, for all who heard it."""

import asyncio
import threading
from datetime import timedelta

import pytest

from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.ports.tokens import StoredToken
from fireflyassets_tests.adapters.adobe.bench import FakeClock
from fireflyassets_tests.adapters.adobe.token_bench import ENTRY, TokenService, ims


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


def test_a_service_that_refuses_now_and_then_makes_no_storm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After three replacements within the hour the token in hand stays, and one line says so."""
    service, clock = TokenService(), FakeClock()
    tokens = ims(service, MemoryTokens(clock), clock)

    async def every_other_call_refused(calls: int) -> None:
        for _ in range(calls):
            token = await tokens.token()
            assert isinstance(token, str)
            tokens.accepted(token)
            await tokens.replacement(token)

    async def hours() -> None:
        await every_other_call_refused(50)
        assert service.granted == 4
        assert await tokens.token() == "TOK-4"
        clock.pass_time(timedelta(hours=1))
        await every_other_call_refused(1)
        assert service.granted == 5

    asyncio.run(hours())

    said = [one for one in caplog.records if one.levelname == "ERROR"]
    assert len(said) == 1
    assert "TOK" not in said[0].getMessage()


class LateStore(MemoryTokens):
    """A store whose answer to a read travels until it is let through."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.reading = threading.Event()
        self.through = threading.Event()
        self.dropped = threading.Event()

    def drop(self, entry: str, token: str) -> None:
        """Forget, and say so."""
        super().drop(entry, token)
        self.dropped.set()

    def read(self, entry: str) -> StoredToken | None:
        """Read now, answer later."""
        stored = super().read(entry)
        self.reading.set()
        assert self.through.wait(10)
        return stored


@pytest.mark.parametrize("joined", [True, False])
def test_flight_that_read_before_the_drop_is_flown_again(*, joined: bool) -> None:
    """A flight that brings back the very token that was rejected meanwhile does not serve."""
    service, clock = TokenService(), FakeClock()
    store = LateStore(clock)
    store.write(ENTRY, StoredToken("OLD", clock.now() + timedelta(hours=1)))
    tokens = ims(service, store, clock)

    async def race() -> list[str | NoToken]:
        other = asyncio.ensure_future(tokens.token())
        assert await asyncio.to_thread(store.reading.wait, 10)
        rejecting = asyncio.ensure_future(tokens.replacement("OLD"))
        if joined:
            assert await asyncio.to_thread(store.dropped.wait, 10)
            await asyncio.to_thread(int)  # By now the drop's answer is back as well.
        store.through.set()
        return [await other, await rejecting, await tokens.token()]

    assert asyncio.run(race()) == ["OLD", "TOK-1", "TOK-1"]
