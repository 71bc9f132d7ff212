"""Telling and handing out over HTTP. Here: what each route shows, and to whom."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from fireflyassets.adapters.memory.objects import key_of
from fireflyassets.api.answers import VERSION
from fireflyassets.api.reads import FRESH
from fireflyassets.core import guidance, ids
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import FENCE, Hold
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Release
from fireflyassets_tests.api.desk_clerk import (
    PUBLIC,
    Clerk,
    clerk,
    finish,
    finished,
)
from fireflyassets_tests.contracts.ledgers import NOON, attempt, operation
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, FixedCatalogue, config


def test_a_job_tells_how_it_stands() -> None:
    """Queued, then done with its outputs by our addresses; money as decimal strings."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    before = desk.ask("GET", f"/v1/jobs/{job_id}").json()
    finish(desk.door, job_id)

    after = desk.ask("GET", f"/v1/jobs/{job_id}").json()

    assert (before["status"], before["outputs"], before["costActual"]) == ("queued", [], None)
    assert (after["status"], after["costActual"]) == ("succeeded", "3.5")
    assert (before["costPossible"], after["costPossible"]) == (None, "0.5")
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
    assert (told["failureClass"], told["guidance"]) == (None, None)  # Nobody has classed it.


def test_a_classed_fault_says_what_to_change() -> None:
    """In our words, by the class; a job that goes on says nothing of it."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    before = desk.ask("GET", f"/v1/jobs/{job_id}").json()
    finish(desk.door, job_id, status=Status.REVIEW, failure=FailureClass.UNSAFE_CONTENT)

    told = desk.ask("GET", f"/v1/jobs/{job_id}").json()

    assert (before["failureClass"], before["guidance"]) == (None, None)
    assert told["failureClass"] == "unsafe-content"
    assert told["guidance"] == guidance.told(FailureClass.UNSAFE_CONTENT)


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


@pytest.mark.parametrize(
    ("status", "said", "fix"),
    [
        (Status.CANCELLED, "it has no outputs.", "under a new key"),
        (Status.FAILED, "it has no outputs.", "under a new key"),
        (Status.REVIEW, "it has no outputs.", "under a new key"),
        (Status.DLQ, "it has no outputs yet.", "how the job stands"),
    ],
)
def test_outputs_of_a_job_that_ended_without_any(status: Status, said: str, fix: str) -> None:
    """The job is there, and the answer says whether waiting helps."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    finish(desk.door, job_id, status=status)

    answer = desk.ask("GET", f"/v1/jobs/{job_id}/outputs/1080x1920")

    assert answer.status_code == 404
    assert said in answer.json()["detail"]
    assert fix in answer.json()["problems"][0]["fix"]


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
        desk.post(idempotencyKey=key)
    finish(desk.door, ids.job_id(CUSTOMER, "b"))

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()

    assert told["jobs"] == 3
    assert {name: n for name, n in told["byStatus"].items() if n} == {"queued": 2, "succeeded": 1}
    assert sum(told["byStatus"].values()) == 3
    costs = (told["costEstimate"], told["costActual"], told["costPossible"])
    assert costs == ("10.5", "3.5", "0.5")


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

    for size in (1_000, 600, 7):
        pages = list(paged(desk, f"/v1/campaigns/{CAMPAIGN}/jobs?limit={size}"))
        assert [job["idempotencyKey"] for page in pages for job in page] == keys
        assert {len(page) for page in pages[:-1]} == {size}


def paged(desk: Clerk, path: str) -> Iterator[list[dict[str, object]]]:
    """Yield the jobs of each page until there is no next."""
    more = ""
    while True:
        told = desk.ask("GET", path + more).json()
        yield told["jobs"]
        if told["next"] is None:
            return
        more = f"&cursor={told['next']}"


def test_jobs_that_come_in_while_somebody_pages_are_neither_lost_nor_told_twice() -> None:
    """A page begins where the one before it ended, whatever was added since."""
    desk = clerk()
    for key in ("a", "b", "c"):
        desk.post(idempotencyKey=key)
        desk.door.clock.jump(timedelta(seconds=1))
    path = f"/v1/campaigns/{CAMPAIGN}/jobs?limit=2"
    first = desk.ask("GET", path).json()
    desk.post(idempotencyKey="d")

    second = desk.ask("GET", f"{path}&cursor={first['next']}").json()
    third = desk.ask("GET", f"{path}&cursor={second['next']}").json()

    assert [job["idempotencyKey"] for job in first["jobs"] + second["jobs"]] == ["a", "b", "c", "d"]
    assert (third["jobs"], third["next"]) == ([], None)


@pytest.mark.parametrize("cursor", ["x", "ä", "", "e30", "IyM", "A" * 3000, "OTk5OTktMDEtMDEj"])
def test_a_cursor_of_nobodys_is_refused(cursor: str) -> None:
    answer = clerk().ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?cursor={cursor}")

    assert answer.status_code == 400
    assert answer.json()["problems"][0]["field"] == "cursor"


def test_what_has_not_changed_is_not_told_again() -> None:
    """304 to who holds the ETag, until something moves."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    for path in (
        f"/v1/jobs/{job_id}",
        f"/v1/campaigns/{CAMPAIGN}",
        f"/v1/campaigns/{CAMPAIGN}/jobs",
    ):
        first = desk.ask("GET", path)
        known = {"If-None-Match": f'"other", W/{first.headers["ETag"]}'}
        again = desk.ask("GET", path, headers=known)
        other = desk.ask("GET", path, headers={"If-None-Match": '"other"'})

        assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
        assert again.content == b""
        assert again.headers["ETag"] == first.headers["ETag"]
    finish(desk.door, job_id)
    desk.door.clock.jump(FRESH)

    assert desk.ask("GET", path, headers=known).status_code == 200


def test_a_caller_pins_the_contract() -> None:
    """The version it was written for is served or refused, never guessed."""
    desk = clerk()
    path = f"/v1/campaigns/{CAMPAIGN}"

    answers = [
        desk.ask("GET", path, headers={"api-version": version})
        for version in (VERSION, "2020-01-01")
    ]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["problems"][0]["rule"] == "version"


def test_a_list_can_be_of_one_status() -> None:
    desk = clerk()
    job_id = finished(desk)
    desk.post(idempotencyKey="other")

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?status=succeeded").json()
    wrong = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?status=done")

    assert [job["jobId"] for job in told["jobs"]] == [job_id]
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    ("method", "address", "told"),
    [
        ("POST", "/v1/jobs:batch", "campaign is missing."),
        ("POST", "/v1/jobs:batch?campaign=A_B", "campaign must be a name of a-z, 0-9 and"),
        (
            "GET",
            f"/v1/campaigns/{CAMPAIGN}/jobs?limit=0",
            "limit must be a whole number, 1 or more.",
        ),
        ("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?limit=x", "limit must be a whole number."),
        ("GET", f"/v1/campaigns/{CAMPAIGN}/jobs?status=foo", "status must be 'queued', 'running'"),
    ],
)
def test_a_wrong_parameter_is_told_in_our_words(method: str, address: str, told: str) -> None:
    """With what it must be, how to mend it, and a link to the rule."""
    answer = clerk().ask(method, address, content=b"x", headers={"Content-Type": "text/csv"})

    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert problem["message"].startswith(told)
    assert problem["field"] in problem["fix"]
    assert problem["doc"].endswith("#parameter")


def test_a_new_campaign_is_empty_and_an_unknown_one_is_not_found() -> None:
    """A campaign with none is told as such."""
    desk = clerk()

    assert desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()["jobs"] == 0
    assert desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/jobs").json()["jobs"] == []
    for path in ("/v1/campaigns/nothing", "/v1/campaigns/nothing/jobs", "/v1/campaigns/A_B"):
        assert desk.ask("GET", path).status_code == 404


@pytest.mark.parametrize("job", ["%00", "..%2f..%2fetc", "x" * 300, "a b", "ä"])
def test_odd_ids_are_not_found(job: str) -> None:
    """They never reach the ledger."""
    assert clerk().ask("GET", f"/v1/jobs/{job}").status_code == 404


def test_unknown_routes_and_methods_are_problems() -> None:
    """In the one shape."""
    desk = clerk()

    paths = {"/nothing": "GET", "/v1/jobs": "DELETE", "/v1/plans/secret/release": "GET"}
    answers = [desk.ask(method, path) for path, method in paths.items()]

    assert [answer.status_code for answer in answers] == [404, 405, 405]
    assert [one["rule"] for answer in answers for one in answer.json()["problems"]] == [
        "unknown",
        "method",
        "method",
    ]
    assert answers[1].json()["problems"][0]["fix"] == "Send POST."
    assert "secret" not in answers[2].text
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/problem+json"}


def test_health_needs_nothing() -> None:
    answer = clerk().ask("GET", "/health", token=None)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_the_description_lists_the_public_routes() -> None:
    """What a customer's developer reads is there, internal pages are not."""
    paths = clerk().ask("GET", "/openapi.json", token=None).json()["paths"]

    assert set(paths) == {
        "/v1/api-keys",
        "/v1/api-keys/{key_id}",
        "/v1/api-keys/{key_id}/rotate",
        "/v1/budgets",
        "/v1/campaigns",
        "/v1/campaigns/{campaign}",
        "/v1/campaigns/{campaign}/cancel",
        "/v1/campaigns/{campaign}/hold",
        "/v1/campaigns/{campaign}/jobs",
        "/v1/campaigns/{campaign}/jobs.csv",
        "/v1/campaigns/{campaign}/plan",
        "/v1/campaigns/{campaign}/resume",
        "/v1/campaigns/{campaign}/reviews",
        "/v1/deliveries",
        "/v1/deliveries/{delivery_id}",
        "/v1/deliveries/{delivery_id}/replay",
        "/v1/endpoints",
        "/v1/endpoints/{endpoint_id}",
        "/v1/endpoints/{endpoint_id}/replay",
        "/v1/endpoints/{endpoint_id}/secret",
        "/v1/endpoints/{endpoint_id}/test",
        "/v1/jobs",
        "/v1/jobs/{job_id}",
        "/v1/jobs/{job_id}/cancel",
        "/v1/jobs/{job_id}/legal-hold",
        "/v1/jobs/{job_id}/legal-hold/release",
        "/v1/jobs/{job_id}/outputs/{aspect}",
        "/v1/jobs/{job_id}/resume",
        "/v1/jobs/{job_id}/reviews",
        "/v1/jobs/{job_id}/why",
        "/v1/jobs:batch",
        "/v1/plans",
        "/v1/plans/{token}/release",
        "/v1/references",
    }


def test_a_job_at_work_tells_what_its_calls_have_cost_so_far() -> None:
    """Null before the first call; then what is certain, and what may be billed besides."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    ledger = desk.door.ledger
    claim = ledger.claim(job_id, CUSTOMER, "w-1", now=NOON)
    assert claim is not None

    def told() -> list[str | None]:
        answer = desk.ask("GET", f"/v1/jobs/{job_id}").json()
        return [answer["costActual"], answer["costPossible"]]

    before = told()
    sent = attempt(claim)
    ledger.begin_attempt(sent)
    ledger.book([operation(claim, "v-1"), operation(claim, "v-2", cause=Cause.POSSIBLE_COST)])
    at_work = told()
    hold = Hold("an outcome is unknown", NOON, FENCE)
    ledger.release(claim, Release("unknown", hold=hold), now=NOON)

    price = str(operation(claim).operations)
    assert before == [None, None]
    assert at_work == told() == [price, price]
