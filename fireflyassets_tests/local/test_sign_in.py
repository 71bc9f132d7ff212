"""Signing in without an account. Here: the embedded issuer's page and codes, with our own pages."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.keys import MemoryKeys
from fireflyassets.api.tokens import Caller
from fireflyassets.core.api_key import Scope
from fireflyassets.local.access import HOST
from fireflyassets.local.issuer import CLIENT, ISSUER, Issuer
from fireflyassets.local.sign_in import ROLES, Doorway, create_app, served
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import bearers
from fireflyassets_tests.front_door import NOON

BACK_TO = "http://127.0.0.1:8000/pages/sign-in/done"
# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
ASKED = {
    "response_type": "code",
    "client_id": CLIENT,
    "redirect_uri": BACK_TO,
    "state": "a-state",
    "nonce": "a-nonce",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}


@contextmanager
def listening(clock: FakeClock, issuer: Issuer | None = None) -> Iterator[httpx.Client]:
    """Yield a client of an issuer for two customers."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    origin = f"http://{HOST}:{port}"
    doorway = Doorway(issuer or Issuer.new(), clock, back_to=BACK_TO)
    app = create_app(doorway, ["bolt", "acme"], origin=origin)
    with served(app, host=HOST, port=port), httpx.Client(base_url=origin) as client:
        yield client


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOON)


def choose(client: httpx.Client, role: str = "Operator") -> str:
    """Click a role of acme, and return the code."""
    shown = client.get(f"/authorize?{urlencode(ASKED)}").text
    link = next(
        part.partition('"')[0]
        for part in shown.split('href="')
        if f"customer=acme&amp;role={role}" in part
    )
    back = client.get(f"/authorize{unescape(link)}")
    assert back.headers["Location"].startswith(BACK_TO)
    said = parse_qs(urlsplit(back.headers["Location"]).query)
    assert said["state"] == ["a-state"]
    return said["code"][0]


def redeem(client: httpx.Client, code: str, **changes: str) -> httpx.Response:
    """Give a code for its tokens, as our pages do."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "client_id": CLIENT,
        "redirect_uri": BACK_TO,
        "code_verifier": VERIFIER,
    }
    return client.post("/token", data=form | changes)


@pytest.mark.parametrize("role", ROLES)
def test_a_click_gives_tokens_that_the_api_believes(clock: FakeClock, role: str) -> None:
    """For that customer, with that role's rights, and for this sign-in alone."""
    issuer = Issuer.new()
    settings = Settings(oidc_issuer=ISSUER, oidc_client_id=CLIENT)
    tokens = bearers(MemoryKeys(issuer.key_set()), clock, settings)
    with listening(clock, issuer) as client:
        told = redeem(client, choose(client, role)).json()

    who = tokens.read(told["access_token"])
    assert isinstance(who, Caller)
    assert (who.tenant, who.scopes) == ("acme", frozenset(ROLES[role]))
    assert tokens.name(told["id_token"], nonce="a-nonce") == role
    assert not isinstance(tokens.name(told["id_token"], nonce="another"), str)
    assert frozenset(Scope) == frozenset(ROLES["Operator"])


def test_a_code_is_good_once_for_a_minute_and_for_who_asked(clock: FakeClock) -> None:
    """Neither a stolen code nor an old one gives tokens."""
    with listening(clock) as client:
        used = choose(client)
        answers = [redeem(client, used), redeem(client, used)]
        answers.append(redeem(client, choose(client), code_verifier="of-another"))
        answers.append(redeem(client, choose(client), redirect_uri="http://127.0.0.1:9/x"))
        answers.append(redeem(client, choose(client), client_id="another"))
        old = choose(client)
        clock.jump(timedelta(minutes=1))
        answers.append(redeem(client, old))

    assert [one.status_code for one in answers] == [200, 400, 400, 400, 400, 400]
    assert answers[1].json() == {"error": "invalid_grant"}


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example"},
        {"client_id": "another"},
        {"response_type": "token"},
        {"code_challenge": ""},
        {"code_challenge_method": "plain"},
    ],
)
def test_a_request_that_is_not_our_pages_gets_no_code(
    clock: FakeClock, changes: dict[str, str]
) -> None:
    """And sends the browser nowhere."""
    asked = ASKED | {"customer": "acme", "role": "Operator"} | changes
    with listening(clock) as client:
        answer = client.get(f"/authorize?{urlencode(asked)}")

    assert answer.status_code == 400
    assert "Location" not in answer.headers
    assert next(iter(changes)) in answer.text


def test_an_unknown_customer_or_role_is_asked_again(clock: FakeClock) -> None:
    """Nobody signs in as what is not there."""
    with listening(clock) as client:
        for wrong in ({"customer": "evil", "role": "Operator"}, {"customer": "acme", "role": "X"}):
            answer = client.get(f"/authorize?{urlencode(ASKED | wrong)}")
            assert answer.status_code == 200
            assert "Location" not in answer.headers


def test_another_name_of_this_machine_is_not_answered(clock: FakeClock) -> None:
    """Else somebody's page could click for the person who looks at it."""
    asked = urlencode(ASKED | {"customer": "acme", "role": "Operator"})
    with listening(clock) as client:
        answer = client.get(f"/authorize?{asked}", headers={"Host": "evil.example"})

    assert answer.status_code == 421
    assert "Location" not in answer.headers


def test_sessions_outlive_a_restart_and_no_other_stack_reads_them() -> None:
    """Their key follows from the issuer's, which is kept."""
    issuer = Issuer.new()

    assert Issuer.remembered(issuer.secret()).session_key() == issuer.session_key()
    assert Issuer.new().session_key() != issuer.session_key()
    assert issuer.session_key() not in repr(issuer)
