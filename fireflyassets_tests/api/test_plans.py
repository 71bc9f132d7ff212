"""Plans over HTTP: what a brief would come to, its token, and what became of it."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest

from fireflyassets.api.plan_tokens import LASTS
from fireflyassets.api.reads import FRESH
from fireflyassets.core import ids
from fireflyassets.core.budget import BudgetFile
from fireflyassets.core.status import Status
from fireflyassets.stages.planning import digest_of
from fireflyassets_tests.api.desk_clerk import OTHER, Clerk, clerk, finish
from fireflyassets_tests.api.desk_clerk import token as bearer
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    card,
    config,
)

HEADER = "key,prompt,locale,headline,aspects\n"
ALL = "|".join(ASPECTS)


def brief(count: int, *, aspects: str = ALL, more: str = "") -> bytes:
    """Return a brief of *count* good rows, and *more* behind them."""
    rows = "".join(f"k{n},A meadow,en-GB,Spring,{aspects}\n" for n in range(count))
    return f"{HEADER}{rows}{more}".encode()


def plan(desk: Clerk, content: bytes) -> httpx.Response:
    """Ask for a plan."""
    said = {"Content-Type": "text/csv"}
    return desk.ask("POST", f"/v1/plans?campaign={CAMPAIGN}", content=content, headers=said)


def release(desk: Clerk, token: str, sent: str | None = None) -> httpx.Response:
    """Release a plan."""
    path = f"/v1/plans/{token}/release"
    return desk.ask("POST", path) if sent is None else desk.ask("POST", path, token=sent)


def test_a_plan_tells_jobs_operations_calls_and_finishes() -> None:
    """At 3.2 pictures a minute ten jobs take three minutes; at twice the limits half of it."""
    told = plan(clerk(), brief(10)).json()

    assert (told["jobs"], told["renditions"], told["refused"]) == (10, 30, 0)
    assert told["operations"] == "35.0"
    assert (told["price"], told["currency"]) == (None, None)
    assert told["calls"] == {"firefly": 10, "photoshop": 30}
    assert [one["limits"] for one in told["finishes"]] == [1, 2, 5]
    assert told["finishes"][0] == {
        "limits": 1,
        "likely": "2026-11-30T12:03:30Z",
        "late": "2026-11-30T12:03:54Z",
        "decidedBy": "firefly",
    }
    assert told["finishes"][1]["likely"] == "2026-11-30T12:01:56Z"
    assert told["fits"] is True
    assert told["problems"] == []


def test_an_operation_s_price_by_the_contract_is_told() -> None:
    """Exactly, and only where the rate card names one."""
    desk = clerk(FixedCatalogue(config(), cards=(card(currency="EUR", per_operation="0.031"),)))

    told = plan(desk, brief(3)).json()

    assert (told["price"], told["currency"]) == ("0.33", "EUR")


def test_refusals_are_predicted_row_by_row() -> None:
    """By the rules of intake itself, with row, rule and fix; the others are planned."""
    desk = clerk()
    bad = f"bad1,,en-GB,Spring,{ALL}\nbad2,A meadow,fr-FR,Spring,7x7\n"

    told = plan(desk, brief(2, more=bad)).json()

    assert (told["jobs"], told["refused"]) == (2, 2)
    assert [(one["row"], one["rule"]) for one in told["problems"]] == [
        (4, "empty"),
        (5, "locale"),
        (5, "aspect"),
    ]
    assert all(one["fix"] for one in told["problems"])
    sent = desk.ask(
        "POST",
        f"/v1/jobs:batch?campaign={CAMPAIGN}&partial=true&dry_run=true",
        content=brief(2, more=bad),
        headers={"Content-Type": "text/csv"},
    )
    assert told["problems"] == sent.json()["problems"]


def test_a_brief_with_every_row_bad_has_a_plan_without_a_token() -> None:
    """There is nothing to release, and each row says why."""
    told = plan(clerk(), f"{HEADER}k1,,en-GB,S,{ALL}\nk2,A,xx,S,{ALL}\n".encode()).json()

    assert (told["jobs"], told["refused"], told["token"]) == (0, 2, None)
    assert len(told["problems"]) == 2
    unreadable = plan(clerk(), b"no,brief\n")
    assert unreadable.status_code == 422


def test_a_budget_of_zero_and_a_tight_one_are_predicted_with_what_would_fit() -> None:
    """Nothing is reserved by a plan, and the cheapest change that fits is named first."""
    catalogue = FixedCatalogue(config(), budgets={CUSTOMER: budget("0")})
    desk = clerk(catalogue)
    nothing = plan(desk, brief(4)).json()
    catalogue.budgets[CUSTOMER] = budget("10")

    some = plan(desk, brief(4)).json()

    assert (nothing["jobs"], nothing["token"], nothing["fits"]) == (0, None, False)
    assert nothing["problems"][0]["rule"] == "over-budget"
    assert (some["jobs"], some["refused"], some["fits"]) == (2, 2, False)
    assert [one["row"] for one in some["problems"]] == [4, 5]
    best = some["changes"][0]
    assert (best["change"], best["fits"]) == (f"Leave out {min(ASPECTS)}", True)
    assert (best["renditionsFewer"], best["operationsSaved"]) == (4, "4.0")
    assert desk.door.ledger.counters(CUSTOMER, "2026-11") == []


def budget(operations: str) -> BudgetFile:
    """Return a customer's budget."""
    entry = {"valid_from": "2026-01-01", "source": "a test", "operations": operations}
    return BudgetFile.model_validate({"customer": [entry]})


def test_a_token_releases_what_was_planned_and_again_nothing() -> None:
    """The rows that fit become jobs; the plan stands beside what became of them."""
    desk = clerk()
    token = plan(desk, brief(3, more=f"bad,,en-GB,S,{ALL}\n")).json()["token"]
    before = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/plan").json()

    first, again = release(desk, token), release(desk, token)
    standing = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/plan").json()["plan"]
    desk.post(idempotencyKey="not-of-the-plan")
    for n in range(3):
        finish(desk.door, ids.job_id(CUSTOMER, f"k{n}"))
    desk.door.clock.jump(FRESH)
    done = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/plan").json()["plan"]

    assert before["plan"] is None
    assert first.status_code == again.status_code == 202
    assert (first.json()["accepted"], first.json()["refused"]) == (3, 1)
    assert (again.json()["accepted"], again.json()["repeated"]) == (0, 3)
    assert (standing["jobs"], standing["jobsEnded"], standing["finishActual"]) == (3, 0, None)
    assert standing["operationsPlanned"] == "10.5"
    assert (done["jobs"], done["jobsEnded"], done["operationsActual"]) == (3, 3, "10.5")
    assert done["finishActual"] is not None


def test_a_release_that_died_half_way_is_told_right_by_the_next() -> None:
    """Its jobs are the plan's, though by then they are repeated ones."""
    desk = clerk()
    token = plan(desk, brief(2)).json()["token"]
    release(desk, token)
    (record,) = desk.door.objects.keys("plans/")
    desk.door.objects.delete(record)

    release(desk, token)

    told = desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}/plan").json()["plan"]
    assert told["jobs"] == 2


def test_a_release_that_no_row_fits_any_more_is_refused() -> None:
    """The budget went to others since: that is no success without jobs."""
    catalogue = FixedCatalogue(config(), budgets={CUSTOMER: budget("100")})
    desk = clerk(catalogue)
    token = plan(desk, brief(4)).json()["token"]
    catalogue.budgets[CUSTOMER] = budget("0")

    told = release(desk, token)
    catalogue.budgets[CUSTOMER] = budget("100")

    assert told.status_code == 402
    assert told.json()["problems"][0]["rule"] == "over-budget"
    assert release(desk, token).json()["accepted"] == 4


def test_a_plan_is_nobody_else_s_and_does_not_last() -> None:
    """Another tenant's is as absent as none; after a day it is gone; one is not to be forged."""
    desk = clerk()
    token = plan(desk, brief(1)).json()["token"]

    theirs, never = release(desk, token, OTHER), release(desk, "none", OTHER)
    forged = release(desk, token[:-4] + "AAAA")
    desk.door.clock.jump(LASTS - timedelta(hours=23, minutes=30))
    in_time = release(desk, token)
    late = clerk()
    old = plan(late, brief(1)).json()["token"]
    late.door.clock.jump(LASTS)
    too_late = late.ask("POST", f"/v1/plans/{old}/release", token=token_of_tomorrow(late))

    assert theirs.status_code == never.status_code == forged.status_code == 404
    assert theirs.content == never.content
    assert in_time.status_code == 202
    assert too_late.status_code == 410
    assert late.door.ledger.rows() == []


def token_of_tomorrow(desk: Clerk) -> str:
    """Return a bearer token that is good once a plan has run out."""
    now = int(desk.door.clock.now().timestamp())
    return bearer(iat=now, exp=now + 3600)


@pytest.mark.parametrize("change", ["template", "file"])
def test_a_campaign_or_template_that_changed_after_the_plan_refuses_it(change: str) -> None:
    """409, which says what changed; nothing is written, and a new plan is good."""
    catalogue = FixedCatalogue(config())
    desk = clerk(catalogue)
    token = plan(desk, brief(1)).json()["token"]
    campaign = catalogue.campaign(CUSTOMER, CAMPAIGN)
    changes: dict[str, object] = {"version": "another"}
    if change == "template":
        changes["templates"] = dict.fromkeys(campaign.templates, "9" * 64)
    catalogue.replace_campaign(replace(campaign, **changes))

    refused = release(desk, token)

    assert refused.status_code == 409
    said = refused.json()["problems"][0]
    assert said["rule"] == "plan"
    assert said["message"].startswith(
        "A template or font" if change == "template" else "The campaign has"
    )
    assert desk.door.ledger.rows() == []
    assert release(desk, plan(desk, brief(1)).json()["token"]).status_code == 202


def test_a_brief_that_changed_or_went_after_the_plan_is_not_released() -> None:
    """What is kept must be, byte for byte, what was planned."""
    desk = clerk()
    content = brief(1)
    token = plan(desk, content).json()["token"]
    key = ids.planned_key(CUSTOMER, digest_of(content))
    desk.door.objects.put(key, brief(5), media_type="text/csv")

    changed = release(desk, token)
    desk.door.objects.delete(key)

    assert changed.status_code == release(desk, token).status_code == 410
    assert desk.door.ledger.rows() == []


def test_what_waits_already_makes_the_finish_later() -> None:
    """Own jobs before it count whole."""
    desk = clerk()
    alone = plan(desk, brief(10)).json()["finishes"][0]["likely"]
    busy = clerk()
    for n in range(6):
        busy.post(idempotencyKey=f"first-{n}")

    later = plan(busy, brief(10)).json()["finishes"][0]["likely"]

    assert (alone, later) == ("2026-11-30T12:03:30Z", "2026-11-30T12:05:23Z")


def test_rows_that_are_known_already_are_repeated_and_cost_nothing() -> None:
    desk = clerk()
    release(desk, plan(desk, brief(2)).json()["token"])

    told = plan(desk, brief(3)).json()

    assert (told["jobs"], told["repeated"], Decimal(told["operations"])) == (1, 2, Decimal("3.5"))
    row = desk.door.ledger.job(ids.job_id(CUSTOMER, "k2"))
    assert row is None
    assert {one.status for one in desk.door.ledger.rows()} == {Status.QUEUED}
