"""The way in and out. Here: OpenID Connect's flow, cookies, expiry, rotation of keys."""

import logging
from datetime import timedelta
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from joserfc.jwk import ECKey
from pydantic import SecretStr

from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.api.app import create_app
from fireflyassets.api.main import _without_secrets
from fireflyassets.api.pages.sessions import Cookies
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.api.seals import Purpose, Seals
from fireflyassets.api.tokens import Caller
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import PUBLIC, SESSION_KEY, clerk, ports_of
from fireflyassets_tests.api.pages.browser import Browser, Visit, visit
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, NOON, front_door

PAGE = f"/campaigns/{CAMPAIGN}"
STRANGER = ECKey.generate_key("P-256", auto_kid=True)


def is_in(browser: Browser) -> bool:
    """Say whether somebody is signed in."""
    return browser.ask("GET", f"{PREFIX}/campaigns").status_code == 200


def cookie(browser: Browser, name: str = "__Host-session") -> str:
    """Return a cookie's value."""
    return next(one.value or "" for one in browser.cookies.jar if one.name == name)


def test_a_browser_comes_back_to_the_page_it_asked_for() -> None:
    """With its filter and all, by a code flow that holds state, nonce and PKCE."""
    ours = visit(signed_in=False)

    sent = ours.browser.ask("GET", f"{PREFIX}{PAGE}?status=review")
    left = ours.browser.ask("GET", sent.headers["Location"])
    asked = {
        name: one[0] for name, one in parse_qs(urlsplit(left.headers["Location"]).query).items()
    }
    back = ours.browser.ask("GET", ours.provider.consent(left.headers["Location"]))

    assert (asked["response_type"], asked["client_id"]) == ("code", "pages")
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{PUBLIC}{PREFIX}/sign-in/done"
    assert "openid" in asked["scope"].split()
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert back.headers["Location"] == f"{PREFIX}{PAGE}?status=review"
    assert ours.browser.open(back.headers["Location"]).status_code == 200
    (redeemed,) = ours.provider.redeemed
    assert redeemed["redirect_uri"] == asked["redirect_uri"]


def test_cookies_are_out_of_reach_of_scripts_and_other_sites() -> None:
    """Bound to the host, encrypted, never sent in the clear."""
    ours = visit(signed_in=False)

    left = ours.browser.ask("GET", f"{PREFIX}/sign-in")
    back = ours.browser.ask("GET", ours.provider.consent(left.headers["Location"]))

    for said in (*left.headers.get_list("Set-Cookie"), *back.headers.get_list("Set-Cookie")):
        name, _, flags = said.partition("; ")
        assert name.startswith("__Host-")
        assert {"Path=/", "HttpOnly", "SameSite=Lax", "Secure"} <= set(flags.split("; "))
        assert "Domain" not in flags
    assert CUSTOMER not in cookie(ours.browser)
    assert len(cookie(ours.browser)) < 2000


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/%5Cevil.example/x",
        "javascript:alert(1)",
        "/campaigns\r\nSet-Cookie: a=b",
        "/..//evil.example",
        "@evil.example",
        ".evil.example",
        "",
    ],
)
def test_nobody_is_sent_elsewhere_after_signing_in(to: str) -> None:
    """Whatever a link to the sign-in says, the browser stays with us."""
    ours = visit(signed_in=False)

    left = ours.browser.ask("GET", f"{PREFIX}/sign-in?to={quote(to, safe='')}")
    back = ours.browser.ask("GET", ours.provider.consent(left.headers["Location"]))

    arrived = httpx.URL(f"{PUBLIC}{PREFIX}/sign-in/done").join(back.headers["Location"])
    assert (arrived.scheme, arrived.host) == ("https", "assets.example")
    assert "\n" not in back.headers["Location"]
    assert back.headers["Location"].startswith(f"{PREFIX}/")


def attempted(ours: Visit, **changes: str) -> httpx.Response:
    """Return the answer to a way back that was tampered with."""
    left = ours.browser.ask("GET", f"{PREFIX}/sign-in")
    ours.provider.consent(left.headers["Location"])
    said = {"code": "a-code", "state": ours.provider.asked["state"]} | changes
    query = "&".join(f"{name}={value}" for name, value in said.items())
    return ours.browser.ask("GET", f"{PREFIX}/sign-in/done?{query}")


def test_a_way_back_that_this_browser_did_not_begin_leads_nowhere() -> None:
    """Somebody else's code would sign a person in as somebody else."""
    ours = visit(signed_in=False)

    assert attempted(ours, state="guessed").status_code == 400
    assert attempted(ours, state="").status_code == 400
    ours.browser.cookies.clear()
    planted = f"{PREFIX}/sign-in/done?code=a-code&state={ours.provider.asked['state']}"
    assert ours.browser.ask("GET", planted).status_code == 400
    assert ours.provider.redeemed == []
    assert not is_in(ours.browser)


def test_a_way_back_is_good_once_and_for_ten_minutes() -> None:
    """Neither the history of a browser nor a tab that was left open signs anybody in."""
    ours = visit()
    again = f"{PREFIX}/sign-in/done?code=a-code&state={ours.provider.asked['state']}"
    late = visit(signed_in=False)
    left = late.browser.ask("GET", f"{PREFIX}/sign-in")
    late.desk.door.clock.jump(timedelta(minutes=10))

    assert ours.browser.ask("GET", again).status_code == 400
    back = late.browser.ask("GET", late.provider.consent(left.headers["Location"]))
    assert back.status_code == 400
    assert "took too long" in back.text


BAD: dict[str, dict[str, object]] = {
    "another nonce": {"id_claims": {"nonce": "of-another"}},
    "no nonce": {"id_claims": {"nonce": None}},
    "an id token for others": {"id_claims": {"aud": "other-app"}},
    "an id token for several, given to others": {
        "id_claims": {"aud": ["pages", "other"], "azp": "other"}
    },
    "an expired id token": {"id_claims": {"exp": int(NOON.timestamp()) - 61}},
    "another issuer's id token": {"id_claims": {"iss": "https://other.example"}},
    "an id token of another key": {"id_claims": {"key": STRANGER}},
    "an access token for others": {"access_claims": {"aud": "billing"}},
    "an access token of another key": {"access_claims": {"key": STRANGER}},
    "a person without a tenant": {"tenant": ""},
    "a code that was used": {"error": "invalid_grant"},
}


@pytest.mark.parametrize("name", BAD)
def test_tokens_that_prove_nothing_let_nobody_in(name: str) -> None:
    """The page says why and what to do, and not a word of the token."""
    ours = visit(signed_in=False)
    for part, value in BAD[name].items():
        setattr(ours.provider, part, value)

    answer = attempted(ours)

    assert answer.status_code == 403
    assert "You were not signed in" in answer.text
    assert not is_in(ours.browser)
    assert "eyJ" not in answer.text


def test_what_the_provider_says_is_not_shown_unless_it_is_a_word() -> None:
    """An error comes by way of the address, so anybody can write it."""
    ours = visit(signed_in=False)

    said = attempted(ours, code="", error="access_denied")
    markup = attempted(ours, code="", error="<b>call+this+number</b>")

    assert "access_denied" in said.text
    assert "call" not in markup.text
    assert (said.status_code, markup.status_code) == (403, 403)


def test_a_provider_that_is_away_is_told_as_such() -> None:
    """503 and a sentence, not a fault of ours."""
    ours = visit(signed_in=False)
    ours.provider.error = "temporarily_unavailable"
    desk = clerk()  # Its provider answers 503 without a body.
    browser = Browser(desk.app)

    left = browser.ask("GET", f"{PREFIX}/sign-in")
    back = browser.ask("GET", ours.provider.consent(left.headers["Location"]))

    assert back.status_code == 503
    assert "Traceback" not in back.text


def test_a_session_ends_when_it_is_left_alone() -> None:
    """After an hour; each request in between begins the hour anew."""
    ours = visit()
    clock = ours.desk.door.clock

    clock.jump(timedelta(minutes=59))
    assert is_in(ours.browser)
    clock.jump(timedelta(minutes=59))
    assert is_in(ours.browser)
    clock.jump(timedelta(minutes=60))
    assert not is_in(ours.browser)


def test_a_session_ends_after_its_life_however_busy_it_is() -> None:
    """Rights that were taken away at the provider do not last for ever."""
    ours = visit()

    for _ in range(12):
        assert is_in(ours.browser)
        ours.desk.door.clock.jump(timedelta(minutes=50))

    assert not is_in(ours.browser)


def test_a_form_that_comes_too_late_is_kept_over_the_sign_in() -> None:
    """Nothing is done, and nobody types a reason twice."""
    ours = visit()
    page = ours.browser.open(f"{PREFIX}{PAGE}")
    proof = page.text.partition('name="proof" value="')[2].partition('"')[0]
    ours.desk.door.clock.jump(timedelta(hours=2))
    ours.provider.id_claims = ours.provider.access_claims = {"exp": int(NOON.timestamp()) + 9000}

    late = ours.browser.ask(
        "POST", f"{PREFIX}{PAGE}/hold", data={"proof": proof, "reason": "Legal asks: “why?” & <b>"}
    )
    link = late.text.partition('<a class="button" href="')[2].partition('"')[0]
    left = ours.browser.ask("GET", link)
    back = ours.browser.open(ours.provider.consent(left.headers["Location"]))

    assert late.status_code == 401
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None
    assert back.status_code == 200
    assert 'value="Legal asks: “why?” &amp; &lt;b&gt;"' in back.text
    assert proof not in link


def test_signing_out_ends_it_here() -> None:
    """And says what it can't end."""
    ours = visit()

    answer = ours.browser.send(f"{PREFIX}/campaigns", f"{PREFIX}/sign-out")
    shown = ours.browser.open(answer.headers["Location"])

    assert "identity provider may still know you" in shown.text
    assert not is_in(ours.browser)


def cookies(*keys: str, url: str = PUBLIC) -> Cookies:
    """Return what one process seals sessions with."""
    settings = Settings(api_url=url)
    return Cookies(Seals([SecretStr(key * 32) for key in keys]), front_door().clock, settings)


def kept(said: str) -> dict[str, str]:
    name, _, value = said.partition(";")[0].partition("=")
    return {name: value}


def test_keys_are_rotated_without_ending_a_session() -> None:
    """First all processes learn the new key, then all use it; a key that is gone opens nothing."""
    who = Caller(CUSTOMER, "ada", frozenset({"ops"}))
    old, both, turned, new = (cookies(*keys) for keys in ("a", "ab", "ba", "b"))

    before = kept(old.begin(who, "Ada"))
    after = kept(turned.begin(who, "Ada"))

    assert all(one.session(before) is not None for one in (old, both, turned))
    assert all(one.session(after) is not None for one in (both, turned, new))
    assert new.session(before) is None
    assert old.session(after) is None


def test_a_cookie_that_was_touched_is_none() -> None:
    """Or that was sealed for something else, or is very long."""
    here = cookies("a")
    session = kept(here.begin(Caller(CUSTOMER, "ada", frozenset()), "Ada"))
    ((name, value),) = session.items()
    ((_, other),) = kept(here.keep({"state": "s"})).items()
    last = "A" if value[-10] != "A" else "B"

    for bad in (
        value[:-10] + last + value[-9:],
        other,
        "",
        "a.b.c",
        "x" * 9000,
        value + "A" * 4000,
    ):
        assert here.session({name: bad}) is None


@pytest.mark.parametrize("keys", [(), ("short",), ("a" * 32, "b" * 31)])
def test_without_good_keys_there_are_no_pages(keys: tuple[str, ...]) -> None:
    """A key that can be guessed would let everybody be anybody."""
    with pytest.raises(UnusableConfiguration, match="FIREFLYASSETS_SESSION_KEYS"):
        Seals([SecretStr(key) for key in keys])


def app(**changes: object) -> FastAPI:
    """Return an API with pages as the settings say."""
    door = clerk().door
    said = {
        "api_url": PUBLIC,
        "oidc_issuer": "https://issuer.example",
        "oidc_client_id": "pages",
        "oidc_authorize_url": "https://issuer.example/authorize",
        "session_keys": [SESSION_KEY],
    }
    settings = Settings.model_validate(said | changes)
    return create_app(ports_of(door), settings, OidcProvider(settings))


def test_pages_are_there_only_where_they_are_safe() -> None:
    """No client, no pages; a client without keys, or in the clear, and the API does not start."""
    assert Browser(app(oidc_client_id="")).ask("GET", f"{PREFIX}/campaigns").status_code == 404
    assert Browser(app()).ask("GET", f"{PREFIX}/campaigns").status_code == 303
    for unsafe in ({"session_keys": []}, {"api_url": "http://assets.example"}):
        with pytest.raises(UnusableConfiguration):
            app(**unsafe)


def test_an_address_is_ours_however_the_settings_spell_it() -> None:
    """Browsers write a host small and leave out the port of the scheme."""
    spelt = app(api_url="https://Assets.Example:443/")
    left = Browser(spelt).ask("GET", f"{PREFIX}/sign-in").headers["Location"]
    form = Browser(spelt).ask("POST", f"{PREFIX}/sign-out", data={"proof": "none"})

    assert parse_qs(urlsplit(left).query)["redirect_uri"] == [f"{PUBLIC}{PREFIX}/sign-in/done"]
    assert form.status_code == 401


def test_pages_in_the_clear_are_for_this_machine_alone() -> None:
    """On loopback cookies need no TLS, and are told apart by port; elsewhere it is refused."""
    with pytest.raises(UnusableConfiguration, match="https"):
        cookies("a", url="http://assets.example")

    said = cookies("a", url="http://127.0.0.1:8000").begin(Caller("a", "b", frozenset()), "c")
    assert said.startswith("fireflyassets-8000-session=")
    assert "Secure" not in said
    assert "HttpOnly; SameSite=Lax" in said


def test_on_this_machine_no_other_name_is_answered() -> None:
    """A name of somebody else's that resolves to loopback would be an origin of ours."""
    local = clerk(api_url="http://127.0.0.1:8000")

    strange = Browser(local.app, "http://evil.example:8000").ask("GET", f"{PREFIX}/sign-in")
    nickname = Browser(local.app, "http://localhost:8000").ask("GET", f"{PREFIX}/campaigns")
    right = Browser(local.app, "http://127.0.0.1:8000").ask("GET", f"{PREFIX}/sign-in")

    assert strange.status_code == 421
    assert "Set-Cookie" not in strange.headers
    assert nickname.headers["Location"] == f"http://127.0.0.1:8000{PREFIX}/campaigns"
    assert right.status_code == 303


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (f"{PREFIX}/sign-in/done?code=secret&state=s", f"{PREFIX}/sign-in/done"),
        ("/v1/plans/eyJhbG.secret/release", "/v1/plans/-/release"),
        ("/v1/plans?campaign=spring", "/v1/plans"),
    ],
)
def test_no_code_of_a_sign_in_and_no_token_of_a_plan_is_in_the_log(asked: str, kept: str) -> None:
    """Access lines name the path alone, and not what lets somebody in or releases a plan."""
    args = ("127.0.0.1:1", "GET", asked, "1.1", 303)
    record = logging.LogRecord("uvicorn.access", 20, "", 1, '%s - "%s %s HTTP/%s" %d', args, None)

    assert _without_secrets(record)
    assert record.getMessage() == f'127.0.0.1:1 - "GET {kept} HTTP/1.1" 303'


def test_a_sign_in_sealed_for_one_purpose_opens_for_no_other() -> None:
    """What is kept while somebody is at the provider is no session."""
    seals = Seals([SESSION_KEY])

    assert seals.open(Purpose.SESSION, seals.close(Purpose.SIGN_IN, {"a": 1})) is None
    assert seals.open(Purpose.SIGN_IN, seals.close(Purpose.SIGN_IN, {"a": 1})) == {"a": 1}
