"""Taking jobs in over HTTP. Here: answers and what they leave behind."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from fireflyassets.core import ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import ServiceDown, StoreUnavailable
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets_tests.api.desk_clerk import JOB, OTHER, PUBLIC, TOKEN, clerk
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    card,
    config,
)

HEAD = "key,prompt,locale,headline,aspects"
ROW = "k1,A glass,en-GB,Spring,1920x1080|1080x1080"
BATCH = f"/v1/jobs:batch?campaign={CAMPAIGN}"
CSV = {"Content-Type": "text/csv; charset=utf-8"}


def sheet(*rows: str) -> bytes:
    return "\n".join([HEAD, *rows]).encode()


def test_a_job_is_accepted_with_its_address_and_price() -> None:
    """202, where to look, what it will cost; the row is durable before the answer."""
    desk = clerk()

    answer = desk.post()

    job_id = ids.job_id(CUSTOMER, "job-1")
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"{PUBLIC}/v1/jobs/{job_id}"
    assert answer.json()["jobId"] == job_id
    assert (answer.json()["status"], answer.json()["costEstimate"]) == ("queued", "3.5")
    assert desk.door.ledger.job(job_id) is not None
    assert desk.door.queue.receive(most=1)


def test_the_same_job_again_gets_the_same_answer() -> None:
    """However often a caller repeats itself, there is one job."""
    desk = clerk()
    first = desk.post()

    repeats = [desk.post() for _ in range(3)]

    assert [again.json() for again in repeats] == [first.json()] * 3
    assert [again.status_code for again in repeats] == [202] * 3
    assert len(desk.door.ledger.outbox) == 1


def test_another_job_under_the_key_is_a_conflict() -> None:
    """409, and not a word of what the first one said."""
    desk = clerk()
    desk.post(prompt="FIRSTPROMPT")

    answer = desk.post(prompt="Second")

    assert answer.status_code == 409
    assert answer.json()["problems"][0]["rule"] == "conflict"
    assert "FIRSTPROMPT" not in answer.text


def test_the_header_is_a_place_for_the_key() -> None:
    """In it, in the body, or the same in both: one job."""
    desk = clerk()
    header = {"Idempotency-Key": "job-1"}
    without = {name: value for name, value in JOB.items() if name != "idempotencyKey"}

    answers = [
        desk.ask("POST", "/v1/jobs", json=without, headers=header),
        desk.ask("POST", "/v1/jobs", json=JOB, headers=header),
        desk.post(),
    ]

    assert {answer.json()["jobId"] for answer in answers} == {ids.job_id(CUSTOMER, "job-1")}


def test_two_different_keys_are_refused() -> None:
    """Which of them the caller means is not guessed."""
    answer = clerk().ask("POST", "/v1/jobs", json=JOB, headers={"Idempotency-Key": "other"})

    assert answer.status_code == 400
    assert [problem["rule"] for problem in answer.json()["problems"]] == ["mismatch"]


def test_the_key_has_one_name_in_json() -> None:
    """The column of a spreadsheet is no field of a job."""
    answer = clerk().ask(
        "POST", "/v1/jobs", json=JOB | {"key": "k"}, headers={"Idempotency-Key": "job-1"}
    )

    assert answer.status_code == 422
    assert [problem["field"] for problem in answer.json()["problems"]] == ["key"]


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"idempotencyKey": "a/b"}, "idempotencyKey", "key"),
        ({"idempotencyKey": 7}, "idempotencyKey", "type"),
        ({"campaign": None}, "campaign", "slug"),
        ({"campaign": "../x"}, "campaign", "slug"),
        ({"prompt": ""}, "prompt", "empty"),
        ({"prompt": "x" * 1025}, "prompt", "length"),
        ({"prompt": "half \ud83d"}, "prompt", "surrogate"),
        ({"prompt": "nul \u0000"}, "prompt", "control"),
        ({"prompt": "=cmd"}, "prompt", "formula"),
        ({"headline": "abc \u202e"}, "headline", "bidi"),
        ({"locale": "fr-FR"}, "locale", "locale"),
        ({"aspects": ["1x1"]}, "aspects", "aspect"),
        ({"aspects": "1920x1080"}, "aspects", "type"),
        ({"customer": "bolt"}, "customer", "unknown"),
        ({"\ud83d\u0007": 1}, "\\ud83d\\x07", "unknown"),
    ],
)
def test_a_bad_job_is_answered_with_field_rule_and_fix(
    changes: dict[str, object], field: str, rule: str
) -> None:
    """And nothing is written."""
    desk = clerk()
    fields = {name: value for name, value in (JOB | changes).items() if value is not None}

    answer = desk.ask(
        "POST",
        "/v1/jobs",
        content=json.dumps(fields).encode(),
        headers={"Content-Type": "application/json"},
    )

    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    told = answer.json()["problems"]
    assert [(problem["field"], problem["rule"]) for problem in told] == [(field, rule)]
    assert told[0]["fix"]
    assert desk.door.objects.objects == {}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff\xfe", b"[" * 50_000])
def test_what_is_no_json_object_is_a_bad_request(body: bytes) -> None:
    """Nothing makes the parser fail on our side."""
    answer = clerk().ask(
        "POST", "/v1/jobs", content=body, headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 400
    assert answer.json()["problems"][0]["fix"]


@pytest.mark.parametrize("changes", [{"idempotencyKey": None}, {"idempotencyKey": ""}])
def test_a_job_without_a_key_is_a_bad_request(changes: dict[str, object]) -> None:
    """400: without a key no repeat could be told from a second job."""
    answer = clerk().post(**changes)

    assert answer.status_code == 400
    told = answer.json()["problems"]
    assert [(problem["field"], problem["rule"]) for problem in told] == [
        ("idempotencyKey", "missing")
    ]


def test_an_unknown_campaign_is_not_found() -> None:
    """Another tenant's is as unknown as none."""
    alone = FixedCatalogue(config(), config(customer="bolt", campaign="secret-launch"))
    desk = clerk(alone)

    unknown, others = (desk.post(campaign=name) for name in ("nothing-here", "secret-launch"))

    assert unknown.status_code == others.status_code == 404
    assert unknown.text.replace("nothing-here", "") == others.text.replace("secret-launch", "")


def test_a_campaign_without_a_price_is_our_fault_not_the_callers() -> None:
    """503: the same request may be sent again once it is mended."""
    answer = clerk(FixedCatalogue(config(), cards=(card(generate={}),))).post()

    assert answer.status_code == 503
    assert "card" in answer.json()["detail"]


class _DeadCatalogue(FixedCatalogue):
    """A catalogue whose every answer is an error."""

    def __init__(self, error: Exception) -> None:
        super().__init__(config())
        self._error = error

    def campaign(self, customer: str, campaign: str) -> Campaign:
        raise self._error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ServiceDown("The ledger is away."), 503),
        (StoreUnavailable("DynamoDB", "ThrottlingException"), 503),
        (KeyError("SECRET"), 500),
    ],
)
def test_faults_of_ours_are_problems_too(error: Exception, status: int) -> None:
    """One shape for all; a bug's words stay inside."""
    dead: Catalogue = _DeadCatalogue(error)

    answer = clerk(dead).post()

    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "SECRET" not in answer.text


def test_all_doors_need_a_token() -> None:
    """Without one, or with another one, nothing is read and nothing is written."""
    desk = clerk()

    for token in (None, "", "wrong", TOKEN + "x", OTHER[:-1], "ÿ"):
        answers = [
            desk.ask("POST", "/v1/jobs", json=JOB, token=token),
            desk.ask("POST", BATCH, content=sheet(ROW), headers=CSV, token=token),
        ]
        assert [answer.status_code for answer in answers] == [401, 401]
        assert answers[0].headers["WWW-Authenticate"].startswith("Bearer error=")
    assert desk.door.objects.objects == {}


def test_a_body_without_a_token_is_not_even_read() -> None:
    """A stranger can't make the door work."""

    async def stream() -> AsyncIterator[bytes]:
        raise AssertionError("The body was read.")
        yield b""

    answer = clerk().ask(
        "POST",
        "/v1/jobs",
        content=stream(),
        headers={"Content-Type": "application/json"},
        token=None,
    )

    assert answer.status_code == 401


def test_without_an_issuer_nobody_is_let_in() -> None:
    """An API that nobody configured is closed, not open."""
    assert clerk(issuer="").post().status_code == 401


def test_jobs_belong_to_the_tokens_tenant() -> None:
    """One key under two tokens is two jobs, each its own tenant's."""
    desk = clerk()

    mine = desk.ask("POST", "/v1/jobs", json=JOB).json()["jobId"]
    theirs = desk.ask("POST", "/v1/jobs", json=JOB, token=OTHER).json()["jobId"]

    rows = [desk.door.ledger.job(job) for job in (mine, theirs)]
    assert [row.customer_id for row in rows if row] == [CUSTOMER, "bolt"]


def test_work_that_would_not_be_made_in_time_is_sent_back_with_when_to_come_again() -> None:
    """A job or a brief alike: 429, Retry-After, and the reason with what would fit."""
    desk = clerk(max_backlog_hours=1 / 60)
    rows = "".join(f"k{n},A meadow,en-GB,Spring,{ASPECTS[0]}\n" for n in range(3))
    content = f"key,prompt,locale,headline,aspects\n{rows}".encode()
    path, kind = f"/v1/jobs:batch?campaign={CAMPAIGN}", {"Content-Type": "text/csv"}

    whole = desk.ask("POST", path, content=content, headers=kind)
    part = desk.ask("POST", f"{path}&partial=true", content=content, headers=kind)
    single = desk.post(idempotencyKey="late")
    known = desk.ask("POST", "/v1/jobs", json=JOB | {"idempotencyKey": "none", "aspects": []})

    assert (whole.status_code, whole.headers["Retry-After"]) == (429, "60")
    (problem,) = whole.json()["problems"]
    assert problem["rule"] == "backlog"
    assert problem["fix"].startswith("Send the first 1 now")
    assert part.status_code == 202
    assert (part.json()["accepted"], part.json()["refused"]) == (1, 2)
    assert [one["row"] for one in part.json()["problems"]] == [3, 4]
    assert (single.status_code, single.headers["Retry-After"]) == (429, "60")
    assert known.status_code == 422


def test_after_its_deadline_a_campaign_refuses_new_jobs_for_good() -> None:
    """422, which says when it was and whom to ask; a plan says the same before."""
    past = NOON - timedelta(hours=1)
    desk = clerk(FixedCatalogue(config(deadline=past)))

    told = desk.post()

    assert told.status_code == 422
    assert "Retry-After" not in told.headers
    assert told.json()["problems"][0]["rule"] == "deadline"
    content = f"key,prompt,locale,headline,aspects\nk,A,en-GB,S,{ASPECTS[0]}\n".encode()
    kind = {"Content-Type": "text/csv"}
    plan = desk.ask("POST", f"/v1/plans?campaign={CAMPAIGN}", content=content, headers=kind)
    assert plan.json()["token"] is None
    assert plan.json()["fits"] is False
    assert plan.json()["problems"][0]["rule"] == "deadline"
