"""The code location is loaded anew, and the tables' server stops and comes back, in mid-wave.

Here: the whole stack, and the vendor's own list of calls. A clean stop of ministack keeps its
state; while it is away every process meets refused connections. Not here: kills
(`test_kill_worker.py`).
"""

from collections import Counter
from pathlib import Path

import httpx
import pytest

from fireflyassets.core.status import Status
from fireflyassets_tests.scenarios.test_kill_worker import (
    Shop,
    assert_paid_once,
    settled,
    shop,
    wait_for,
)

pytestmark = [pytest.mark.stack, pytest.mark.whole]

RELOAD = """mutation { reloadRepositoryLocation(repositoryLocationName: "fireflyassets") {
  __typename ... on PythonError { message } } }"""


def reload_location(here: Shop) -> None:
    """Load the code location anew, as a person does in Dagster's UI."""
    answer = httpx.post(
        f"{here.stack.access.url('dagster')}/graphql",
        json={"query": RELOAD},
        trust_env=False,
        timeout=60.0,
    ).raise_for_status()
    assert (
        answer.json()["data"]["reloadRepositoryLocation"]["__typename"] == "WorkspaceLocationEntry"
    )


def restart_tables(here: Shop) -> None:
    """Stop ministack in good order, and start it again on what it saved."""
    (tables,) = (one for one in here.stack._running if one.service.name == "aws")
    tables.stop()
    tables._process = tables._launch()
    tables.wait_until_ready()


def test_a_wave_outlives_a_reload_and_a_restart_of_the_tables(tmp_path: Path) -> None:
    """Every job ends, nothing is paid twice or unnamed, and nobody has to mend anything."""
    with shop(tmp_path / "state") as here:
        assert here.customer.post_csv(here.brief.csv()).is_success
        here.customer.send(here.brief.by_queue)
        wait_for("the first calls", lambda: len(here.billed()) > 2 or None)
        reload_location(here)
        before = len(here.billed())
        wait_for("calls after the reload", lambda: len(here.billed()) > before + 4 or None)
        restart_tables(here)

        jobs = wait_for("the end of all jobs", lambda: settled(here, set()), told=here.standing)

        assert Counter(job.status for job in jobs.values()) == {Status.SUCCEEDED: 24}
        assert_paid_once(here, set())
