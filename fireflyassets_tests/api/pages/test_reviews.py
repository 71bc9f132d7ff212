"""What reviewers see and do on the pages: sheets, clusters, selections, undo, history."""

import re
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import HumanReview
from fireflyassets_tests.api.desk_clerk import Clerk, finish
from fireflyassets_tests.api.pages.browser import Browser, Visit, visit
from fireflyassets_tests.api.pages.site import MARKUP
from fireflyassets_tests.front_door import CAMPAIGN, FixedCatalogue, config

SHEET = f"{PREFIX}/campaigns/{CAMPAIGN}/review"


def reviewed(*looks: int, prompt: str = "A meadow") -> Visit:
    """Return a reviewer's visit where a job of each look waits."""
    shelf = FixedCatalogue(config(review=ReviewMode.REQUIRED), config(customer="bolt"))
    here = visit(catalogue=shelf)
    for number, look in enumerate(looks):
        job_id = here.desk.post(idempotencyKey=f"job-{number}", prompt=prompt).json()["jobId"]
        finish(here.desk.door, job_id, look=look)
    return here


def rows(desk: Clerk) -> dict[str, JobRow]:
    """Return the jobs by key."""
    return {row.idempotency_key: row for row in desk.door.ledger.rows()}


def verdicts(desk: Clerk) -> dict[str, str]:
    """Return what was decided on each job."""
    return {key: row.human_reviewed.value for key, row in sorted(rows(desk).items())}


def send(browser: Browser, shown: str, do: str, page: str = SHEET, **more: str) -> httpx.Response:
    """Press a button of a page that was shown, with all its hidden fields."""
    hidden = re.findall(r'<input type="hidden" name="(proof|cluster-\d+)" value="([^"]*)"', shown)
    return browser.ask("POST", f"{page}/decide", data={**dict(hidden), "do": do, **more})


def button(shown: str, begins: str) -> str:
    """Return the value of the first button that does what *begins* says."""
    found = re.search(f'value="({begins}[^"]*)"', shown)
    assert found, begins
    return found[1]


def test_jobs_that_look_alike_stand_together() -> None:
    """Three of one look, one of another: a cluster with its own buttons, and one by itself."""
    here = reviewed(0, 1, 0, 0)

    shown = here.browser.open(SHEET).text

    assert "4 jobs, 12 renditions wait here" in shown
    assert "3 alike" in shown
    assert len(re.findall("Approve all", shown)) == 1


def test_a_cluster_is_approved_and_draws_a_second_look() -> None:
    """One click: all but the drawn ones are approved, and those are shown by themselves."""
    here = reviewed(0, 0, 0, 1)
    shown = here.browser.open(SHEET).text

    after = send(here.browser, shown, button(shown, "approve cluster"))

    assert after.status_code == 200
    assert "2 approved, 1 kept for a second look" in after.text.replace("\n", " ")
    assert sorted(verdicts(here.desk).values()) == ["approved"] * 2 + ["pending"] * 2
    assert "One by one" in after.text


def test_one_job_is_rejected_with_a_code_and_undone() -> None:
    """The page says what came of it and takes it back by one more click."""
    here = reviewed(0, 1)
    shown = here.browser.open(SHEET).text
    one = button(shown, "reject one")

    after = send(here.browser, shown, one, code="R-QUALITY", note="Six fingers")
    assert "1 rejected" in after.text
    assert sorted(verdicts(here.desk).values()) == ["pending", "rejected"]
    back = re.search(r'name="job" value="([^"]*)"><button name="do" value="undo', after.text)
    assert back
    undone = send(here.browser, after.text, "undo selection", job=back[1])

    assert "1 open again" in undone.text
    assert set(verdicts(here.desk).values()) == {"pending"}


@pytest.mark.parametrize("code", ["", "R-UGLY"])
def test_a_rejection_without_a_known_code_decides_nothing(code: str) -> None:
    """What was typed stays, and the page says what to choose."""
    here = reviewed(0)
    shown = here.browser.open(SHEET).text

    after = send(here.browser, shown, button(shown, "reject one"), code=code, note="ugly")

    assert after.status_code == 422
    assert "R-COMPETITOR" in after.text
    assert 'value="ugly"' in after.text
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_a_selection_that_somebody_else_decided_is_told() -> None:
    """Two reviewers on one cluster: each job has one decision, the later one reads whose."""
    here = reviewed(0, 0)
    first = here.browser.open(SHEET).text
    second = here.browser.open(SHEET).text
    cluster = button(first, "approve cluster")
    send(here.browser, first, cluster)

    late = send(here.browser, second, cluster.replace("approve", "reject"), code="R-QUALITY")

    assert "Nothing was decided" in late.text
    assert "has approved it at" in late.text
    assert set(verdicts(here.desk).values()) == {"approved"}


def test_a_superseded_version_is_not_decided_on() -> None:
    """A form of yesterday names what was shown yesterday."""
    here = reviewed(0)
    shown = here.browser.open(SHEET).text
    job_id = rows(here.desk)["job-0"].job_id

    after = send(here.browser, shown, f"approve one {job_id}.0")

    assert "Its outputs are other ones by now" in after.text
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_nonsense_in_a_form_does_nothing() -> None:
    """No move, no job, a job that is no id: the page says so."""
    here = reviewed(0)
    shown = here.browser.open(SHEET).text

    for do in ("", "praise selection", "approve", "approve one x", "approve cluster 99"):
        assert send(here.browser, shown, do).status_code == 422
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_another_tenants_job_in_a_form_is_not_there() -> None:
    """Their sheet has no word of ours, and their form moves nothing of ours."""
    here = reviewed(0)
    row = rows(here.desk)["job-0"]
    theirs = here.of("bolt")
    shown = theirs.open(SHEET).text

    after = send(theirs, theirs.open(f"{PREFIX}/campaigns").text, f"approve one {row.job_id}.1")

    assert "job-0" not in shown
    assert "There is no such job in this campaign" in after.text
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_an_expired_session_decides_nothing() -> None:
    """The page says that nothing was done, and leads back to a fresh sheet."""
    here = reviewed(0)
    shown = here.browser.open(SHEET).text
    here.desk.door.clock.jump(timedelta(hours=2))

    after = send(here.browser, shown, button(shown, "approve one"))

    assert after.status_code == 401
    assert "%2Freview" in after.text
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_a_form_of_another_site_decides_nothing() -> None:
    """Nor does one without this session's proof."""
    here = reviewed(0)
    shown = here.browser.open(SHEET).text
    do = button(shown, "approve one")
    proof = re.findall(r'name="proof" value="([^"]*)"', shown)[0]

    strange = here.browser.ask(
        "POST",
        f"{SHEET}/decide",
        headers={"Origin": "https://evil.example"},
        data={"proof": proof, "do": do},
    )
    unproved = here.browser.ask("POST", f"{SHEET}/decide", data={"proof": "guessed", "do": do})

    assert (strange.status_code, unproved.status_code) == (403, 403)
    assert verdicts(here.desk) == {"job-0": "pending"}


def test_a_prompt_with_markup_is_shown_as_text() -> None:
    """On the sheet and beside the candidate nothing of it becomes an element."""
    here = reviewed(0, prompt=MARKUP)
    job_id = rows(here.desk)["job-0"].job_id

    shown = here.browser.open(f"{PREFIX}/jobs/{job_id}/review").text

    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_a_candidate_stands_beside_approved_ones() -> None:
    """With its template and its history; decided on, it offers an undo."""
    here = reviewed(0, 1)
    job_id, other = (rows(here.desk)[key].job_id for key in ("job-0", "job-1"))
    page = f"{PREFIX}/jobs/{job_id}/review"
    send(here.browser, here.browser.open(SHEET).text, f"approve one {other}.1")

    shown = here.browser.open(page).text
    assert "Approved: job-1" in shown
    assert f"/jobs/{job_id}/templates/1080x1080" in shown
    after = send(here.browser, shown, button(shown, "reject one"), page, code="R-LEGAL-CLAIM")

    assert "Have legal look at the headline" in after.text
    assert "Undo the decision" in after.text
    assert verdicts(here.desk)["job-0"] == "rejected"


def test_a_picture_that_does_not_load_is_named() -> None:
    """A file that is no picture answers 404, and the tile says which it is."""
    here = reviewed(0)
    row = rows(here.desk)["job-0"]
    for key in row.outputs:
        here.desk.door.objects.put(key, b"no picture", media_type="image/jpeg")

    shown = here.browser.open(SHEET).text
    picture = here.browser.ask(
        "GET", f"{PREFIX}/campaigns/{CAMPAIGN}/jobs/{row.job_id}/pictures/1080x1080"
    )

    assert 'alt="job-0 in 1080x1080"' in shown
    assert picture.status_code == 404


def test_ten_thousand_pending_jobs_are_shown_in_parts() -> None:
    """A sheet has a thousand renditions at most, and leads to the next."""
    here = reviewed()
    desk = here.desk
    job_id = desk.post(idempotencyKey="job-0").json()["jobId"]
    finish(desk.door, job_id)
    ledger = desk.door.ledger
    row = rows(desk)["job-0"]
    for number in range(1, 10_000):
        one = f"00000000-0000-0000-0000-{number:012}"
        ledger._keep(replace(row, job_id=one, idempotency_key=f"job-{number}"))

    shown = here.browser.open(SHEET).text

    assert "333 jobs, 999 renditions wait here" in shown
    more = re.search(r'href="([^"]*review\?cursor=[^"]*)"', shown)
    assert more
    assert "333 jobs, 999 renditions" in here.browser.open(more[1]).text


def test_haste_is_shown() -> None:
    """Two decisions within half a minute are told to whoever looks at the sheet."""
    here = reviewed(0, 1, 2)
    for key in ("job-0", "job-1"):
        shown = here.browser.open(SHEET).text
        send(here.browser, shown, f"approve one {rows(here.desk)[key].job_id}.1")

    assert "1 within 30 seconds of the one before" in here.browser.open(SHEET).text
    assert {row.human_reviewed for row in rows(here.desk).values()} == {
        HumanReview.APPROVED,
        HumanReview.PENDING,
    }
