"""Recalls on the page: what would be hit is shown first, and nothing goes without a word."""

import re

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core.status import HumanReview
from fireflyassets_tests.api.desk_clerk import finished
from fireflyassets_tests.api.pages.browser import visit
from fireflyassets_tests.front_door import CUSTOMER

SINCE = "2020-01-01T00:00:00Z"


def test_a_recall_shows_what_it_hits_and_then_takes_it_out_of_use() -> None:
    """Not without the box that says it is meant, and not without a reason."""
    here = visit()
    job_id = finished(here.desk)
    ledger = here.desk.door.ledger
    shown = here.browser.open(f"{PREFIX}/recall?since={SINCE}").text
    assert "1 job would be hit" in shown
    proof = re.findall(r'name="proof" value="([^"]*)"', shown)[0]
    form = {"proof": proof, "since": SINCE, "reason": "The licence has ended"}

    unsure = here.browser.ask("POST", f"{PREFIX}/recall/go", data=form)
    silent = {**form, "reason": "", "sure": "yes"}
    unsaid = here.browser.ask("POST", f"{PREFIX}/recall/go", data=silent)
    assert (unsure.status_code, unsaid.status_code) == (422, 422)
    assert ledger.judgements(job_id) == []

    done = here.browser.ask("POST", f"{PREFIX}/recall/go", data={**form, "sure": "yes"})

    assert "1 job recalled" in done.text
    row = ledger.jobs(CUSTOMER, [job_id])[job_id]
    assert row.human_reviewed is HumanReview.REJECTED
    assert ledger.judgements(job_id)[0].note == "The licence has ended"
    assert "0 jobs would be hit" in here.browser.open(f"{PREFIX}/recall?since={SINCE}").text


def test_all_is_never_meant() -> None:
    """A campaign alone, or a time that is none, hits nothing and says what to name."""
    here = visit()
    finished(here.desk)

    for query in ("campaign=spring-launch", "since=yesterday", "since=2026-12-01T00:00"):
        answer = here.browser.ask("GET", f"{PREFIX}/recall?{query}")
        assert answer.status_code == 422
        assert "would be hit" not in answer.text
