"""How a demo is told: nothing that was found is left out, and nothing is made up."""

import json
from dataclasses import replace
from pathlib import Path

from fireflyassets.local import report
from fireflyassets_tests.local.outcomes import as_promised

NAMES = [
    "jobs",
    "renditions",
    "distinct_pictures",
    "operations",
    "operations_difference",
    "second_run_operations",
    "calls",
    "polls_per_call",
    "http_429",
    "wall_s",
    "pss_mb",
    "limiter_use",
]


def test_summary_has_every_figure_flat(tmp_path: Path) -> None:
    path = tmp_path / "out" / "summary.json"
    report.write_summary(path, as_promised(), ["One thing."])
    said = json.loads(path.read_text())

    assert list(said)[: len(NAMES)] == NAMES
    assert said["calls_by_kind"] == {"generate": 2, "composite": 4}
    assert (said["cost_estimate"], said["cost_actual"]) == ("5.0", "5.0")
    assert said["broken_promises"] == ["One thing."]


def test_table_names_estimate_actual_and_calls_by_kind() -> None:
    told = dict(report.table(as_promised()))

    assert told["Estimate"] == told["Actual"] == told["Billed this time"] == "5.0 operations"
    assert told["Calls"] == "2 generate + 4 composite"
    assert told["Limiter use"] == "100%"
    assert told["Refused with 429"] == "0"


def test_demo_without_calls_claims_no_limiter_use() -> None:
    outcome = as_promised()
    again = replace(outcome, before=outcome.jobs, books_before=outcome.books)
    told = dict(report.table(again))

    assert (told["Calls"], told["Limiter use"]) == ("none", "-")
    assert told["Billed this time"] == "0 operations"
