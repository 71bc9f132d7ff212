"""API keys over HTTP. Here: what each lets in, for how long, and who may make one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from fireflyassets.core import api_key
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets_tests.api.desk_clerk import CUSTOMER, OTHER, TOKEN, Clerk, clerk, token

SYSTEM = {"name": "Asset store", "scopes": ["jobs:read", "jobs:write"]}
DAY = timedelta(days=1)


@dataclass(frozen=True)
class KeyRing:
    """An API, and what a tenant's admin does with its keys."""

    desk: Clerk

    @property
    def store(self) -> ApiKeyStore:
        """Return what is kept."""
        found: ApiKeyStore = self.desk.app.state.desk.ports.api_keys
        return found

    def issue(self, **changes: object) -> httpx.Response:
        """Ask for a key."""
        return self.desk.ask("POST", "/v1/api-keys", json=SYSTEM | changes)

    def asks(self, key: str) -> int:
        """Return how the API answers who shows *key*."""
        return self.desk.ask("GET", "/v1/endpoints", token=key).status_code

    def later(self, wait: timedelta) -> None:
        """Let time pass; a token of the issuer does not last as long."""
        self.desk.door.clock.jump(wait)

    def fresh(self) -> str:
        """Return a token of the admin that is good now."""
        now = int(self.desk.door.clock.now().timestamp())
        return token(iat=now, exp=now + 3600)


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing(clerk())


def test_a_key_lets_its_system_in_with_its_scopes_alone(ring: KeyRing) -> None:
    """In the same header as a token: it may send and read jobs, and hold no campaign."""
    told = ring.issue()
    key = told.json()["apiKey"]

    made = ring.desk.ask("POST", "/v1/jobs", token=key, json={"campaign": "x"})
    held = ring.desk.ask("POST", "/v1/campaigns/spring-launch/hold", token=key)

    assert told.status_code == 201
    assert told.headers["Cache-Control"] == "no-store"
    assert key.startswith(f"ffa_{CUSTOMER}_")
    assert (ring.asks(key), made.status_code, held.status_code) == (200, 400, 403)
    assert held.json()["problems"][0]["rule"] == "scope"


def test_a_key_is_shown_once_and_kept_by_nobody(
    ring: KeyRing, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a list, nor what is kept, nor a log holds it or its end."""
    caplog.set_level(logging.DEBUG)
    key = ring.issue().json()["apiKey"]
    ring.asks(key)
    ring.asks(key[:-1] + "x")

    listed = ring.desk.ask("GET", "/v1/api-keys")

    secret = key.rsplit("_", 1)[1]
    [kept] = ring.store.keys(CUSTOMER)
    assert kept.digest == api_key.digest_of(key)
    assert all(secret[:16] not in text for text in (listed.text, repr(kept), caplog.text))
    [shown] = listed.json()["keys"]
    assert (shown["name"], shown["state"], shown["createdBy"]) == (
        "Asset store",
        "valid",
        f"system-of-{CUSTOMER}",
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"),
        lambda key: key.replace(CUSTOMER, "bolt"),
        lambda key: key[:-64] + key[-64:].upper(),
        lambda key: key + "0",
        lambda key: key[: len("ffa_acme_")] + "0" * 16 + key[-65:],
        lambda _: "ffa_",
        lambda _: "ffa_" + "x" * 9000,
    ],
)
def test_what_is_not_the_very_key_is_refused_in_the_same_words(
    ring: KeyRing, spoil: Callable[[str], str]
) -> None:
    """Whether the id is known, the tenant another, or the text none at all."""
    key = ring.issue().json()["apiKey"]

    answer = ring.desk.ask("GET", "/v1/endpoints", token=spoil(key))

    assert answer.status_code == 401
    assert answer.json()["problems"][0]["message"] == "The API key is not known."


def test_a_rotated_key_serves_a_day_beside_its_successor(ring: KeyRing) -> None:
    """So that a system can be moved over without a gap; then the older one is refused."""
    first = ring.issue().json()
    path = f"/v1/api-keys/{first['keyId']}/rotate"
    second = ring.desk.ask("POST", path).json()

    assert [ring.asks(one["apiKey"]) for one in (first, second)] == [200, 200]
    assert second["scopes"] == first["scopes"]
    assert ring.desk.ask("POST", path).status_code == 409
    ring.later(DAY)
    assert [ring.asks(one["apiKey"]) for one in (first, second)] == [401, 200]
    assert [one.did for one in ring.store.entries(CUSTOMER)] == ["issued", "rotated"]


def test_a_key_ends_with_its_days(ring: KeyRing) -> None:
    key = ring.issue(days=2).json()["apiKey"]

    ring.later(2 * DAY - timedelta(seconds=1))
    assert ring.asks(key) == 200
    ring.later(timedelta(seconds=1))

    answer = ring.desk.ask("GET", "/v1/endpoints", token=key)
    assert answer.status_code == 401
    assert "expired" in answer.json()["problems"][0]["message"]


def test_a_revoked_key_is_refused_at_once(ring: KeyRing) -> None:
    """Whoever has it; to revoke it again is no fault."""
    told = ring.issue().json()
    path = f"/v1/api-keys/{told['keyId']}"

    states = [ring.desk.ask("DELETE", path).json()["state"] for _ in range(2)]

    assert states == ["revoked", "revoked"]
    assert ring.asks(told["apiKey"]) == 401
    assert [one.did for one in ring.store.entries(CUSTOMER)] == ["issued", "revoked"]


def test_the_last_use_is_known_to_the_hour(ring: KeyRing) -> None:
    """One write an hour, however much is asked."""
    key = ring.issue().json()["apiKey"]
    uses = []
    for wait in (timedelta(0), timedelta(minutes=59), timedelta(minutes=1)):
        ring.later(wait)
        ring.asks(key)
        uses.append(ring.store.keys(CUSTOMER)[0].last_used_at)

    noon = uses[0]
    assert noon is not None
    assert uses == [noon, noon, noon + timedelta(hours=1)]


def test_a_key_makes_no_keys(ring: KeyRing) -> None:
    """Not even one with ops: one that was stolen would outlive its end."""
    told = ring.issue(scopes=["ops", "jobs:read"]).json()
    key, path = told["apiKey"], f"/v1/api-keys/{told['keyId']}"

    answers = [
        ring.desk.ask("POST", "/v1/api-keys", token=key, json=SYSTEM),
        ring.desk.ask("POST", f"{path}/rotate", token=key),
        ring.desk.ask("DELETE", path, token=key),
    ]

    assert [one.status_code for one in answers] == [403, 403, 403]
    assert {one.json()["problems"][0]["rule"] for one in answers} == {"person"}
    assert ring.desk.ask("GET", "/v1/api-keys", token=key).status_code == 200
    assert len(ring.store.entries(CUSTOMER)) == 1


def test_nobody_gives_more_than_they_have(ring: KeyRing) -> None:
    """An admin without the right to review can't make a key that has it."""
    sent, wished = token(scope="jobs:read ops"), SYSTEM | {"scopes": ["review"]}

    answer = ring.desk.ask("POST", "/v1/api-keys", json=wished, token=sent)

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"] == "scopes"
    assert ring.store.keys(CUSTOMER) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"scopes": []},
        {"scopes": ["everything"]},
        {"days": 0},
        {"days": 366},
        {"days": "90"},
        {"name": ""},
        {"more": 1},
    ],
)
def test_a_wrong_wish_is_refused_by_field(ring: KeyRing, wrong: dict[str, object]) -> None:
    answer = ring.issue(**wrong)

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"].startswith(next(iter(wrong)))


def test_a_tenant_has_so_many_keys_at_a_time(ring: KeyRing) -> None:
    """Those that have ended make room."""
    first = ring.issue().json()["keyId"]
    for _ in range(api_key.MOST_KEYS - 1):
        ring.issue()

    assert ring.issue().status_code == 409
    ring.desk.ask("DELETE", f"/v1/api-keys/{first}")
    assert ring.issue().status_code == 201


def test_another_tenants_admin_moves_no_key_of_ours(ring: KeyRing) -> None:
    told = ring.issue().json()

    answer = ring.desk.ask("DELETE", f"/v1/api-keys/{told['keyId']}", token=OTHER)

    assert answer.status_code == 404
    assert ring.asks(told["apiKey"]) == 200


def test_without_an_issuer_keys_still_let_in() -> None:
    """That is what they are for: an operator makes the first one by command."""
    ring = KeyRing(clerk())
    key = ring.issue().json()["apiKey"]
    alone = KeyRing(clerk(issuer=""))
    [made] = ring.store.keys(CUSTOMER)
    entry = ring.store.entries(CUSTOMER)[0]
    alone.store.write(entry, made=made)

    assert alone.asks(key) == 200
    assert alone.asks(TOKEN) == 401
