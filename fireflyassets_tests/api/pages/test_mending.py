"""What people do on the pages: add a campaign, send a refused job anew, run failed ones again."""

from dataclasses import replace

import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.api.pages.words import line
from fireflyassets.api.reads import FRESH
from fireflyassets.api.tokens import Caller
from fireflyassets.core import ids
from fireflyassets.core.budget import BudgetFile
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import finish
from fireflyassets_tests.api.pages.browser import Visit, visit
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, config

HERE = f"{PREFIX}/campaigns/{CAMPAIGN}"
FORM = f"{PREFIX}/new-campaign"
AUTUMN = {"like": CAMPAIGN, "campaign": "autumn", "title": "Autumn", "locales": "en-GB, de-DE"}


def refused(ours: Visit) -> str:
    """Return a job that ended in review."""
    job_id: str = ours.desk.post().json()["jobId"]
    finish(ours.desk.door, job_id, status=Status.REVIEW)
    return job_id


def test_a_campaign_is_added_by_a_form() -> None:
    """It begins from another; the list says that it comes."""
    ours = visit()

    answer = ours.browser.send(FORM, f"{FORM}/add", **AUTUMN, budget="12.5", priority="high")

    assert answer.status_code == 303
    shown = ours.browser.open(answer.headers["Location"]).text
    assert "The campaign is added." in shown
    again = ours.browser.send(FORM, f"{FORM}/add", **AUTUMN)
    assert again.status_code == 409
    assert "There is a campaign &#39;autumn&#39; already." in again.text


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"deadline": "2020-01-01T10:00"}, "in the past"),
        ({"deadline": "soon"}, "deadline"),
        ({"budget": "0"}, "greater than 0"),
        ({"campaign": "Not a name"}, "campaign"),
        ({"locales": "xx_YY"}, "locales"),
    ],
)
def test_a_wrong_field_is_named_and_what_was_typed_stays(typed: dict[str, str], words: str) -> None:
    """Nobody types a form twice."""
    ours = visit()

    answer = ours.browser.send(FORM, f"{FORM}/add", **(AUTUMN | typed))

    assert answer.status_code == 422
    assert words in answer.text
    assert 'value="Autumn"' in answer.text
    assert 'aria-invalid="true"' in answer.text


def test_a_tenant_without_campaigns_is_told_where_the_first_comes_from() -> None:
    """There is nothing to begin from."""
    assert "campaign add" in visit("nobody").browser.open(FORM).text


def test_a_refused_job_is_sent_again_in_other_words() -> None:
    """Another job under another key; the old one stays as it ended."""
    ours = visit()
    old = refused(ours)
    page = f"{PREFIX}/jobs/{old}"

    answer = ours.browser.send(
        page, f"{page}/resubmit", prompt="A calmer glass", headline="Spring", key="mended-1"
    )

    assert answer.status_code == 303
    new = ours.desk.door.ledger.job(ids.job_id(CUSTOMER, "mended-1"))
    assert new is not None
    assert (new.status, new.campaign_id) == (Status.QUEUED, CAMPAIGN)
    before = ours.desk.door.ledger.job(old)
    assert before is not None
    assert before.status is Status.REVIEW
    shown = ours.browser.open(answer.headers["Location"]).text
    assert "A calmer glass" in shown
    assert "This is the new job." in shown


def test_the_old_key_is_no_new_one() -> None:
    """It stands for the old request; what was typed stays."""
    ours = visit()
    page = f"{PREFIX}/jobs/{refused(ours)}"
    row = ours.desk.door.ledger.job(page.rpartition("/")[2])
    assert row is not None

    answer = ours.browser.send(
        page,
        f"{page}/resubmit",
        prompt="A calmer glass",
        headline="Spring",
        key=row.idempotency_key,
    )

    assert answer.status_code == 422
    assert "A calmer glass" in answer.text


def test_a_new_job_is_reserved_like_every_other() -> None:
    """A budget without room refuses it."""
    catalogue = FixedCatalogue(config())
    ours = visit(catalogue=catalogue)
    page = f"{PREFIX}/jobs/{refused(ours)}"
    entry = {"valid_from": "2026-01-01", "source": "a test", "operations": "0"}
    catalogue.budgets[CUSTOMER] = BudgetFile.model_validate({"customer": [entry]})

    answer = ours.browser.send(page, f"{page}/resubmit", key="mended-1", prompt="x", headline="y")

    assert answer.status_code == 422
    assert "has no room" in answer.text
    assert ours.desk.door.ledger.job(ids.job_id(CUSTOMER, "mended-1")) is None


def test_keys_of_jobs_sent_again_count_up() -> None:
    """The form proposes one that is free as a rule, however long the first was."""
    ours = visit()
    row = ours.desk.door.ledger.job(refused(ours))
    assert row is not None
    who = Caller(CUSTOMER, "somebody", frozenset())

    def proposed(key: str) -> str:
        return line(replace(row, idempotency_key=key), who).next_key

    assert [proposed("a"), proposed("a-again-2"), proposed("a-again-9")] == [
        "a-again-2",
        "a-again-3",
        "a-again-10",
    ]
    assert len(proposed("k" * 64)) == 64


def test_failed_jobs_are_run_again_by_the_rules_of_replays() -> None:
    """One button; what can't go now is left, and the page says so."""
    ours = visit()
    ours.desk.post()
    job_id = ids.job_id(CUSTOMER, "job-1")
    finish(ours.desk.door, job_id, status=Status.DLQ, failure=FailureClass.TRANSIENT)
    ours.desk.door.clock.jump(FRESH)

    answer = ours.browser.send(HERE, f"{HERE}/retry")

    assert answer.headers["Location"].endswith("done=retry")
    row = ours.desk.door.ledger.job(job_id)
    assert row is not None
    assert (row.status, row.replays) == (Status.QUEUED, 1)
    assert "Retry failed jobs" not in ours.browser.open(HERE).text


def test_a_page_is_shown_anew_where_somebody_asked_for_it() -> None:
    """And only there: it would take the place from under those who type."""
    ours = visit()
    ours.desk.post()
    ours.desk.door.clock.jump(FRESH)

    plain, live = ours.browser.open(HERE), ours.browser.open(f"{HERE}?live=true")

    assert "Refresh" not in plain.headers
    assert live.headers["Refresh"] == "15"
    assert "Stop that" in live.text
