"""Who sees what. Here: every route that the app has, asked by another tenant and by nobody."""

from datetime import timedelta

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from fireflyassets.api.plan_routes import planned
from fireflyassets.core import ids
from fireflyassets.core.api_key import Scope
from fireflyassets.core.endpoint import Endpoint, Kind
from fireflyassets.stages.api_keys import ApiKeys, Issued
from fireflyassets.stages.endpoints import Endpoints
from fireflyassets_tests.api.desk_clerk import (
    JOB,
    OTHER,
    TOKEN,
    Clerk,
    clerk,
    finished,
    picture,
    token,
)
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, GOOD

OPEN_TO_ALL = {"/", "/health", "/openapi.json", "/schemas/{name}", "/problems"}
"""They show nothing of anybody."""

ROUTES = [
    (method, route.path)
    for route in iter_route_contexts(clerk().app.routes)
    if route.path not in OPEN_TO_ALL
    for method in sorted(route.methods or ())
]
HOOK = {"url": "https://hooks.example.com/in"}
BODIES: dict[str, dict[str, object]] = {"/v1/api-keys": {"name": "DAM", "scopes": ["jobs:read"]}}
NAMES = {"customer": CUSTOMER, "campaign": CAMPAIGN, "aspect": ASPECTS[1], "name": ASPECTS[1]}


def hooked(desk: Clerk) -> dict[str, str]:
    """Return the ids of an endpoint of ours and of a delivery to it; no ask is counted for it."""
    at: Endpoints = desk.app.state.desk.endpoints
    if not endpoints(desk):
        at.add(CUSTOMER, "ep_1", kind=Kind.WEBHOOK, url=HOOK["url"], types=())
    sent = at.test(CUSTOMER, "ep_1", chance="x")
    assert sent is not None
    return {"endpoint_id": "ep_1", "delivery_id": sent.delivery_id}


def endpoints(desk: Clerk) -> list[Endpoint]:
    """Return our endpoints as they stand."""
    at: Endpoints = desk.app.state.desk.endpoints
    return at.store.endpoints(CUSTOMER)


def keyed(desk: Clerk) -> str:
    """Return the id of an API key of ours; no ask is counted for it."""
    at: ApiKeys = desk.app.state.desk.api_keys
    life = timedelta(days=1)
    told = at.issue(CUSTOMER, name="DAM", scopes=[Scope.READ], life=life, by="ann")
    assert isinstance(told, Issued)
    return told.key.key_id


def named_of_ours(desk: Clerk, path: str) -> dict[str, str]:
    """Return the ids of ours that an address names."""
    if "{key_id}" in path:
        return {"key_id": keyed(desk)}
    return hooked(desk) if "{endpoint_id}" in path or "{delivery_id}" in path else {}


def ask(desk: Clerk, method: str, path: str, job_id: str, sent: str | None) -> httpx.Response:
    """Ask a route about a job; a route that takes a job gets one of a key of its own."""
    named = named_of_ours(desk, path)
    address = path.format(**NAMES, **named, job_id=job_id, token="{token}")
    if method == "GET":
        return desk.ask(method, address, token=sent)
    if path.startswith("/v1/plans"):
        return plan(desk, method, address, sent)
    if path.endswith(":batch"):
        content = f"key,prompt,locale,headline,aspects\nk9,A,en-GB,B,{ASPECTS[0]}\n".encode()
        kind = {"Content-Type": "text/csv"}
        return desk.ask(
            method, f"{address}?campaign={CAMPAIGN}", token=sent, content=content, headers=kind
        )
    if path == "/v1/campaigns":
        said = {"campaign": "autumn", "title": "Autumn launch"}
        return desk.ask(method, f"{address}?like={CAMPAIGN}", token=sent, json=said)
    if path.endswith("/references"):
        kind = {"Content-Type": "image/jpeg"}
        return desk.ask(method, address, token=sent, content=picture(), headers=kind)
    steers = path.endswith(("/hold", "/resume", "/legal-hold", "/legal-hold/release"))
    body: dict[str, object] = {"reason": "a test"} if steers else JOB | {"idempotencyKey": "k9"}
    if path.endswith("/reviews"):
        body = {"decision": "approve", "jobs": [{"jobId": job_id, "version": 1}]}
    body = BODIES.get(path, body)
    if path.startswith("/v1/endpoints"):
        body = {"enabled": False} if method == "PATCH" else {**HOOK}
    return desk.ask(method, address, token=sent, json=body)


def plan(desk: Clerk, method: str, address: str, sent: str | None) -> httpx.Response:
    """Ask for a plan, or to release one of ours."""
    content = f"key,prompt,locale,headline,aspects\nk9,A,en-GB,B,{ASPECTS[0]}\n".encode()
    kind, where = {"Content-Type": "text/csv"}, f"/v1/plans?campaign={CAMPAIGN}"
    if not address.endswith("/release"):
        return desk.ask(method, where, token=sent, content=content, headers=kind)
    # Not over HTTP: that is an ask of its own, and some tests count them.
    _, ours = planned(desk.app.state.desk, CUSTOMER, CAMPAIGN, content, is_csv=True)
    return desk.ask(method, address.format(token=ours), token=sent)


def test_the_walk_finds_routes() -> None:
    """A walk over nothing would prove nothing."""
    described = clerk().app.openapi()["paths"]

    walked = {path for _, path in ROUTES}
    assert set(described) <= walked
    assert walked - set(described) == {"/assets/{customer}/{campaign}/{job_id}/{name}"}


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_another_tenant_sees_and_moves_nothing_of_ours(method: str, path: str) -> None:
    """For them our job is as absent as one that never was, and it stays as it is."""
    desk = clerk()
    job_id = finished(desk)
    before = desk.door.ledger.job(job_id)
    hooked(desk)
    hooks = endpoints(desk)
    never = ids.job_id(CUSTOMER, "never")

    theirs = ask(desk, method, path, job_id, OTHER)
    nobodys = ask(desk, method, path, never, OTHER)

    shown = theirs.text + str(theirs.headers)
    if (method, path.rpartition("/")[2]) == ("POST", "reviews"):
        shown = shown.replace(job_id, "")  # Their own word comes back: it says nothing of ours.
    assert not [mine for mine in (job_id, GOOD.key, GOOD.prompt, CUSTOMER) if mine in shown]
    if "{job_id}" in path:
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.content == nobodys.content
    assert desk.door.ledger.job(job_id) == before
    assert desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None
    assert endpoints(desk) == hooks
    if "{endpoint_id}" in path or "{delivery_id}" in path or "{key_id}" in path:
        assert theirs.status_code == 404


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_serves_its_own_tenant(method: str, path: str) -> None:
    """Else a refusal to others would mean nothing."""
    desk = clerk()

    steers = path.startswith("/v1/jobs/") and path.endswith(("/cancel", "/resume"))
    job_id = desk.post().json()["jobId"] if steers else finished(desk)

    answer = ask(desk, method, path, job_id, TOKEN)

    assert answer.status_code in {200, 201, 202, 307}


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    ("sent", "status"), [(None, 401), ("wrong", 401), (token(scope="review"), 403)]
)
def test_every_route_needs_a_token_and_a_scope(
    method: str, path: str, sent: str | None, status: int
) -> None:
    """And tells nothing of why else it might refuse."""
    desk = clerk()
    job_id = finished(desk)

    answer = ask(desk, method, path, job_id, sent)

    assert answer.status_code == status
    assert job_id not in answer.text


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_counts_its_tenants_asks(method: str, path: str) -> None:
    """A second one within the minute is one too many here; another tenant's is not."""
    desk = clerk(lists_per_minute=1, reads_per_minute=1, writes_per_minute=1)

    # To plan first would be an ask more; one that nobody made is counted as well.
    answers = [
        desk.ask(method, path.format(token="none"), token=sent)
        if path.startswith("/v1/plans/")
        else ask(desk, method, path, "j-1", sent)
        for sent in (TOKEN, TOKEN, OTHER)
    ]

    first, refused, other = answers
    assert 429 not in {first.status_code, other.status_code}
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert refused.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", sorted(OPEN_TO_ALL))
def test_what_is_open_to_all_shows_nothing_of_anybody(path: str) -> None:
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", path.format(name="job"), token=None)

    # At the bare address there is nothing, but for a browser.
    assert answer.status_code == (404 if path == "/" else 200)
    assert not [mine for mine in (job_id, GOOD.key, GOOD.prompt) if mine in answer.text]


@pytest.mark.parametrize(
    "route", ["/v1/campaigns/spring-launch", "/v1/campaigns/spring-launch/jobs"]
)
def test_another_tenants_campaign_of_one_name_is_their_own(route: str) -> None:
    """Campaign names are the tenant's: two of one name share nothing."""
    desk = clerk()
    finished(desk)

    theirs = desk.ask("GET", route, token=OTHER).json()

    assert theirs["jobs"] in ([], 0)
