"""Request bodies. Here: sizes, kinds and lengths that must not get in."""

import json
from collections.abc import AsyncIterator

import pytest

from fireflyassets.core import brief
from fireflyassets_tests.api.desk_clerk import JOB, clerk
from fireflyassets_tests.front_door import (
    CAMPAIGN,
)

HEAD = "key,prompt,locale,headline,aspects"
ROW = "k1,A glass,en-GB,Spring,1920x1080|1080x1080"
BATCH = f"/v1/jobs:batch?campaign={CAMPAIGN}"
CSV = {"Content-Type": "text/csv; charset=utf-8"}


def sheet(*rows: str) -> bytes:
    return "\n".join([HEAD, *rows]).encode()


@pytest.mark.parametrize(
    ("path", "content_type", "limit"),
    [
        ("/v1/jobs", "application/json", 64 * 1024),
        (BATCH, "text/csv", brief.FILE_LIMIT),
    ],
)
def test_fifty_megabytes_are_refused_before_they_are_read(
    path: str, content_type: str, limit: int
) -> None:
    """By their declared length at once; streamed without one, at the first chunk too much."""
    sent = 0

    async def stream() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(800):
            sent += 64 * 1024
            yield b"x" * (64 * 1024)

    desk = clerk()
    declared = {"Content-Type": content_type, "Content-Length": str(50 * 1024 * 1024)}

    first = desk.ask("POST", path, content=stream(), headers=declared)
    sent_when_declared = sent
    second = desk.ask("POST", path, content=stream(), headers={"Content-Type": content_type})

    assert first.status_code == second.status_code == 413
    assert sent_when_declared == 0
    assert sent <= limit + 2 * 64 * 1024
    assert first.json()["problems"][0]["rule"] == "size"


@pytest.mark.parametrize("length", ["9" * 400, "9" * 5_000, "-1", "abc", "١٢"])
def test_odd_lengths_do_not_break_the_door(length: str) -> None:
    """A length that is no number is ignored, one that is too long is too large."""
    answer = clerk().ask(
        "POST",
        "/v1/jobs",
        content=json.dumps(JOB).encode(),
        headers={"Content-Type": "application/json", "Content-Length": length},
    )

    assert answer.status_code in {202, 413}


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/v1/jobs", {"Content-Type": "text/plain"}),
        ("/v1/jobs", {"Content-Type": "application/json; charset=latin-1"}),
        ("/v1/jobs", {"Content-Type": "application/json", "Content-Encoding": "gzip"}),
        (BATCH, {"Content-Type": "application/json"}),
        (BATCH, {"Content-Type": "text/csv; charset=iso-8859-1"}),
        (BATCH, {}),
    ],
)
def test_other_kinds_of_bodies_are_refused(path: str, headers: dict[str, str]) -> None:
    """415 names the header and what is read here."""
    answer = clerk().ask("POST", path, content=b"x", headers=headers)

    assert answer.status_code == 415
    assert answer.json()["problems"][0]["rule"] == "media-type"
