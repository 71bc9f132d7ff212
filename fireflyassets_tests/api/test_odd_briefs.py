"""Briefs as spreadsheets and scripts really write them. Here: taken, or refused with the reason."""

import json

import pytest

from fireflyassets_tests.api.desk_clerk import clerk
from fireflyassets_tests.front_door import CAMPAIGN

BATCH = f"/v1/jobs:batch?campaign={CAMPAIGN}"
CSV = {"Content-Type": "text/csv"}
HEAD = "key,prompt,locale,headline,aspects"
ROW = "k1,A glass in the café,de-DE,Frühling,1080x1080"


@pytest.mark.parametrize(
    "content",
    [
        f"\ufeff{HEAD}\n{ROW}\n".encode(),
        f"{HEAD}\n{ROW}\n".replace(",", ";").encode(),
        f"\ufeff{HEAD}\r\n{ROW}\r\n".replace(",", ";").encode(),
    ],
    ids=["byte-order mark", "semicolons", "both, with CRLF"],
)
def test_what_spreadsheets_write_is_taken(content: bytes) -> None:
    """And it is the same job, whatever wrote the file."""
    desk = clerk()

    answer = desk.ask("POST", BATCH, content=content, headers=CSV)

    assert answer.status_code == 202
    assert [job["idempotencyKey"] for job in answer.json()["jobs"]] == ["k1"]
    again = desk.ask("POST", BATCH, content=f"{HEAD}\n{ROW}\n".encode(), headers=CSV)
    assert again.json()["repeated"] == 1


@pytest.mark.parametrize(
    ("content", "row", "field", "rule"),
    [
        (f"{HEAD}\n{ROW}\n".encode("latin-1"), 2, "prompt", "encoding"),
        (f"{HEAD}\n{ROW}\n".encode("utf-16"), 1, "", "encoding"),
        (f"{HEAD}\nk1,=cmd|' /C calc'!A0,en-GB,B,1080x1080".encode(), 2, "prompt", "formula"),
        (f"{HEAD}\nk1,A,en-GB,@SUM(A1),1080x1080".encode(), 2, "headline", "formula"),
        (f"{HEAD}\n=1+1,A,en-GB,B,1080x1080".encode(), 2, "key", "key"),
        (f"{HEAD}\nk1,A,en-GB,B,1080x1080{',x' * 1_000_000}".encode(), 2, "", "row-length"),
        (b"," * 1_000_000, 1, "key", "header"),
        (b"\n" * 1_000_000, 1, "", "empty"),
        (f"{HEAD}\n".encode() + b'"' * 1_000_000, 2, "", "row-length"),
        (f"{HEAD}\n".encode() + b"\x00" * 1_000, 2, "prompt", "cells"),
    ],
    ids=[
        "Latin-1",
        "UTF-16",
        "a formula",
        "a formula for a headline",
        "a formula for a key",
        "a million columns",
        "a million columns in the header",
        "a million lines",
        "a million quotes",
        "zero bytes",
    ],
)
def test_what_is_no_brief_is_refused_with_its_place_and_nothing_is_written(
    content: bytes, row: int, field: str, rule: str
) -> None:
    """Row, column, rule and fix, also where a part would do."""
    desk = clerk()

    answer = desk.ask("POST", f"{BATCH}&partial=true", content=content, headers=CSV)

    assert answer.status_code == 422
    told = answer.json()["problems"][0]
    assert (told["row"], told["field"], told["rule"]) == (row, field, rule)
    assert told["fix"]
    assert desk.door.objects.objects == {}
    assert desk.door.ledger.outbox == ()


def test_a_json_line_of_a_million_fields_is_refused() -> None:
    line = json.dumps({f"f{n}": n for n in range(100_000)}).encode()

    answer = clerk().ask(
        "POST", BATCH, content=line, headers={"Content-Type": "application/x-ndjson"}
    )

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["rule"] == "row-length"
