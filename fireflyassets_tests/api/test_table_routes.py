"""A campaign's jobs as a spreadsheet."""

import csv
import io

from fireflyassets.api.table_routes import HEADER
from fireflyassets.core import guidance
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import OTHER, clerk, finish, finished
from fireflyassets_tests.front_door import CAMPAIGN

TABLE = f"/v1/campaigns/{CAMPAIGN}/jobs.csv"


def test_each_job_is_a_row_that_says_what_to_change() -> None:
    """How it stands, in our words; nothing of another tenant's."""
    desk = clerk()
    done = finished(desk)
    refused = desk.post(idempotencyKey="-1").json()["jobId"]
    finish(desk.door, refused, status=Status.REVIEW, failure=FailureClass.UNSAFE_CONTENT)

    answer = desk.ask("GET", TABLE)

    assert answer.headers["Content-Type"].startswith("text/csv")
    first, second = csv.DictReader(io.StringIO(answer.text))
    assert tuple(first) == HEADER
    assert (first["job_id"], first["status"], first["guidance"]) == (done, "succeeded", "")
    # A key that a spreadsheet would compute is text.
    assert (second["key"], second["failure_class"]) == ("'-1", "unsafe-content")
    assert second["guidance"] == guidance.told(FailureClass.UNSAFE_CONTENT)
    theirs = desk.ask("GET", TABLE, token=OTHER)
    assert theirs.text.splitlines() == [",".join(HEADER)]


def test_a_campaign_that_is_not_there_has_no_table() -> None:
    answer = clerk().ask("GET", "/v1/campaigns/none/jobs.csv")

    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
