"""Budgets over HTTP. Here: what a tenant sees of its own, and how a refusal reads."""

from fireflyassets_tests.api.desk_clerk import JOB, OTHER, Clerk, clerk, finish
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    capped,
    config,
)


def capped_clerk(operations: str) -> Clerk:
    """Return a clerk of a customer with a budget, and of one without."""
    known = FixedCatalogue(config(), config(customer="bolt"), budgets=capped(operations))
    return clerk(known)


def test_a_tenant_sees_what_is_spent_reserved_and_left() -> None:
    """Its own alone."""
    desk = capped_clerk("20")
    done = desk.post(idempotencyKey="done").json()["jobId"]
    finish(desk.door, done)
    desk.post(idempotencyKey="open")

    mine = desk.ask("GET", "/v1/budgets").json()
    theirs = desk.ask("GET", "/v1/budgets", token=OTHER).json()

    assert mine == {
        "month": "2026-11",
        "budgets": [
            {
                "scope": "customer",
                "cap": "20",
                "raisedBy": None,
                "raisedUntil": None,
                "spent": "3.5",
                "reserved": "4.0",
                "left": "12.5",
            }
        ],
    }
    assert theirs == {"month": "2026-11", "budgets": []}


def test_a_job_that_does_not_fit_is_402_and_says_why() -> None:
    desk = capped_clerk("5")
    assert desk.post(idempotencyKey="first").status_code == 202

    answer = desk.post(idempotencyKey="second")

    assert answer.status_code == 402
    assert answer.headers["Content-Type"] == "application/problem+json"
    (problem,) = answer.json()["problems"]
    assert problem["rule"] == "over-budget"
    assert "cap 5, spent 0, reserved 3.5" in problem["message"]


def test_a_brief_that_does_not_fit_is_402_and_parts_of_it_are_taken_if_asked() -> None:
    desk = capped_clerk("8")
    lines = "".join(f"k{n},A glass,en-GB,Spring,{'|'.join(ASPECTS)}\n" for n in range(3))
    content = f"key,prompt,locale,headline,aspects\n{lines}".encode()
    path = f"/v1/jobs:batch?campaign={CAMPAIGN}"
    kind = {"Content-Type": "text/csv"}

    whole = desk.ask("POST", path, content=content, headers=kind)
    part = desk.ask("POST", f"{path}&partial=true", content=content, headers=kind)

    assert whole.status_code == 402
    assert whole.json()["detail"] == "Nothing new was accepted: a budget has no room for it."
    (problem,) = whole.json()["problems"]  # Once, and of no row: no row is at fault.
    assert (problem["rule"], "row" in problem) == ("over-budget", False)
    assert "no room for 10.5 operations" in problem["message"]
    assert part.status_code == 202
    assert (part.json()["accepted"], part.json()["refused"]) == (2, 1)
    assert [(one["row"], one["rule"]) for one in part.json()["problems"]] == [(4, "over-budget")]


def test_a_dry_run_tells_of_the_budget_too() -> None:
    """Who asks before sending hears what sending would be answered; nothing is held."""
    desk = capped_clerk("8")
    lines = "".join(f"k{n},A glass,en-GB,Spring,{'|'.join(ASPECTS)}\n" for n in range(3))
    content = f"key,prompt,locale,headline,aspects\n{lines}".encode()
    path = f"/v1/jobs:batch?campaign={CAMPAIGN}&dry_run=true"
    kind = {"Content-Type": "text/csv"}

    whole = desk.ask("POST", path, content=content, headers=kind)
    part = desk.ask("POST", f"{path}&partial=true", content=content, headers=kind)
    single = capped_clerk("1").ask("POST", "/v1/jobs?dry_run=true", json=JOB)
    fits = desk.ask("POST", "/v1/jobs?dry_run=true", json=JOB)

    assert (whole.status_code, single.status_code, fits.status_code) == (402, 402, 200)
    assert "cap 8, spent 0, reserved 0" in whole.json()["problems"][0]["message"]
    assert (part.json()["jobs"], part.json()["refused"]) == (2, 1)
    assert [one["rule"] for one in part.json()["problems"]] == ["over-budget"]
    assert desk.door.ledger.counters(CUSTOMER, "2026-11") == []
    assert desk.door.ledger.blocks(CUSTOMER, "2026-11") == []
