"""Endpoints and deliveries over HTTP. Here: what a customer can do, sees, and may not name."""

import pytest

from fireflyassets.core.endpoint import MOST_ENDPOINTS
from fireflyassets_tests.api.desk_clerk import Clerk, clerk, token

URL = "https://hooks.example.com/in"


def added(desk: Clerk, **changes: object) -> dict[str, str]:
    """Add an endpoint and return what is told of it."""
    answer = desk.ask("POST", "/v1/endpoints", json={"url": URL} | changes)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_secret_is_shown_once() -> None:
    """When it is made; in no list, and in no address of the endpoint."""
    desk = clerk()
    made = added(desk)

    assert made["secret"].startswith("whsec_")
    for path in ("/v1/endpoints", f"/v1/endpoints/{made['endpointId']}"):
        answer = desk.ask("GET", path)
        assert made["secret"] not in answer.text
        assert made["endpointId"] in answer.text
        assert answer.headers["Cache-Control"] == "no-store"


def test_a_rotation_makes_another_and_says_how_long_both_sign() -> None:
    desk = clerk()
    made = added(desk)

    told = desk.ask("POST", f"/v1/endpoints/{made['endpointId']}/secret").json()

    assert told["secret"] not in {made["secret"], ""}
    assert told["olderSecretUntil"] == "2026-12-01T12:00:00Z"


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://[::ffff:169.254.169.254]/",
        "https://inner.example.com/",
        "https://hooks.example.com:22/",
        "https://user:word@hooks.example.com/",
    ],
)
def test_an_address_that_is_not_public_is_refused(url: str) -> None:
    """By its form, and by where its name leads; when it is added and when it is changed."""
    desk = clerk()
    name = added(desk)["endpointId"]

    new = desk.ask("POST", "/v1/endpoints", json={"url": url})
    changed = desk.ask("PATCH", f"/v1/endpoints/{name}", json={"url": url})

    for answer in (new, changed):
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["rule"] == "address"
    assert desk.ask("GET", f"/v1/endpoints/{name}").json()["url"] == URL


def test_a_topic_of_an_account_that_is_not_known_as_theirs_is_refused() -> None:
    """That a topic lets us publish does not say whose it is."""
    topic = "arn:aws:sns:eu-west-1:123456789012:events"

    answer = clerk().ask("POST", "/v1/endpoints", json={"url": topic, "kind": "sns"})

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["rule"] == "topic"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": 1},
        {"url": URL, "types": ["job.gone"]},
        {"url": URL, "kind": "fax"},
        {"url": URL, "secret": "whsec_mine"},
        {"url": ""},
    ],
)
def test_an_odd_wish_is_told_field_by_field(body: dict[str, object]) -> None:
    answer = clerk().ask("POST", "/v1/endpoints", json=body)

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"]


def test_an_endpoint_can_be_switched_off_and_on() -> None:
    desk = clerk()
    path = f"/v1/endpoints/{added(desk)['endpointId']}"

    assert desk.ask("PATCH", path, json={"enabled": False}).json()["state"] == "disabled"
    told = desk.ask("PATCH", path, json={"enabled": True, "types": ["job.failed"]}).json()
    assert (told["state"], told["types"]) == ("active", ["job.failed"])
    assert desk.ask("DELETE", path).status_code == 200
    assert desk.ask("GET", path).status_code == 404


def test_there_is_a_bound() -> None:
    desk = clerk()
    for _ in range(MOST_ENDPOINTS):
        added(desk)

    answer = desk.ask("POST", "/v1/endpoints", json={"url": URL})

    assert answer.status_code == 409
    assert answer.json()["problems"][0]["rule"] == "endpoints"


def test_a_test_is_a_delivery_like_any_other() -> None:
    """It is due at once, and can be looked at."""
    desk = clerk()
    name = added(desk)["endpointId"]

    told = desk.ask("POST", f"/v1/endpoints/{name}/test")
    shown = desk.ask("GET", f"/v1/deliveries/{told.json()['deliveryId']}").json()

    assert told.status_code == 202
    assert (shown["type"], shown["outcome"]) == ("endpoint.test", "waiting")
    assert name in shown["body"]


def test_the_log_can_be_narrowed_and_paged() -> None:
    desk = clerk()
    first, second = (added(desk)["endpointId"] for _ in range(2))
    for name in [first] * 30 + [second] * 30:
        desk.ask("POST", f"/v1/endpoints/{name}/test")

    page = desk.ask("GET", "/v1/deliveries").json()
    rest = desk.ask("GET", f"/v1/deliveries?cursor={page['next']}").json()
    of_one = desk.ask("GET", f"/v1/deliveries?endpoint={first}").json()
    future = desk.ask("GET", "/v1/deliveries?since=2027-01-01T00:00:00Z").json()

    ids = [one["deliveryId"] for one in page["deliveries"] + rest["deliveries"]]
    assert len(ids) == len(set(ids)) == 60
    assert rest["next"] is None
    assert {one["endpointId"] for one in of_one["deliveries"]} == {first}
    assert future["deliveries"] == []


@pytest.mark.parametrize("said", ["yesterday", "2026-12-01", "2026-12-01T10:00:00"])
def test_a_time_without_its_zone_is_refused(said: str) -> None:
    answer = clerk().ask("GET", f"/v1/deliveries?since={said}")

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["rule"] == "time"


def test_what_waits_is_not_replayed_twice() -> None:
    desk = clerk()
    name = added(desk)["endpointId"]
    sent = desk.ask("POST", f"/v1/endpoints/{name}/test").json()["deliveryId"]

    one = desk.ask("POST", f"/v1/deliveries/{sent}/replay")
    of_all = desk.ask("POST", f"/v1/endpoints/{name}/replay?outcome=delivered")

    assert one.json() == of_all.json() == {"replayed": 0}
    assert one.status_code == of_all.status_code == 202


def test_who_may_read_may_not_change() -> None:
    reader = token(scope="jobs:read")
    desk = clerk()
    name = added(desk)["endpointId"]

    assert desk.ask("GET", "/v1/endpoints", token=reader).status_code == 200
    for method, path in [("POST", ""), ("DELETE", f"/{name}"), ("POST", f"/{name}/secret")]:
        answer = desk.ask(method, f"/v1/endpoints{path}", token=reader, json={"url": URL})
        assert answer.status_code == 403


def test_the_description_names_every_event() -> None:
    told = clerk().ask("GET", "/openapi.json", token=None).json()["webhooks"]

    assert "job.succeeded" in told
    for name, one in told.items():
        schema = one["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"]["type"] == {"const": name}
