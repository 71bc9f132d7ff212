"""An OpenID Connect provider over HTTP: its addresses, how we prove who we are, its faults."""

import json
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from pydantic import SecretStr

from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.core.errors import ServiceDown
from fireflyassets.ports.sign_in import Asked, Denied, Granted
from fireflyassets.settings import Settings

ISSUER = "https://login.example/tenant"
ASKED = Asked("a-state", "a-nonce", "a-challenge", "https://assets.example/pages/sign-in/done")
TOKENS = {"access_token": "a.b.c", "id_token": "d.e.f", "token_type": "Bearer"}


class Answers:
    """A provider with a discovery document and one answer to codes."""

    def __init__(self, answer: httpx.Response, **discovered: object) -> None:
        self.answer = answer
        self.asked: list[httpx.Request] = []
        self.discovered: dict[str, object] = {
            "issuer": ISSUER,
            "authorization_endpoint": "https://login.example/authorize?p=1",
            "token_endpoint": "https://login.example/token",
            **discovered,
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if request.url.path.endswith("/.well-known/openid-configuration"):
            return httpx.Response(200, json=self.discovered)
        return self.answer


def provider(answers: Answers, **changes: object) -> OidcProvider:
    said = {"oidc_issuer": ISSUER, "oidc_client_id": "our pages"} | changes
    return OidcProvider(Settings.model_validate(said), httpx.MockTransport(answers))


def redeem(asked: OidcProvider) -> Granted | Denied:
    return asked.redeem("a-code", verifier="a-verifier", back_to=ASKED.back_to)


def test_the_address_asks_for_a_code_with_all_that_binds_it() -> None:
    """Found by discovery, once; what else the issuer wants goes with it and can't replace ours."""
    answers = Answers(httpx.Response(200))
    asked = provider(answers, oidc_login_parameters={"audience": "us", "state": "fixed"})

    address = urlsplit(asked.address(ASKED))
    asked.address(ASKED)

    said = dict(parse_qsl(address.query))
    assert address.netloc + address.path == "login.example/authorize"
    assert said == {
        "p": "1",
        "audience": "us",
        "response_type": "code",
        "client_id": "our pages",
        "redirect_uri": ASKED.back_to,
        "scope": "openid profile jobs:read jobs:write review ops",
        "state": "a-state",
        "nonce": "a-nonce",
        "code_challenge": "a-challenge",
        "code_challenge_method": "S256",
    }
    assert len(answers.asked) == 1


def test_a_public_client_proves_itself_by_the_verifier_alone() -> None:
    """Without a secret nothing is sent in its place."""
    answers = Answers(httpx.Response(200, json=TOKENS))

    told = redeem(provider(answers))

    assert told == Granted("d.e.f", "a.b.c")
    assert "a.b.c" not in repr(told)
    request = answers.asked[-1]
    assert "Authorization" not in request.headers
    assert dict(parse_qsl(request.content.decode())) == {
        "grant_type": "authorization_code",
        "code": "a-code",
        "redirect_uri": ASKED.back_to,
        "code_verifier": "a-verifier",
        "client_id": "our pages",
    }


def test_a_secret_goes_in_the_header_or_where_the_issuer_wants_it() -> None:
    """Form-encoded first in the header (RFC 6749, 2.3.1)."""
    secret = SecretStr("a:b/c")
    header, form = (
        Answers(httpx.Response(200, json=TOKENS)),
        Answers(
            httpx.Response(200, json=TOKENS),
            token_endpoint_auth_methods_supported=["client_secret_post"],
        ),
    )

    redeem(provider(header, oidc_client_secret=secret))
    redeem(provider(form, oidc_client_secret=secret))

    expected = httpx.BasicAuth("our%20pages", "a%3Ab%2Fc")._auth_header
    assert header.asked[-1].headers["Authorization"] == expected
    assert "client_secret" not in header.asked[-1].content.decode()
    assert dict(parse_qsl(form.asked[-1].content.decode()))["client_secret"] == "a:b/c"
    assert "Authorization" not in form.asked[-1].headers


def test_a_code_that_is_not_taken_is_an_answer() -> None:
    """With the issuer's own word."""
    answers = Answers(httpx.Response(400, json={"error": "invalid_grant"}))

    assert redeem(provider(answers)) == Denied("invalid_grant")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<html>"),
        httpx.Response(200, text="no JSON"),
        httpx.Response(200, content=json.dumps([1]).encode()),
    ],
)
def test_an_answer_that_is_none_is_an_outage(answer: httpx.Response) -> None:
    """The person may try again; nothing says that the code was wrong."""
    with pytest.raises(ServiceDown):
        redeem(provider(Answers(answer)))


@pytest.mark.parametrize(
    "discovered",
    [
        {"issuer": "https://other.example"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://login.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_nobody_is_sent_to_an_address_that_proves_nothing(discovered: dict[str, object]) -> None:
    """Another issuer's document, none at all, or one in the clear."""
    with pytest.raises(ServiceDown):
        provider(Answers(httpx.Response(200), **discovered)).address(ASKED)
