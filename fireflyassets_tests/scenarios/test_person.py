"""What a person does on Dagster's own pages: a backfill of failed partitions, and a cancel.

Here: the whole stack, asked as the pages ask it. Not here: what a run does with keys that it is
given (`defs/test_waves.py`).
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.local.launching import launched
from fireflyassets_tests.local.test_new_campaign import Place, write_project
from fireflyassets_tests.scenarios.test_kill_worker import options, wait_for

pytestmark = [pytest.mark.stack, pytest.mark.whole]

CAMPAIGN = "spring"
ASSETS = [
    {"path": ["acme", CAMPAIGN, name]} for name in ("base_images", "renditions", "deliveries")
]
BACKFILL = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(
  backfillParams: $params) { __typename ... on LaunchBackfillSuccess { backfillId }
  ... on PythonError { message } } }"""
RUNS = """query ($filter: RunsFilter) { runsOrError(filter: $filter) { ... on Runs {
  results { runId status } } } }"""
TABLES = """query ($id: ID!) { logsForRun(runId: $id) { ... on EventConnection { events {
  ... on ExecutionStepFailureEvent { failureMetadata { metadataEntries {
  ... on TableMetadataEntry { table { records } } } } } } } } }"""
CANCEL = """mutation ($id: String!) { terminateRun(runId: $id) { __typename
  ... on TerminateRunFailure { message } } }"""


class Person(Place):
    """A running stack with somebody in front of Dagster's pages."""

    def asked(self, query: str, **variables: object) -> dict[str, Any]:
        """Return what Dagster's webserver answers."""
        answer = httpx.post(
            f"{self.stack.access.url('dagster')}/graphql",
            json={"query": query, "variables": variables},
            trust_env=False,
            timeout=60,
        ).raise_for_status()
        said = answer.json()
        assert "errors" not in said, said
        return cast("dict[str, Any]", said["data"])

    def brief(self, prompts: dict[str, str]) -> None:
        """Send jobs, by key and prompt."""
        self.post(CAMPAIGN, prompts).raise_for_status()

    def fault(self, prompt: str, **then: object) -> None:
        """Let the vendor answer so, wherever the prompt has such a word."""
        when = {"endpoint": "generate", "prompt_contains": prompt}
        url = f"{self.stack.access.url('twin')}/_twin/faults"
        httpx.post(url, json={"when": when, "then": then}, trust_env=False).raise_for_status()

    def mend(self) -> None:
        """Lift all faults."""
        url = f"{self.stack.access.url('twin')}/_twin/faults"
        httpx.delete(url, trust_env=False).raise_for_status()

    def billed(self) -> int:
        """Return how many calls the vendor has billed."""
        answer = httpx.get(f"{self.stack.access.url('twin')}/_twin/calls", trust_env=False)
        return sum(call["billed"] for call in answer.json()["calls"])

    def named(self) -> dict[str, JobRow]:
        """Return the rows by the customer's keys."""
        return {row.idempotency_key: row for row in self.rows(CAMPAIGN)}

    def runs(self, **tags: str) -> list[tuple[str, str]]:
        """Return (id, status) of the runs with such tags."""
        wanted = {"tags": [{"key": name, "value": text} for name, text in tags.items()]}
        found = self.asked(RUNS, filter=wanted)["runsOrError"]["results"]
        return [(one["runId"], one["status"]) for one in found]

    def left(self, run: str) -> list[dict[str, str]]:
        """Return the table of a red run: jobs that it did not make, with the reason."""
        events = self.asked(TABLES, id=run)["logsForRun"]["events"]
        (failure,) = (one["failureMetadata"] for one in events if one.get("failureMetadata"))
        tables = [one["table"] for one in failure["metadataEntries"] if "table" in one]
        return [json.loads(record) for table in tables for record in table["records"]]


@contextmanager
def person(root: Path) -> Generator[Person]:
    """Run a stack of one campaign of single pictures."""
    project = root / "project"
    write_project(project)
    with launched(options(project, root / "state"), lambda _: None) as stack:
        yield Person(stack, project)


def test_a_backfill_of_failed_partitions_pays_for_those_alone(tmp_path: Path) -> None:
    """Failed jobs are made, done ones told again for nothing, and a held one is named."""
    with person(tmp_path) as here:
        here.fault(
            "failing", kind="answer", status=422, body={"error_code": "422404", "message": "x"}
        )
        here.fault("silent", kind="answer", status=502, body="<html>Bad gateway</html>")
        here.brief({"done": "A glass", "dead": "A failing glass", "held": "A silent glass"})

        def is_settled() -> bool | None:
            rows = here.named()
            return (
                len(rows) == 3
                and rows["done"].status is Status.SUCCEEDED
                and rows["dead"].status is Status.DLQ
                and rows["held"].hold is not None
            ) or None

        wait_for("the first ends", is_settled, told=here.named)
        here.mend()
        before, billed = here.named(), here.billed()

        told = here.asked(
            BACKFILL,
            params={
                "assetSelection": ASSETS,
                "partitionNames": [row.job_id for row in before.values()],
            },
        )["launchPartitionBackfill"]
        assert told["__typename"] == "LaunchBackfillSuccess", told
        tags = {"dagster/backfill": told["backfillId"]}
        runs = wait_for(
            "the end of its runs",
            lambda: (
                found
                if (found := here.runs(**tags))
                and {end for _, end in found} <= {"SUCCESS", "FAILURE"}
                else None
            ),
            told=lambda: here.runs(**tags),
        )
        rows = here.named()
        ((run, _),) = runs

        assert rows["dead"].status is Status.SUCCEEDED
        assert rows["done"] == before["done"]
        assert rows["held"] == before["held"]
        assert here.billed() == billed + 1
        assert [(one["key"], one["now"]) for one in here.left(run)] == [("held", "left alone")]


def test_a_cancel_reaches_a_run_whose_code_server_was_replaced(tmp_path: Path) -> None:
    """It ends within a minute, gives its jobs back uncounted, and loses none that was paid."""
    with person(tmp_path) as here:
        here.brief({f"k{n}": "A glass" for n in range(20)})
        wait_for("the first job", lambda: here.done(CAMPAIGN) or None)
        (run, *_) = [one for one, end in here.runs() if end == "STARTED"]
        here.stack.renew("code")

        here.asked(CANCEL, id=run)

        wait_for(
            "the end of the run",
            lambda: dict(here.runs())[run] == "CANCELED" or None,
            told=lambda: (here.runs(), here.done(CAMPAIGN)),
        )
        here.until(CAMPAIGN, 20)
        rows = here.rows(CAMPAIGN)

        assert {row.crashes for row in rows} == {0}
        assert here.billed() == 20
