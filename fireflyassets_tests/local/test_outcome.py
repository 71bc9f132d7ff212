"""The promises: each that is not kept is named, and a kept one is silent."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from fireflyassets.core import ids
from fireflyassets.core.request import RawRequest
from fireflyassets.core.status import Status
from fireflyassets.local.books import Books
from fireflyassets.local.customer import Job
from fireflyassets.local.figures import Call
from fireflyassets.local.outcome import Outcome, broken_promises
from fireflyassets.local.pictures import Rendition
from fireflyassets.local.sample import CUSTOMER, split

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ASPECTS = ("1920x1080", "1080x1080")
REQUESTS = [RawRequest(f"k{n}", "prompt", "en-GB", "headline", ASPECTS) for n in range(2)]
JOBS = [ids.job_id(CUSTOMER, request.key) for request in REQUESTS]


def job(job_id: str, *, status: str = "succeeded", cost: str | None = "2.5") -> Job:
    return Job.model_validate(
        {"jobId": job_id, "status": status, "costEstimate": "2.5", "costActual": cost}
    )


def calls(first: int = 0) -> tuple[Call, ...]:
    """Return what two jobs need: a generate and two composites each."""
    kinds = ["generate", "composite", "composite"] * 2
    return tuple(
        Call(
            call_id=f"call-{first + n}",
            at=NOON + timedelta(seconds=n),
            kind=kind,
            status=202,
            accepted=True,
            operations=Decimal("0.5") if kind == "generate" else Decimal(1),
            polls=2,
        )
        for n, kind in enumerate(kinds)
    )


def rendition(job_id: str, aspect: str) -> Rendition:
    width, height = ids.parse_aspect(aspect)
    name = f"{job_id}-{aspect}"
    looks = hashlib.sha256(name.encode()).hexdigest()
    return Rendition(job_id, aspect, Path(name), Path(name), width, height, looks)


@pytest.fixture
def outcome() -> Outcome:
    """Return a demo on an empty state, all of it as promised."""
    books = Books(calls(), 0, "5.0")
    jobs = {job_id: job(job_id) for job_id in JOBS}
    return Outcome(
        sample=split(REQUESTS),
        before={},
        jobs=jobs,
        repeated=jobs,
        renditions=tuple(rendition(each, aspect) for each in JOBS for aspect in ASPECTS),
        books_before=Books((), 0, "0"),
        books=books,
        books_repeated=books,
        wall=timedelta(seconds=41),
        pss_bytes=900_000_000,
        paced_per_minute=Decimal(20),
    )


def test_demo_as_promised_breaks_nothing(outcome: Outcome) -> None:
    assert broken_promises(outcome) == []
    assert outcome.figures() == {
        "jobs": 2,
        "renditions": 4,
        "distinct_pictures": 4,
        "operations": 5.0,
        "operations_difference": 0.0,
        "second_run_operations": 0.0,
        "calls": 6,
        "polls_per_call": 2.0,
        "http_429": 0,
        "wall_s": 41.0,
        "pss_mb": 900,
        "limiter_use": 1.0,
    }


def test_second_demo_on_the_same_state_needs_no_calls(outcome: Outcome) -> None:
    """All jobs were done before, so nothing may be paid, and nothing is missing."""
    again = replace(outcome, before=outcome.jobs, books_before=outcome.books)

    assert broken_promises(again) == []
    assert again.worked_on == ()
    assert again.figures()["operations"] == 5.0
    assert again.figures()["calls"] == 0


def test_call_in_a_second_demo_is_a_broken_promise(outcome: Outcome) -> None:
    paid = Books((*calls(), *calls(first=6)[:1]), 0, "5.5")
    again = replace(outcome, before=outcome.jobs, books_before=outcome.books, books=paid)

    assert any("Adobe accepted {'generate': 1}" in each for each in broken_promises(again))
    assert again.figures()["operations_difference"] == -0.5


def test_demo_that_goes_on_after_a_broken_one_counts_both(outcome: Outcome) -> None:
    """One job was done and the other half paid when the first demo stopped."""
    before = {JOBS[0]: job(JOBS[0]), JOBS[1]: job(JOBS[1], status="queued", cost=None)}
    resumed = replace(outcome, before=before, books_before=Books(calls()[:4], 0, "3.0"))

    assert broken_promises(resumed) == []


def changed(outcome: Outcome, what: str) -> Outcome:
    """Return the outcome with one thing wrong."""
    one, *rest = outcome.renditions
    failed: Mapping[str, Job] = {**outcome.jobs, JOBS[1]: job(JOBS[1], status="dlq", cost="0.5")}
    extra = Books((*outcome.books.calls, *calls(first=6)[:1]), 0, "5.5")
    wrong = {
        "failed": {"jobs": failed, "repeated": failed},
        "missing": {"renditions": tuple(rest)},
        "size": {"renditions": (replace(one, width=99), *rest)},
        "alike": {"renditions": (replace(one, looks=rest[0].looks), *rest)},
        "calls": {"books": extra, "books_repeated": extra},
        "unbilled": {"jobs": {**outcome.jobs, JOBS[1]: job(JOBS[1], cost="3.5")}},
        "again": {"books_repeated": extra},
        "touched": {"repeated": {**outcome.jobs, JOBS[0]: job(JOBS[0], status="queued")}},
        "refused": {"books_repeated": Books(outcome.books.calls, 2, "5.0")},
    }
    return replace(outcome, **wrong[what])


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("failed", "1 of 2 jobs succeeded."),
        ("missing", "1 of 4 renditions are missing."),
        ("size", f"Renditions have the wrong size: {JOBS[0]}-1920x1080 is 99x1080."),
        ("alike", "Only 3 of 4 renditions look different."),
        ("calls", "Adobe accepted {'generate': 3, 'composite': 4}"),
        ("unbilled", "We account for 1.0 operations more than Adobe billed."),
        ("again", "Sending the same brief again cost 0.5 operations."),
        ("touched", "Sending the same brief again changed a job."),
        ("refused", "Adobe refused 2 calls with 429."),
    ],
)
def test_each_broken_promise_is_named(outcome: Outcome, what: str, sentence: str) -> None:
    assert any(said.startswith(sentence) for said in broken_promises(changed(outcome, what)))


def test_status_words_are_the_factorys_own() -> None:
    assert job(JOBS[0]).status is Status.SUCCEEDED
