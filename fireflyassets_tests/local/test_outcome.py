"""The promises: each that is not kept is named, and a kept one is silent."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.status import Status
from fireflyassets.local.books import Books
from fireflyassets.local.customer import Job
from fireflyassets.local.outcome import Outcome, broken_promises
from fireflyassets_tests.local.outcomes import JOBS, as_promised, calls, job


@pytest.fixture
def outcome() -> Outcome:
    return as_promised()


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
    unsure = job(JOBS[1]).model_copy(update={"cost_possible": Decimal("0.5")})
    wrong = {
        "failed": {"jobs": failed, "repeated": failed},
        "missing": {"renditions": tuple(rest)},
        "size": {"renditions": (replace(one, width=99), *rest)},
        "alike": {"renditions": (replace(one, looks=rest[0].looks), *rest)},
        "calls": {"books": extra, "books_repeated": extra},
        "unbilled": {"jobs": {**outcome.jobs, JOBS[1]: job(JOBS[1], cost="3.5")}},
        "unsure": {"jobs": {**outcome.jobs, JOBS[1]: unsure}},
        "again": {"books_repeated": extra},
        "touched": {"repeated": {**outcome.jobs, JOBS[0]: job(JOBS[0], status="queued")}},
        "set aside": {"dead_messages": 1},
        "refused": {"books_repeated": Books(outcome.books.calls, 2, "5.0")},
        "slow": {"paced_per_minute": outcome.paced_per_minute * 2},
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
        ("unsure", "0.5 operations may have been billed besides."),
        ("again", "Sending the same brief again cost 0.5 operations."),
        ("touched", "Sending the same brief again changed a job."),
        ("set aside", "1 raw messages were refused and are in the dead-letter queue"),
        ("refused", "Adobe refused 2 calls with 429."),
        ("slow", "Generate calls used 0.5 of their paced rate, below 0.9."),
    ],
)
def test_each_broken_promise_is_named(outcome: Outcome, what: str, sentence: str) -> None:
    assert any(said.startswith(sentence) for said in broken_promises(changed(outcome, what)))


def test_status_words_are_the_factorys_own() -> None:
    assert job(JOBS[0]).status is Status.SUCCEEDED
