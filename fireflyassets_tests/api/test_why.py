"""Why a job waits, over HTTP, on its page and by the command: the same cause everywhere."""

import json

import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.cli.why import NoSuchJob, show
from fireflyassets_tests.api.desk_clerk import OTHER, clerk, finished
from fireflyassets_tests.api.pages.browser import visit


def test_a_waiting_job_says_why_since_when_and_who_can_lift_it() -> None:
    desk = clerk()
    job_id = desk.post().json()["jobId"]

    told = desk.ask("GET", f"/v1/jobs/{job_id}/why").json()

    assert told == {
        "jobId": job_id,
        "status": "queued",
        "heldBy": "share",
        "cause": "InLine",
        "reason": "It is next.",
        "since": "2026-11-30T12:00:00Z",
        "expectedStart": "2026-11-30T12:00:15Z",
        "liftedBy": "Its turn comes by itself; a higher weight or limit makes it sooner.",
    }


def test_a_campaign_on_hold_says_so_of_each_job_and_others_learn_nothing() -> None:
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    desk.ask("POST", "/v1/campaigns/spring-launch/hold", json={"reason": "stock is out"})

    told = desk.ask("GET", f"/v1/jobs/{job_id}/why").json()

    assert (told["heldBy"], told["cause"]) == ("hold", "CampaignOnHold")
    assert "stock is out" in told["reason"]
    assert told["expectedStart"] is None
    theirs = desk.ask("GET", f"/v1/jobs/{job_id}/why", token=OTHER)
    assert theirs.status_code == 404
    assert "stock" not in theirs.text


def test_an_ended_job_has_an_answer_too() -> None:
    desk = clerk()
    told = desk.ask("GET", f"/v1/jobs/{finished(desk)}/why").json()

    assert (told["heldBy"], told["reason"]) == ("nothing", "It has ended: succeeded.")


def test_the_page_of_a_job_shows_the_cause() -> None:
    """With since when, the expected start and who can lift it; an ended one has its reason."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text
    ended = ours.browser.open(f"{PREFIX}/jobs/{finished(ours.desk, idempotencyKey='b')}").text

    assert "It is next." in shown
    assert "<dt>Held by</dt><dd>share</dd>" in shown
    assert "<dt>Who can lift it</dt><dd>Its turn comes by itself" in shown
    assert "Who can lift it" not in ended


def test_the_command_prints_the_same_cause_as_lines_and_as_json() -> None:
    desk = clerk()
    job_id = desk.post().json()["jobId"]
    said: list[str] = []

    asking = desk.app.state.desk.asking
    show(asking, job_id, as_json=False, tell=said.append)
    show(asking, job_id, as_json=True, tell=said.append)

    assert "held by    share" in said[0]
    assert json.loads(said[1])["reason"] == "It is next."
    with pytest.raises(NoSuchJob):
        show(asking, "none", as_json=False)
