"""Steering over HTTP. Here: what is answered, and which scope it wants."""

from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import clerk, finish, finished, token
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
    working = desk.post(key="other").json()["jobId"]
    assert desk.door.ledger.claim(working, CUSTOMER, "w-9", now=NOON) is not None

    answers = [desk.ask("POST", f"/v1/jobs/{job}/cancel") for job in (done, working)]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert "succeeded" in answers[0].json()["problems"][0]["message"]
    assert "hold its campaign" in answers[1].json()["problems"][0]["fix"]


def test_a_campaign_is_held_resumed_and_cancelled() -> None:
    """Its sums show the hold with its reason, and what is left running."""
    desk = clerk()
    for key in ("a", "b"):
        desk.post(key=key)

    held = desk.ask("POST", f"{ALL}/hold?reason=wrong+price").json()
    resumed = desk.ask("POST", f"{ALL}/resume").json()
    cancelled = desk.ask("POST", f"{ALL}/cancel").json()

    assert (held["held"], resumed["held"]) == (2, 0)
    assert held["hold"] == f"The campaign is on hold (system-of-{CUSTOMER}): wrong price"
    assert resumed["hold"] is None
    assert cancelled["byStatus"]["cancelled"] == 2
    assert desk.ask("GET", ALL).json() == cancelled


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
