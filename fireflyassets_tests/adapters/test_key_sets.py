"""Keys over HTTP. Here: how often the issuer is asked, and what of its answers counts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta
from threading import Event
from typing import cast

import httpx
import pytest

from fireflyassets.adapters.key_sets import FRESH, PATIENCE, FetchedKeys
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.core.errors import ServiceDown
from fireflyassets_tests.front_door import NOON

ISSUER = "https://issuer.example/pool"
KEYS = "https://issuer.example/pool/keys"
SET: dict[str, object] = {"keys": [{"kty": "EC", "kid": "one"}]}
DISCOVERY = {"issuer": ISSUER, "jwks_uri": KEYS}


class Issuer:
    """An issuer that counts what it is asked; its answers can be changed."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, Callable[[], httpx.Response]] = {
            f"{ISSUER}/.well-known/openid-configuration": lambda: httpx.Response(
                200, json=DISCOVERY
            ),
            KEYS: lambda: httpx.Response(200, json=SET),
        }

    def keys(self, clock: FakeClock, url: str | None = KEYS) -> FetchedKeys:
        return FetchedKeys(clock, issuer=ISSUER, url=url, transport=httpx.MockTransport(self))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(str(request.url))
        return self.answers[str(request.url)]()


def test_keys_are_remembered_for_an_hour() -> None:
    issuer, clock = Issuer(), FakeClock(NOON)
    keys = issuer.keys(clock)

    for _ in range(3):
        keys.key_set(having="one")
    clock.jump(FRESH + timedelta(seconds=1))
    keys.key_set(having="one")

    assert issuer.asked == [KEYS, KEYS]


def test_invented_key_ids_do_not_flood_the_issuer() -> None:
    """A stranger's tokens cost it one question in thirty seconds."""
    issuer, clock = Issuer(), FakeClock(NOON)
    keys = issuer.keys(clock)

    for number in range(50):
        keys.key_set(having=f"invented-{number}")
    clock.jump(PATIENCE)
    keys.key_set(having="invented-too")

    assert len(issuer.asked) == 2


def test_a_slow_issuer_keeps_nobody_waiting_whose_key_is_known() -> None:
    """A stranger's invented key id starts an ask; good tokens are read from memory meanwhile."""
    issuer, clock = Issuer(), FakeClock(NOON)
    keys = issuer.keys(clock)
    keys.key_set(having="one")
    asked, answered = Event(), Event()

    def late() -> httpx.Response:
        asked.set()
        answered.wait(60)
        return httpx.Response(200, json={"keys": [*known, {"kty": "EC", "kid": "two"}]})

    known = [{"kty": "EC", "kid": "one"}]
    issuer.answers[KEYS] = late
    clock.jump(PATIENCE)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(keys.key_set, having="two") for _ in range(2)]
        assert asked.wait(60)
        meanwhile = keys.key_set(having="one")
        answered.set()
        found = [one.result(60) for one in waiting]

    assert meanwhile == SET
    assert [len(cast("list[object]", one["keys"])) for one in found] == [2, 2]
    assert len(issuer.asked) == 2


def test_few_wait_for_a_slow_issuer() -> None:
    """The others hear 503 at once, so that invented key ids do not fill the server's threads."""
    issuer, clock = Issuer(), FakeClock(NOON)
    keys = issuer.keys(clock)
    answered = Event()

    def late() -> httpx.Response:
        answered.wait(60)
        return httpx.Response(200, json=SET)

    issuer.answers[KEYS] = late

    with ThreadPoolExecutor(20) as pool:
        asks = [pool.submit(keys.key_set, having="one") for _ in range(20)]
        told = as_completed(asks, timeout=60)
        refused = [next(told).exception() for _ in range(12)]
        answered.set()

    assert all(isinstance(one, ServiceDown) for one in refused)
    assert [one.exception() for one in asks].count(None) == 8


def test_keys_are_found_by_discovery() -> None:
    """Only where the document is of the very issuer that was named."""
    issuer, clock = Issuer(), FakeClock(NOON)

    assert issuer.keys(clock, url=None).key_set(having="one") == SET

    address = f"{ISSUER}/.well-known/openid-configuration"
    issuer.answers[address] = lambda: httpx.Response(200, json=DISCOVERY | {"issuer": "other"})
    with pytest.raises(ServiceDown):
        issuer.keys(clock, url=None).key_set(having="one")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(302, headers={"Location": KEYS}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"keys": []}),
        httpx.Response(200, json={"keys": "none"}),
        httpx.Response(200, content=b" " * 2_000_000),
    ],
    ids=["500", "redirect", "html", "a list", "no keys", "no list", "too long"],
)
def test_an_issuer_that_is_away_changes_nothing(answer: httpx.Response) -> None:
    """The last keys go on; where there are none, the API says that it can't tell: 503."""
    issuer, clock = Issuer(), FakeClock(NOON)
    keys = issuer.keys(clock)
    keys.key_set(having="one")
    issuer.answers[KEYS] = lambda: answer
    clock.jump(FRESH + timedelta(seconds=1))

    assert keys.key_set(having="one") == SET
    assert len(issuer.asked) == 2
    with pytest.raises(ServiceDown):
        issuer.keys(clock).key_set(having="one")


def test_keys_come_over_https() -> None:
    """Whoever sits on the line could else put in a key of their own."""
    issuer, clock = Issuer(), FakeClock(NOON)

    with pytest.raises(ServiceDown):
        issuer.keys(clock, url="http://issuer.example/keys").key_set(having=None)

    assert issuer.asked == []
