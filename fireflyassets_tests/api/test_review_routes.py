"""Reviews over HTTP: who may decide, what is refused, what customers then get."""

from typing import Any

from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.status import HumanReview
from fireflyassets_tests.api.desk_clerk import OTHER, Clerk, clerk, finished, token
from fireflyassets_tests.front_door import CAMPAIGN, FixedCatalogue, config

HERE = f"/v1/campaigns/{CAMPAIGN}/reviews"


def reviewed() -> Clerk:
    """Return a clerk of a campaign that asks for approval."""
    catalogue = FixedCatalogue(config(review=ReviewMode.REQUIRED), config(customer="bolt"))
    return clerk(catalogue)


def decide(desk: Clerk, decision: str, *jobs: dict[str, Any], **more: object) -> dict[str, Any]:
    """Decide on jobs as they are listed; return the answer."""
    picks = [{"jobId": one["jobId"], "version": one["version"]} for one in jobs]
    body = {"decision": decision, "jobs": picks, **more}
    answer = desk.ask("POST", HERE, json=body)
    return {**answer.json(), "status": answer.status_code}


def listed(desk: Clerk, query: str = "") -> list[dict[str, Any]]:
    """Return what waits for a review."""
    jobs: list[dict[str, Any]] = desk.ask("GET", HERE + query).json()["jobs"]
    return jobs


def test_outputs_are_handed_out_once_they_are_approved() -> None:
    """Before, they are not named and not given; the bucket's tag says approved at once."""
    desk = reviewed()
    job_id = finished(desk)
    output = f"/v1/jobs/{job_id}/outputs/1080x1080"
    assert desk.ask("GET", output).status_code == 409
    (waiting,) = listed(desk)

    told = decide(desk, "approve", waiting)

    assert told["status"] == 200
    assert told["decided"] == [
        {
            "jobId": job_id,
            "version": waiting["version"] + 1,
            "humanReviewed": "approved",
            "decision": "approve",
        }
    ]
    assert listed(desk) == []
    assert desk.ask("GET", output).status_code == 307
    row = desk.door.ledger.job(job_id)
    assert row is not None
    assert (desk.door.objects.tags(row.outputs[0]) or {})["human-reviewed"] == "approved"


def test_a_second_decision_says_who_was_first() -> None:
    """Two systems, or a system and a person: the later one gets a reason, not an error."""
    desk = reviewed()
    finished(desk)
    (waiting,) = listed(desk)
    decide(desk, "reject", waiting, code="R-COMPETITOR", note="Their bottle")

    told = decide(desk, "approve", waiting)

    assert (told["status"], told["decided"]) == (200, [])
    assert "has rejected it (R-COMPETITOR)" in told["refused"][0]["reason"]
    history = desk.ask("GET", f"/v1/jobs/{waiting['jobId']}/reviews").json()["decisions"]
    assert [(one["decision"], one["code"], one["note"]) for one in history] == [
        ("reject", "R-COMPETITOR", "Their bottle")
    ]
    assert history[0]["action"] == "Propose the prompt's words for the deny-list."


def test_a_body_that_is_not_right_decides_nothing() -> None:
    """An unknown code, a rejection without one, an unknown field, no job: each is named."""
    desk = reviewed()
    job_id = finished(desk)
    (waiting,) = listed(desk)

    fields = [
        decide(desk, "reject", waiting, code="R-UGLY"),
        decide(desk, "reject", waiting),
        decide(desk, "approve", waiting, code="R-QUALITY"),
        decide(desk, "praise", waiting),
        decide(desk, "approve", waiting, haste=True),
        decide(desk, "approve"),
    ]

    assert [one["status"] for one in fields] == [422] * 6
    assert [one["problems"][0]["field"] for one in fields] == [
        "code",
        "code",
        "code",
        "decision",
        "haste",
        "jobs",
    ]
    row = desk.door.ledger.job(job_id)
    assert row is not None
    assert row.human_reviewed is HumanReview.PENDING


def test_a_reviewer_of_another_tenant_decides_nothing_here() -> None:
    """Their own campaign of the same name has no such job, and ours stays as it is."""
    desk = reviewed()
    job_id = finished(desk)
    body = {"decision": "approve", "jobs": [{"jobId": job_id, "version": 1}]}

    told = desk.ask("POST", HERE, token=OTHER, json=body).json()

    assert told["refused"] == [
        {"jobId": job_id, "reason": "There is no such job in this campaign."}
    ]
    row = desk.door.ledger.job(job_id)
    assert row is not None
    assert row.human_reviewed is HumanReview.PENDING


def test_deciding_needs_the_right_to_review() -> None:
    """Whoever sends jobs does not approve them, unless the issuer says so."""
    desk = reviewed()
    finished(desk)

    marketing = token(scope="jobs:read jobs:write ops")
    assert desk.ask("GET", HERE, token=marketing).status_code == 403
    assert desk.ask("POST", HERE, token=marketing, json={}).status_code == 403


def test_what_waits_is_listed_page_by_page() -> None:
    """In the order it came in, each job once."""
    desk = reviewed()
    made = [finished(desk, idempotencyKey=f"job-{number}") for number in range(5)]

    first = desk.ask("GET", f"{HERE}?limit=3").json()
    second = desk.ask("GET", f"{HERE}?limit=3&cursor={first['next']}").json()

    shown = [one["jobId"] for one in (*first["jobs"], *second["jobs"])]
    assert sorted(shown) == sorted(made)
    assert second["next"] is None
