"""Tokens that a service refused: replaced once, for all who heard it."""

import asyncio

from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets_tests.adapters.adobe.bench import (
    FakeClock,
)
from fireflyassets_tests.adapters.adobe.token_bench import TokenService, ims


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
