"""Every route of the pages. Here: asked by another tenant, by nobody, without a right, by a forger.

Not here: what a page shows (``test_pages.py``), the way in (``test_sign_in.py``).
"""

import httpx
import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core import ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.endpoint import Kind
from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import OTHER, TOKEN, finished, picture
from fireflyassets_tests.api.pages.browser import OPEN_TO_ALL, ROUTES, Browser, address, visit
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, GOOD, FixedCatalogue, config

GUARDED = [route for route in ROUTES if route[1] not in OPEN_TO_ALL | {"/"}]
ACTIONS = [path for method, path in GUARDED if method == "POST"]
BRIEF = f"key,prompt,locale,headline,aspects\nk9,A,en-GB,B,{ASPECTS[0]}\n"
FIELDS = {
    "reason": "a test",
    "sure": "yes",
    "brief": BRIEF,
    "key": "sent-again",
    "like": CAMPAIGN,
    "campaign": "new",
    "title": "New",
    "since": "2020-01-01T00:00:00Z",
}


class Drawn(FixedCatalogue):
    """A catalogue whose templates can be looked at."""

    def template(self, campaign: Campaign, name: str) -> bytes:
        return picture()


def ask(browser: Browser, method: str, path: str, job_id: str) -> httpx.Response:
    """Ask a route; a form has the proof of the browser's own session."""
    where = address(path, job_id)
    if method == "GET":
        return browser.ask(method, where)
    said = {"proof": proof(browser), **FIELDS}
    if path.endswith("/plan/release"):
        shown = browser.ask("POST", address("/campaigns/{campaign}/plan", job_id), data=said).text
        said["token"] = shown.partition('name="token" value="')[2].partition('"')[0]
    if path.endswith("/review/decide"):
        said["do"] = f"approve one {job_id}.1"
    if path.startswith("/webhooks/"):
        at = browser.app.state.desk.endpoints
        at.add(CUSTOMER, "ep_1", kind=Kind.WEBHOOK, url="https://hooks.example.com/", types=())
        sent = at.test(CUSTOMER, "ep_1", chance="x")
        said |= {"endpoint": "ep_1", "delivery": sent.delivery_id}
    return browser.ask(method, where, data=said)


def proof(browser: Browser) -> str:
    """Return what the forms of the session hold."""
    shown = browser.open(f"{PREFIX}/campaigns").text
    return shown.partition('name="proof" value="')[2].partition('"')[0]


def test_the_walk_finds_routes() -> None:
    """A walk over nothing would prove nothing."""
    assert ("GET", "/campaigns/{campaign}") in GUARDED
    assert len(ACTIONS) >= 6
    assert {path for _, path in ROUTES} >= OPEN_TO_ALL


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_another_tenant_sees_and_moves_nothing_of_ours(method: str, path: str) -> None:
    """For them our job is as absent as one that never was, and it stays as it is."""
    ours = visit()
    job_id = finished(ours.desk)
    before = ours.desk.door.ledger.job(job_id)
    never = ids.job_id(CUSTOMER, "never")
    browser = ours.of("bolt")

    theirs = ask(browser, method, path, job_id)
    nobodys = ask(browser, method, path, never)

    shown = theirs.text + str(theirs.headers)
    assert not [mine for mine in (job_id, GOOD.key, GOOD.prompt, CUSTOMER) if mine in shown]
    if "{job_id}" in path:
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.text == nobodys.text
    assert ours.desk.door.ledger.job(job_id) == before
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_every_route_serves_its_own_tenant(method: str, path: str) -> None:
    """Else a refusal to others would mean nothing."""
    ours = visit(catalogue=Drawn(config(), config(customer="bolt")))
    acts = path.startswith("/jobs/") and method == "POST"
    job_id = ours.desk.post().json()["jobId"] if acts else finished(ours.desk)

    answer = ask(ours.browser, method, path, job_id)

    assert answer.status_code in {200, 303, 307}
    assert "/sign-in" not in answer.headers.get("Location", "")


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_nobody_is_sent_to_sign_in_and_a_token_does_not_help(method: str, path: str) -> None:
    """Pages know sessions alone, as the API knows tokens alone."""
    nobody = visit(signed_in=False)
    job_id = finished(nobody.desk)
    said = {"Authorization": f"Bearer {TOKEN}", "Origin": nobody.browser.base}
    form = {"proof": ""} if method == "POST" else None

    answer = nobody.browser.ask(method, address(path, job_id), headers=said, data=form)

    assert answer.status_code == (303 if method == "GET" else 401)
    assert f"{PREFIX}/sign-in?to=" in answer.headers.get("Location", answer.text)
    assert GOOD.prompt not in answer.text
    row = nobody.desk.door.ledger.job(job_id)
    assert row is not None
    assert row.status is Status.SUCCEEDED


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_every_route_needs_a_right(method: str, path: str) -> None:
    """Who signed in without any sees that, and nothing else, but can sign out."""
    ours = visit(scope="")
    job_id = ours.desk.post().json()["jobId"]

    answer = ask(ours.browser, method, path, job_id)

    if path != "/sign-out":
        assert answer.status_code == 403
        assert "needs the right" in answer.text
    assert job_id not in answer.text


FORGED: list[tuple[dict[str, str] | None, str | None]] = [
    ({"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, None),
    ({"Origin": "https://evil.example"}, None),
    ({"Sec-Fetch-Site": "same-site"}, None),
    ({"Sec-Fetch-Site": "none"}, None),
    ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, None),
    ({}, None),
    (None, ""),
    (None, "guessed"),
    (None, "ü"),
]
"""What a browser says of where a form comes from (None: of ours), and its proof (None: right)."""


@pytest.mark.parametrize("path", ACTIONS)
def test_a_form_that_is_not_ours_does_nothing(path: str) -> None:
    """Neither another site nor a form without this session's proof moves anything."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    before = ours.desk.door.ledger.job(job_id)
    right = proof(ours.browser)

    for headers, changed in FORGED:
        sent = {"proof": right if changed is None else changed, **FIELDS}
        answer = ours.browser.ask("POST", address(path, job_id), headers=headers, data=sent)
        assert answer.status_code == 403, (headers, changed)

    assert ours.desk.door.ledger.job(job_id) == before
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None
    assert ours.browser.ask("GET", f"{PREFIX}/campaigns").status_code == 200


def test_a_proof_of_another_session_does_not_count() -> None:
    """One's own proof, planted in another's browser, moves nothing there."""
    ours = visit()
    theirs = proof(ours.of("bolt"))

    answer = ours.browser.ask(
        "POST", address("/campaigns/{campaign}/hold", ""), data={"proof": theirs, **FIELDS}
    )

    assert answer.status_code == 403
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_session_does_not_open_the_api(method: str) -> None:
    """Not even with the proof and from our own pages: a browser sends cookies unasked."""
    ours = visit()
    where = f"/v1/campaigns/{CAMPAIGN}" + ("/hold" if method == "POST" else "")

    answer = ours.browser.ask(method, where, data={"proof": proof(ours.browser)})

    assert answer.status_code == 401
    picture = f"/assets/{CUSTOMER}/{CAMPAIGN}/{finished(ours.desk)}/art"
    assert ours.browser.ask("GET", picture).status_code == 401


def test_a_token_still_opens_the_api_where_pages_are() -> None:
    """And asks for no proof."""
    ours = visit()

    answer = ours.desk.ask("POST", f"/v1/campaigns/{CAMPAIGN}/hold", token=OTHER)

    assert answer.status_code == 200


@pytest.mark.parametrize("signed_in", [True, False])
def test_every_answer_has_the_headers(*, signed_in: bool) -> None:
    """Pictures, styles, redirects and errors too: no script, no frame, no guessing, no trace."""
    ours = visit(signed_in=signed_in)
    job_id = finished(ours.desk)

    for method, path in [*ROUTES, ("GET", "/nowhere"), ("PUT", "/campaigns")]:
        answer = ours.browser.ask(method, address(path, job_id))

        said = answer.headers
        policy = said["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert said["X-Content-Type-Options"] == "nosniff"
        assert said["Referrer-Policy"] == "same-origin"
        assert said["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "max-age" in said["Strict-Transport-Security"]
        if said.get("Content-Type", "").startswith("text/html") or answer.is_redirect:
            assert said["Cache-Control"] == "no-store", path


def test_every_html_page_is_free_of_inline_code() -> None:
    """The policy forbids it, and nothing would work that needs it."""
    ours = visit()
    job_id = finished(ours.desk)

    for method, path in ROUTES:
        if method == "GET":
            shown = ours.browser.open(address(path, job_id)).text
            assert not [bad for bad in ("<script", "style=", " onclick", "<style") if bad in shown]
