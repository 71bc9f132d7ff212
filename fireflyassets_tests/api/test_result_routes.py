"""Telling and handing out over HTTP. Here: what each route shows, and to whom."""

import io
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from PIL import Image

from fireflyassets.adapters.memory.objects import key_of
from fireflyassets.core import ids
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import (
    OTHER,
    PUBLIC,
    TOKEN,
    Clerk,
    clerk,
    finish,
    picture,
)
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, FixedCatalogue, config

LOOPBACK = "http://127.0.0.1:8000"


def finished(desk: Clerk) -> str:
    """Return the id of a job that was accepted and has run."""
    job_id: str = desk.post().json()["jobId"]
    finish(desk.door, job_id)
    return job_id


def test_a_job_tells_how_it_stands() -> None:
    """Queued, then done with its outputs by our addresses; money as decimal strings."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    before = desk.ask("GET", f"/v1/jobs/{job_id}").json()
    finish(desk.door, job_id)

    after = desk.ask("GET", f"/v1/jobs/{job_id}").json()

    assert (before["status"], before["outputs"], before["costActual"]) == ("queued", [], None)
    assert (after["status"], after["costActual"]) == ("succeeded", "3.5")
    assert after["completedAt"] == "2026-11-30T12:00:00Z"
    assert [output["aspect"] for output in after["outputs"]] == list(ASPECTS)
    assert after["outputs"][0]["url"] == f"{PUBLIC}/v1/jobs/{job_id}/outputs/{ASPECTS[0]}"


def test_a_failed_job_tells_why() -> None:
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    finish(desk.door, job_id, status=Status.REVIEW)

    told = desk.ask("GET", f"/v1/jobs/{job_id}").json()

    assert (told["status"], told["outputs"]) == ("review", [])
    assert "prompt_unsafe" in told["reason"]


def test_an_output_is_a_redirect_to_a_url_signed_now() -> None:
    """307, never stored by caches; the address of ours can be asked again any time."""
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1080x1920")

    assert answer.status_code == 307
    assert answer.headers["Cache-Control"] == "no-store"
    key = key_of(answer.headers["Location"])
    assert key == ids.delivery_key(CUSTOMER, CAMPAIGN, job_id, "1080x1920", "picture.jpg")
    assert "life=300" in urlsplit(answer.headers["Location"]).query


def test_outputs_that_are_not_there_are_not_found() -> None:
    """An aspect nobody asked for, a job that is not done, an object that has expired."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    early = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1080x1920")
    finish(desk.door, job_id)
    other = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1x1")

    assert (early.status_code, other.status_code) == (404, 404)
    assert "queued" in early.json()["detail"]


def test_an_output_that_is_no_longer_kept_is_gone() -> None:
    """A link to nothing is worse than an answer."""
    kept = clerk()
    job_id = finished(kept)
    row = kept.door.ledger.job(job_id)
    assert row is not None
    desk = clerk()
    desk.door.ledger._write(row)

    answer = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1080x1920")

    assert answer.status_code == 410
    assert answer.json()["problems"][0]["rule"] == "expired"


def test_outputs_wait_for_the_reviewers() -> None:
    """Neither named nor handed out while the review is pending."""
    desk = clerk(FixedCatalogue(config(review=ReviewMode.REQUIRED)))
    job_id = finished(desk)

    told = desk.ask("GET", f"/v1/jobs/{job_id}").json()
    answer = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1080x1920")

    assert (told["outputs"], told["humanReviewed"]) == ([], "pending")
    assert answer.status_code == 409
    assert "Location" not in answer.headers


def test_a_campaign_sums_up_its_jobs() -> None:
    """Counts by status, and both sums exact: three times 3.5 is 10.5."""
    desk = clerk()
    for key in ("a", "b", "c"):
        desk.post(key=key)
    finish(desk.door, ids.job_id(CUSTOMER, "b"))

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()

    assert told["jobs"] == 3
    assert {name: n for name, n in told["byStatus"].items() if n} == {"queued": 2, "succeeded": 1}
    assert sum(told["byStatus"].values()) == 3
    assert (told["costEstimate"], told["costActual"]) == ("10.5", "3.5")


def test_a_campaign_lists_all_its_jobs_in_time_order() -> None:
    """None is left out, whatever their number, and the order is that of the brief."""
    desk = clerk()
    keys = [f"k{n}" for n in range(1_200, 0, -1)]
    rows = "\n".join(f"{key},A glass,en-GB,Spring,1080x1080" for key in keys)
    desk.ask(
        "POST",
        f"/v1/jobs:batch?campaign={CAMPAIGN}",
        content=f"key,prompt,locale,headline,aspects\n{rows}".encode(),
        headers={"Content-Type": "text/csv"},
    )

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs").json()

    assert [job["key"] for job in told["jobs"]] == keys


def test_a_list_can_be_of_one_status() -> None:
    desk = clerk()
    job_id = finished(desk)
    desk.post(key="other")

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?status=succeeded").json()
    wrong = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?status=done")

    assert [job["jobId"] for job in told["jobs"]] == [job_id]
    assert wrong.status_code == 422


def test_a_new_campaign_is_empty_and_an_unknown_one_is_not_found() -> None:
    """A campaign with none is told as such."""
    desk = clerk()

    assert desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()["jobs"] == 0
    assert desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs").json()["jobs"] == []
    for path in ("/v1/campaigns/nothing", "/v1/campaigns/nothing/jobs", "/v1/campaigns/A_B"):
        assert desk.ask("GET", path).status_code == 404


ROUTES = [
    "/v1/jobs/{job}",
    "/v1/jobs/{job}/outputs/1080x1920",
    "/assets/acme/spring-launch/{job}/1080x1920",
]


@pytest.mark.parametrize("route", ROUTES)
def test_another_tenant_sees_no_job_of_ours(route: str) -> None:
    """For them it is not there: the answer is that of an id that never was."""
    desk = clerk()
    job_id = finished(desk)
    never = ids.job_id(CUSTOMER, "never")

    mine = desk.ask("GET", route.format(job=job_id))
    theirs = desk.ask("GET", route.format(job=job_id), token=OTHER)
    nobodys = desk.ask("GET", route.format(job=never), token=OTHER)

    assert mine.status_code in {200, 307}
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.content == nobodys.content


@pytest.mark.parametrize(
    "route", ["/v1/campaigns/spring-launch", "/v1/campaigns/spring-launch/jobs"]
)
def test_another_tenants_campaign_of_one_name_is_their_own(route: str) -> None:
    """Campaign names are the tenant's: two of one name share nothing."""
    desk = clerk()
    finished(desk)

    theirs = desk.ask("GET", route, token=OTHER).json()

    assert theirs["jobs"] in ([], 0)


@pytest.mark.parametrize(
    "route", [*ROUTES, "/v1/campaigns/spring-launch", "/v1/campaigns/spring-launch/jobs"]
)
@pytest.mark.parametrize("token", [None, "wrong"])
def test_every_route_needs_a_token(route: str, token: str | None) -> None:
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", route.format(job=job_id), token=token)

    assert answer.status_code == 401
    assert job_id not in answer.text


@pytest.mark.parametrize("job", ["%00", "..%2f..%2fetc", "x" * 300, "a b", "ä"])
def test_odd_ids_are_not_found(job: str) -> None:
    """They never reach the ledger."""
    assert clerk().ask("GET", f"/v1/jobs/{job}").status_code == 404


def test_unknown_routes_and_methods_are_problems() -> None:
    """In the one shape."""
    desk = clerk()

    answers = [desk.ask("GET", "/nothing"), desk.ask("DELETE", "/v1/jobs")]

    assert [answer.status_code for answer in answers] == [404, 405]
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/problem+json"}


def test_health_needs_nothing() -> None:
    answer = clerk().ask("GET", "/health", token=None)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_the_description_lists_the_public_routes() -> None:
    """What a customer's developer reads is there, internal pages are not."""
    paths = clerk().ask("GET", "/openapi.json", token=None).json()["paths"]

    assert set(paths) == {
        "/v1/jobs",
        "/v1/jobs:batch",
        "/v1/jobs/{job_id}",
        "/v1/jobs/{job_id}/outputs/{aspect}",
        "/v1/campaigns/{campaign}",
        "/v1/campaigns/{campaign}/jobs",
    }


# -- thumbnails -------------------------------------------------------------------------------
def test_a_thumbnail_is_a_small_webp() -> None:
    """At most 320 pixels wide, from the delivered file."""
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920")

    assert answer.headers["Content-Type"] == "image/webp"
    small = Image.open(io.BytesIO(answer.content))
    assert (small.format, small.size) == ("WEBP", (320, 180))


def test_pages_of_the_local_stack_show_pictures_without_a_token() -> None:
    """Only where the public address and the one who asks are this machine."""
    for api_url, peer, status in [
        (LOOPBACK, "127.0.0.1", 200),
        (LOOPBACK, "203.0.113.9", 401),
        (PUBLIC, "127.0.0.1", 401),
        (PUBLIC, "203.0.113.9", 401),
    ]:
        desk = clerk(api_url=api_url, peer=peer)
        job_id = finished(desk)

        answer = desk.ask("GET", f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920", token=None)

        assert answer.status_code == status


def test_a_token_counts_on_the_local_stack_too() -> None:
    """Another tenant's token never opens ours, wherever it is shown."""
    desk = clerk(api_url=LOOPBACK, peer="127.0.0.1")
    job_id = finished(desk)

    address = f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920"

    assert desk.ask("GET", address, token=TOKEN).status_code == 200
    assert desk.ask("GET", address, token=OTHER).status_code == 404
    assert desk.ask("GET", address, token="wrong").status_code == 401


def test_pictures_that_are_not_there_are_not_found() -> None:
    """Wrong names anywhere in the address, and files that are no picture."""
    desk = clerk()
    job_id = finished(desk)
    key = ids.delivery_key(CUSTOMER, CAMPAIGN, job_id, "1080x1080", "picture.jpg")
    desk.door.objects.put(key, picture()[:200], media_type="image/jpeg")

    for address in (
        f"/assets/{CUSTOMER}/other/{job_id}/1080x1920",
        f"/assets/bolt/{CAMPAIGN}/{job_id}/1080x1920",
        f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1x1",
        f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1080",
    ):
        assert desk.ask("GET", address).status_code == 404


def test_a_thumbnail_is_made_once() -> None:
    """The second time it comes from memory, and a new generation is made anew."""
    desk = clerk()
    job_id = finished(desk)
    address = f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920"
    first = desk.ask("GET", address).content
    key = ids.delivery_key(CUSTOMER, CAMPAIGN, job_id, "1080x1920", "picture.jpg")
    desk.door.objects.put(key, picture(100, 100), media_type="image/jpeg")

    again = desk.ask("GET", address).content
    row = desk.door.ledger.job(job_id)
    assert row is not None
    desk.door.ledger._write(replace(row, generation=2))
    anew = desk.ask("GET", address).content

    assert again == first
    assert Image.open(io.BytesIO(anew)).size == (100, 100)
