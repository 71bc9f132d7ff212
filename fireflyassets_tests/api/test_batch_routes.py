"""Briefs over HTTP. Here: all or none, a part on request, and every bad row named."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.api.app import create_app
from fireflyassets.core import ids
from fireflyassets.core.budget import Block
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.entries import Recording
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import ISSUER, JOB, PUBLIC, Clerk, clerk, ports_of
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, front_door

SETTINGS = Settings(api_url=PUBLIC, oidc_issuer=ISSUER)

HEAD = "key,prompt,locale,headline,aspects"
ROW = "k1,A glass,en-GB,Spring,1920x1080|1080x1080"
BATCH = f"/v1/jobs:batch?campaign={CAMPAIGN}"
CSV = {"Content-Type": "text/csv; charset=utf-8"}


def sheet(*rows: str) -> bytes:
    return "\n".join([HEAD, *rows]).encode()


def test_a_brief_becomes_jobs_row_by_row() -> None:
    """Each row's key, job and place are told, and the sum of the price."""
    desk = clerk()

    answer = desk.ask("POST", BATCH, content=sheet(ROW, ROW.replace("k1", "k2")), headers=CSV)

    assert answer.status_code == 202
    told = answer.json()
    assert (told["accepted"], told["repeated"], told["refused"]) == (2, 0, 0)
    assert told["costEstimate"] == "5.0"
    assert [(job["row"], job["idempotencyKey"]) for job in told["jobs"]] == [(2, "k1"), (3, "k2")]
    assert told["jobs"][0]["jobId"] == ids.job_id(CUSTOMER, "k1")


def test_a_brief_sent_twice_is_the_same_brief() -> None:
    """A page that is reloaded costs nothing."""
    desk = clerk()
    desk.ask("POST", BATCH, content=sheet(ROW), headers=CSV)

    told = desk.ask("POST", BATCH, content=sheet(ROW), headers=CSV).json()

    assert (told["accepted"], told["repeated"]) == (0, 1)
    assert told["jobs"][0]["repeated"] is True


class BreakingLedger(MemoryLedger):
    """A ledger that dies behind the first rows of a brief, once."""

    broken = False

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        if self.broken:
            return super().record(rows, block)
        self.broken = True
        super().record(rows[:50], block)
        raise self._error


@pytest.mark.parametrize(
    ("error", "status"), [(StoreUnavailable("DynamoDB", "away"), 503), (KeyError("a bug"), 500)]
)
def test_a_brief_that_was_half_written_is_healed_by_sending_it_again(
    error: Exception, status: int
) -> None:
    """The answer does not deny it; whoever sends the same again has each job once."""
    door = replace(front_door(), ledger=BreakingLedger(error))
    desk = Clerk(door, create_app(ports_of(door), SETTINGS, OidcProvider(SETTINGS)))
    content = sheet(*(ROW.replace("k1", f"k{number}") for number in range(150)))

    first = desk.ask("POST", BATCH, content=content, headers=CSV)
    second = desk.ask("POST", BATCH, content=content, headers=CSV)

    assert first.status_code == status
    assert "A part of it may be done: send the same again" in first.json()["detail"]
    assert (second.json()["accepted"], second.json()["repeated"]) == (100, 50)
    assert len(door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)) == 150


def test_bad_rows_refuse_the_brief_and_are_all_named() -> None:
    """Nothing is written until the caller says that a part will do."""
    desk = clerk()
    content = sheet(ROW, "k2,,en-GB,Spring,1920x1080", "k3,A,fr-FR,Spring,1x1", "k4")

    answer = desk.ask("POST", BATCH, content=content, headers=CSV)

    assert answer.status_code == 422
    assert [(p["row"], p["field"], p["rule"]) for p in answer.json()["problems"]] == [
        (3, "prompt", "empty"),
        (4, "locale", "locale"),
        (4, "aspects", "aspect"),
        (5, "prompt", "cells"),
    ]
    assert desk.door.objects.objects == {}
    assert desk.door.ledger.outbox == ()


def test_partial_takes_the_good_rows_and_names_the_others() -> None:
    desk = clerk()
    content = sheet(ROW, "k2,,en-GB,Spring,1920x1080")

    answer = desk.ask("POST", BATCH + "&partial=true", content=content, headers=CSV)

    assert answer.status_code == 202
    told = answer.json()
    assert (told["accepted"], told["refused"]) == (1, 1)
    assert [(p["row"], p["rule"]) for p in told["problems"]] == [(3, "empty")]


def test_partial_with_no_good_row_is_refused() -> None:
    """A success that accepted nothing would be no success."""
    content = sheet("k2,,en-GB,Spring,1920x1080")

    answer = clerk().ask("POST", BATCH + "&partial=true", content=content, headers=CSV)

    assert answer.status_code == 422


def test_a_conflicting_row_refuses_the_brief() -> None:
    desk = clerk()
    desk.ask("POST", BATCH, content=sheet(ROW), headers=CSV)

    content = sheet(ROW.replace("A glass", "Another"), ROW.replace("k1", "k2"))
    answer = desk.ask("POST", BATCH, content=content, headers=CSV)

    assert answer.status_code == 409
    assert [(p["row"], p["rule"]) for p in answer.json()["problems"]] == [(2, "conflict")]
    assert desk.door.ledger.job(ids.job_id(CUSTOMER, "k2")) is None


def test_a_conflict_beside_known_rows_refuses_the_brief() -> None:
    """A brief that is known but for one changed row is refused, not half repeated in silence."""
    desk = clerk()
    desk.ask("POST", BATCH, content=sheet(ROW, ROW.replace("k1", "k2")), headers=CSV)
    content = sheet(ROW, ROW.replace("k1", "k2").replace("Spring", "Summer"))

    answer = desk.ask("POST", BATCH, content=content, headers=CSV)

    assert answer.status_code == 409
    assert "Nothing new was accepted: 1 of 2" in answer.json()["detail"]


@pytest.mark.parametrize("partial", ["", "&partial=true"])
def test_a_file_that_is_no_brief_is_refused_as_a_whole(partial: str) -> None:
    """Columns are never guessed, not even when a part would do."""
    answer = clerk().ask("POST", BATCH + partial, content=b"a,b\n1,2", headers=CSV)

    assert answer.status_code == 422
    told = answer.json()["problems"]
    assert [(p["row"], p["field"], p["rule"]) for p in told] == [(1, "key", "header")]


def test_json_lines_are_taken_as_well() -> None:
    line = json.dumps({name: value for name, value in JOB.items() if name != "campaign"})

    answer = clerk().ask(
        "POST",
        BATCH,
        content=line.encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )

    assert answer.status_code == 202
    assert answer.json()["jobs"][0]["row"] == 1


@pytest.mark.parametrize(
    "path", ["/v1/jobs:batch", "/v1/jobs:batch?campaign=../x", BATCH + "&partial=maybe"]
)
def test_bad_parameters_are_problems(path: str) -> None:
    """In the one shape, with the parameter's name."""
    answer = clerk().ask("POST", path, content=sheet(ROW), headers=CSV)

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"] in {"campaign", "partial"}


@pytest.mark.parametrize("path", [f"{BATCH}&dryRun=true", f"{BATCH}&dry-run=true&state=x"])
def test_a_misspelt_parameter_is_refused_and_nothing_is_written(path: str) -> None:
    """A dry run by a slightly other name would else be a real one, and paid."""
    desk = clerk()

    answer = desk.ask("POST", path, content=sheet(ROW), headers=CSV)
    single = desk.ask("POST", "/v1/jobs?dryRun=true", json=JOB)
    listed = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}?limit=3")

    assert (answer.status_code, single.status_code, listed.status_code) == (400, 400, 400)
    assert answer.json()["problems"][0]["fix"] == (
        "Send campaign or partial or dry_run, or leave it out."
    )
    assert listed.json()["problems"][0]["fix"].startswith("Leave it out;")
    assert desk.door.ledger.outbox == ()


def test_a_dry_run_tells_the_price_and_writes_nothing() -> None:
    """Of what would be new; what is known costs nothing again, what is bad is named."""
    desk = clerk()
    desk.ask("POST", BATCH, content=sheet(ROW), headers=CSV)
    before = (desk.door.ledger.outbox, desk.door.objects.objects)
    good, bad = ROW.replace("k1", "k2"), ROW.replace("k1,A glass", "k3,=A glass")

    told = desk.ask(
        "POST", f"{BATCH}&dry_run=true&partial=true", content=sheet(ROW, good, bad), headers=CSV
    )
    whole = desk.ask("POST", f"{BATCH}&dry_run=true", content=sheet(good, bad), headers=CSV)
    single = desk.ask("POST", "/v1/jobs?dry_run=true", json=JOB)

    assert told.status_code == 200
    counts = {name: told.json()[name] for name in ("jobs", "repeated", "refused", "costEstimate")}
    assert counts == {"jobs": 1, "repeated": 1, "refused": 1, "costEstimate": "2.5"}
    assert [problem["rule"] for problem in told.json()["problems"]] == ["formula"]
    assert whole.status_code == 422
    assert (single.status_code, single.json()["costEstimate"]) == (200, "3.5")
    assert (desk.door.ledger.outbox, desk.door.objects.objects) == before
    assert desk.ask("POST", BATCH, content=sheet(good), headers=CSV).json()["accepted"] == 1
