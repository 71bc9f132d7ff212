"""``fireflyassets alarms``: the page is the one in the docs, and what is rendered is complete."""

import json
from pathlib import Path

import pytest

from fireflyassets.cli.main import main

ROOT = Path(__file__).parents[2]


def test_the_page_in_the_docs_is_what_the_tables_say(capsys: pytest.CaptureFixture[str]) -> None:
    """A row that changes changes the page; `fireflyassets alarms list` writes it."""
    assert main(["alarms", "list"]) == 0

    assert capsys.readouterr().out == (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_alarms_and_dashboard_are_rendered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One document holds all, under the settings' names, with the topics that were given."""
    monkeypatch.setenv("FIREFLYASSETS_METRICS_NAMESPACE", "blue")
    monkeypatch.setenv("FIREFLYASSETS_END_TO_END_BASELINE", "PT20M")
    page, ticket = "arn:aws:sns:eu-west-1:1:page", "arn:aws:sns:eu-west-1:1:ticket"

    assert main(["alarms", "render", "--page-topic", page, "--ticket-topic", ticket]) == 0

    told = json.loads(capsys.readouterr().out)
    slow = next(one for one in told["alarms"] if one["AlarmName"] == "blue-slow_jobs")
    assert slow["Threshold"] == 2 * 20 * 60
    assert {topic for one in told["alarms"] for topic in one["AlarmActions"]} == {page, ticket}
    assert told["dashboard"]["widgets"]
