"""Steering over HTTP. Here: what is answered, and which scope it wants."""

import pytest

from fireflyassets.core.job import FACTORY, Hold
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Release
from fireflyassets_tests.api.desk_clerk import Clerk, clerk, finish, finished, token
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, NOON

ALL = f"/v1/campaigns/{CAMPAIGN}"


def test_a_job_is_cancelled_once_and_for_all() -> None:
    """The answer is the job; to ask again is safe; the same key brings it not back."""
    desk = clerk()
    job_id = desk.post().json()["jobId"]

    first, again = (desk.ask("POST", f"/v1/jobs/{job_id}/cancel") for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json() == desk.ask("GET", f"/v1/jobs/{job_id}").json()
    assert (first.json()["status"], first.json()["costActual"]) == ("cancelled", "0")
    assert first.json()["reason"] == f"Cancelled by system-of-{CUSTOMER}."
    assert desk.post().json()["status"] == "cancelled"


def test_a_job_that_can_not_be_cancelled_says_why() -> None:
    """409 with what to do."""
    desk = clerk()
    done = finished(desk)

    answer = desk.ask("POST", f"/v1/jobs/{done}/cancel")

    assert answer.status_code == 409
    assert "succeeded" in answer.json()["problems"][0]["message"]


def test_a_running_job_is_cancelled_by_its_wave() -> None:
    """202: it is asked for, and the job says so until its wave has ended it."""
    desk = clerk()
    working = desk.post(idempotencyKey="other").json()["jobId"]
    claim = desk.door.ledger.claim(working, CUSTOMER, "w-9", now=NOON)
    assert claim is not None

    answers = [desk.ask("POST", f"/v1/jobs/{working}/cancel") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["status"] == "running"
    assert answers[0].json()["reason"] == f"Cancelled by system-of-{CUSTOMER}."
    desk.door.ledger.release(claim, Release("parked"), now=NOON)
    assert desk.ask("GET", f"/v1/jobs/{working}").json()["status"] == "cancelled"


def test_a_campaign_is_held_resumed_and_cancelled() -> None:
    """Its sums show the hold with its reason, and what is left running."""
    desk = clerk()
    for key in ("a", "b"):
        desk.post(idempotencyKey=key)

    held = desk.ask("POST", f"{ALL}/hold", json={"reason": "wrong price"}).json()
    resumed = desk.ask("POST", f"{ALL}/resume").json()
    cancelled = desk.ask("POST", f"{ALL}/cancel").json()

    assert (held["held"], resumed["held"]) == (2, 0)
    assert held["hold"] == f"The campaign is on hold (system-of-{CUSTOMER}): wrong price"
    assert resumed["hold"] is None
    assert cancelled["byStatus"]["cancelled"] == 2
    assert "wait until it is resumed" in cancelled["hold"]
    assert desk.ask("GET", ALL).json() == cancelled


@pytest.mark.parametrize(
    ("query", "body", "status", "rule"),
    [
        ("?reason=wrong+price", None, 400, "parameter"),
        ("", {"reason": ""}, 422, "empty"),
        ("", {"reason": "two\nlines"}, 422, "control"),
        ("", {"reason": "x" * 201}, 422, "length"),
        ("", {"reason": 1}, 422, "type"),
        ("", {"reason": "price", "until": "noon"}, 422, "type"),
        ("", ["price"], 400, "type"),
    ],
)
def test_a_reason_that_is_not_read_is_refused(
    query: str, body: object, status: int, rule: str
) -> None:
    """Whoever says why is heard or told, and the campaign is not held for another reason."""
    desk = clerk()
    desk.post()

    answer = desk.ask("POST", f"{ALL}/hold{query}", json=body)

    assert answer.status_code == status
    assert [one["rule"] for one in answer.json()["problems"]] == [rule]
    assert desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


def test_a_campaign_may_be_held_without_a_word() -> None:
    desk = clerk()
    desk.post()

    assert desk.ask("POST", f"{ALL}/hold").json()["held"] == 1


def held(desk: Clerk) -> str:
    """Return a job that waits for somebody to look at it."""
    job_id: str = desk.post().json()["jobId"]
    claim = desk.door.ledger.claim(job_id, CUSTOMER, "w-9", now=NOON)
    assert claim is not None
    release = Release("unknown", hold=Hold("firefly 418 never_seen.", NOON, FACTORY))
    desk.door.ledger.release(claim, release, now=NOON)
    return job_id


def test_a_held_job_is_resumed_with_a_reason() -> None:
    """The answer is the job as it is due, with who let it go on and why; to ask again is safe."""
    desk = clerk()
    job_id = held(desk)

    first, again = (
        desk.ask("POST", f"/v1/jobs/{job_id}/resume", json={"reason": "it is mended"})
        for _ in range(2)
    )

    assert first.status_code == 200
    assert first.json() == again.json() == desk.ask("GET", f"/v1/jobs/{job_id}").json()
    assert (first.json()["status"], first.json()["held"]) == ("queued", False)
    assert first.json()["reason"] == f"Resumed by system-of-{CUSTOMER}: it is mended"


def test_a_job_is_not_resumed_without_a_reason() -> None:
    """Nor by one who may only send jobs, nor once it has ended."""
    desk = clerk()
    job_id, done = held(desk), finished(desk, idempotencyKey="done")
    path, why = f"/v1/jobs/{job_id}/resume", {"reason": "it is mended"}

    answers = [
        desk.ask("POST", path),
        desk.ask("POST", path, json=why, token=token(scope="jobs:write jobs:read")),
        desk.ask("POST", f"/v1/jobs/{done}/resume", json=why),
    ]

    assert [answer.status_code for answer in answers] == [400, 403, 409]
    assert desk.ask("GET", f"/v1/jobs/{job_id}").json()["held"]


def test_steering_a_campaign_wants_the_scope_of_operators() -> None:
    desk = clerk()
    desk.post()

    for verb in ("hold", "resume", "cancel"):
        answer = desk.ask("POST", f"{ALL}/{verb}", token=token(scope="jobs:write jobs:read"))
        assert answer.status_code == 403
    assert desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


def test_a_replayable_job_can_be_given_up() -> None:
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    finish(desk.door, job_id, status=Status.DLQ)

    assert desk.ask("POST", f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"


def test_a_job_that_is_sent_to_a_campaign_on_hold_says_so_at_once() -> None:
    """In its own answer, before any dispatcher has looked at it; resumed, it is due."""
    desk = clerk()
    desk.ask("POST", f"/v1/campaigns/{CAMPAIGN}/hold", json={"reason": "wrong price"})

    sent = desk.post().json()
    told = desk.ask("GET", f"/v1/jobs/{sent['jobId']}").json()

    assert (sent["held"], told["held"]) == (True, True)
    assert "wrong price" in sent["reason"]
    assert sent["reason"] == told["reason"]
    desk.ask("POST", f"/v1/campaigns/{CAMPAIGN}/resume")
    assert not desk.ask("GET", f"/v1/jobs/{sent['jobId']}").json()["held"]


def test_files_are_held_and_released_by_name_and_reason() -> None:
    """It wants `ops` and a reason; another tenant's job is as absent as none."""
    desk = clerk()
    done = finished(desk)
    (key, *_) = desk.door.ledger.jobs(CUSTOMER, [done])[done].outputs
    tags = {"human-reviewed": "not-required", "retention": "standard"}
    desk.door.objects.put(key, b"picture", media_type="image/jpeg", tags=tags)
    address = f"/v1/jobs/{done}/legal-hold"

    held = desk.ask("POST", address, json={"reason": "matter 7"})
    during = desk.door.objects.tags(key)
    released = desk.ask("POST", f"{address}/release", json={"reason": "settled"})

    assert held.json() == {"held": True, "files": 3}
    assert during == {**tags, "retention": "held-standard", "legal-hold": "true"}
    assert released.json() == {"held": False, "files": 3}
    assert desk.door.objects.tags(key) == tags
    assert desk.ask("POST", address, json={}).status_code == 422
    for stranger, code in ((token(scope="jobs:write jobs:read"), 403), (token("globex"), 404)):
        answer = desk.ask("POST", address, token=stranger, json={"reason": "matter 7"})
        assert answer.status_code == code
