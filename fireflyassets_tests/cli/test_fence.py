"""The fence's commands over a factory floor in memory: what they print, and what they change."""

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from fireflyassets.cli.fence import FenceDesk
from fireflyassets.cli.main import main
from fireflyassets.core.errors import UndecidableNow, UnknownCampaign
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause, Cost
from fireflyassets.core.status import Status
from fireflyassets.fence.accounts import Part, accounts
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import AttemptState, Verdict
from fireflyassets.ports.paid import EndedBadly, Gone, NotAccepted, OutcomeLost
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import Behaviour, Take

LOST = OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer"))


def desk(here: Floor) -> FenceDesk:
    """Return the commands over the floor's own ports."""
    return FenceDesk(here.ledger, here.shop.pins, here.shop.catalogue, here.clock)


async def held(here: Floor, behaviour: Behaviour = LOST) -> str:
    """Return a job that is held for its generate's unknown outcome."""
    (job,) = here.order(1)
    here.images.vendor.script.append(behaviour)
    await here.work([job])
    assert here.row(job).hold is not None
    return job


def said(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - any JSON.
    """Return the JSON that was printed."""
    return json.loads(capsys.readouterr().out)


def test_list_shows_what_waits_for_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """Job, step, since when, what it may have cost, and why nobody knows."""

    async def scenario() -> str:
        here = floor()
        job = await held(here)
        await here.clock.sleep(timedelta(seconds=1))
        desk(here).list_unknown(as_json=True)
        return job

    job = run(scenario)
    (row,) = said(capsys)
    assert (row["job"], row["step"], row["send"], row["held"]) == (job, "art", "1", "yes")
    assert Decimal(row["operations"]) > 0
    assert "lost_answer" in row["why"]
    assert row["settles"] == "by a person"


def test_list_as_a_table_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> str:
        here = floor()
        job = await held(here)
        await here.clock.sleep(timedelta(seconds=1))
        desk(here).list_unknown(as_json=False)
        return job

    job = run(scenario)
    head, line = capsys.readouterr().out.splitlines()
    assert head.startswith("job")
    assert line.startswith(job)


def test_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A head alone could pass for an answer that was cut off."""

    async def scenario() -> None:
        desk(floor()).list_unknown(as_json=False)

    run(scenario)
    assert capsys.readouterr().out == "No send has an unknown outcome.\n"


def test_resubmit_sends_once_more_and_books_the_risk() -> None:
    async def scenario() -> None:
        here = floor()
        job = await held(here)

        desk(here).resolve(job, "art", verdict=Verdict.RESUBMIT, by="ops", why="the report")

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 2
        history = here.ledger.history(job)
        causes = [row.cause for row in history.operations]
        assert causes.count(Cause.POSSIBLE_DUPLICATE) == 1
        decision = history.attempts[0].decision
        assert decision is not None
        assert (decision.verdict, decision.by) == (Verdict.RESUBMIT, "ops")
        assert decision.why == "the report"

    run(scenario)


def test_billed_without_an_id_goes_to_review_and_is_booked() -> None:
    """Its result is out of reach, so a person must say how the job goes on."""

    async def scenario() -> None:
        here = floor()
        job = await held(here)

        desk(here).resolve(job, "art", verdict=Verdict.BILLED, by="ops", why="the report")

        row = here.row(job)
        assert (row.status, row.hold) == (Status.REVIEW, None)
        history = here.ledger.history(job)
        assert [one.cause for one in history.operations] == [Cause.ORPHANED]
        assert row.cost == Cost(Decimal("0.5"))
        assert "under a new key" in (row.reason or "")
        assert history.attempts[0].state is AttemptState.FAILED

    run(scenario)


def test_billed_with_an_id_is_collected_by_the_next_wave() -> None:
    """The vendor denied an id that its report shows; asked again, it has the picture."""

    async def scenario() -> None:
        here = floor()
        job = await held(here, Take(ending=Gone()))
        vendor = here.images.vendor
        vendor.jobs = {
            name: (at, replace(how, ending=None)) for name, (at, how) in vendor.jobs.items()
        }

        desk(here).resolve(job, "art", verdict=Verdict.BILLED, by="ops", why="the report")

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 1

    run(scenario)


def test_billed_with_an_id_that_stays_unknown_can_be_decided_again() -> None:
    async def scenario() -> None:
        here = floor()
        job = await held(here, Take(ending=Gone()))
        desk(here).resolve(job, "art", verdict=Verdict.BILLED, by="ops", why="the report")
        assert turns(await here.work([job])) == ["held"]
        await here.clock.sleep(timedelta(seconds=1))

        desk(here).resolve(job, "art", verdict=Verdict.RESUBMIT, by="ops", why="the report")

        assert turns(await here.work([job])) == ["succeeded"]

    run(scenario)


def test_drop_closes_the_job() -> None:
    """What its send may have cost is booked; the customer is not told an operator's own words."""

    async def scenario() -> None:
        here = floor()
        job = await held(here)

        desk(here).resolve(job, "art", verdict=Verdict.DROP, by="ann", why="the report")

        row = here.row(job)
        assert (row.status, row.hold) == (Status.FAILED, None)
        assert row.reason == (
            "Step art, send 1: nobody could find out what became of it, and the job was given up. "
            "Send it under a new key to have it made."
        )
        (kept,) = [one.decision for one in here.ledger.history(job).attempts]
        assert kept
        assert (kept.by, kept.why) == ("ann", "the report")
        assert row.ttl is not None
        assert (row.cost_actual, row.cost_possible) == (0, Decimal("0.5"))
        books_agree(here)
        with pytest.raises(UndecidableNow, match="no unknown outcome"):
            desk(here).resolve(job, "art", verdict=Verdict.DROP, by="ops", why="the report")

    run(scenario)


def test_what_can_t_be_decided_is_refused() -> None:
    """No such job, no such step, nothing unknown, or a wave at work: nothing is written."""

    async def scenario() -> None:
        here = floor()
        (done,) = here.order(1)
        await here.work([done])
        (busy,) = here.order(1, prefix="busy")
        here.begin([busy])

        for job, step, why in (
            ("nobody", "art", "no job"),
            (done, "art", "no unknown outcome"),
            (busy, "art", "works on"),
        ):
            with pytest.raises(UndecidableNow, match=why):
                desk(here).resolve(job, step, verdict=Verdict.RESUBMIT, by="ops", why="the report")

    run(scenario)


def test_report_holds_the_bill_between_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    """Every part of the identity has its column, and every gap is one named row."""

    async def scenario() -> Decimal:
        here = floor()
        jobs = here.order(5)
        here.images.vendor.script.extend(
            [
                Take(),
                Take(silent=True),
                Take(ending=EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))),
                NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True),
            ]
        )
        await here.work(jobs)
        desk(here).report(None, day=None, as_json=True)
        card = here.shop.catalogue.rate_cards()[0]
        images = len(here.images.vendor.billed) * card.generate[recipe_model(here)]
        return images + len(here.documents.vendor.billed) * card.photoshop

    billed = run(scenario)
    (account,) = said(capsys)
    assert Decimal(account["at_least"]) <= billed <= Decimal(account["at_most"])
    parts = sorted(gap["part"] for gap in account["gaps"])
    assert parts == ["accepted_but_failed", "possible_cost", "unknown"]
    gaps = sum(Decimal(gap["operations"]) for gap in account["gaps"])
    assert Decimal(account["at_least"]) + gaps == Decimal(account["at_most"])


def recipe_model(here: Floor) -> Any:  # noqa: ANN401 - the recipe's own word.
    """Return the model of the campaign's only generate step."""
    (campaign,) = here.shop.catalogue.campaigns().values()
    return campaign.config.recipe.pictures()[0].model


def test_report_as_a_table_names_the_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> str:
        here = floor()
        job = await held(here)
        desk(here).report("acme/spring-launch", day=None, as_json=False)
        return job

    job = run(scenario)
    printed = capsys.readouterr().out
    assert "at_least" in printed
    assert f"unknown  {job}" in printed


def test_report_of_an_unknown_campaign_is_refused() -> None:
    async def scenario() -> None:
        with pytest.raises(UnknownCampaign):
            desk(floor()).report("acme/nothing", day=None, as_json=True)

    run(scenario)


@pytest.mark.parametrize("words", [["--by", " ", "--why", "lost"], ["--by", "ops", "--why", ""]])
def test_a_decision_without_a_name_or_a_reason_is_none(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands for good, so it is asked for before anything is read."""
    with pytest.raises(SystemExit) as end:
        main(["fence", "resolve", "job", "art", "--drop", *words])

    assert end.value.code == 2
    assert "it is kept for good: write it out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verdict", "part"),
    [
        (Verdict.DROP, Part.POSSIBLE_COST),
        (Verdict.RESUBMIT, Part.POSSIBLE_DUPLICATE),
        (Verdict.BILLED, Part.ORPHANED),
    ],
)
def test_a_decided_send_is_no_longer_unknown_in_the_report(verdict: Verdict, part: Part) -> None:
    """It stands where the word puts it: certain by the vendor's report alone."""

    async def scenario() -> None:
        here = floor()
        job = await held(here)
        desk(here).resolve(job, "art", verdict=verdict, by="ops", why="the report")

        row, history = here.row(job), here.ledger.history(job)
        (account,) = accounts([(row, history)], lambda _row, _send: Decimal(9))

        assert [(one.part, one.operations) for one in account.entries] == [(part, Decimal("0.5"))]
        billed = verdict is Verdict.BILLED
        assert account.at_least == (Decimal("0.5") if billed else 0)
        assert account.at_most == Decimal("0.5")
        assert [one.why for one in account.gaps()] == (
            [] if billed else [f"firefly 504 lost_answer; {verdict} by ops"]
        )

    run(scenario)


@pytest.mark.parametrize("day", ["yesterday", "30.11.2026", "2026-13-01"])
def test_a_day_that_is_none_is_refused_in_words(
    day: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["fence", "report", "--day", day])

    assert f"argument --day: {day!r} is no day: write it as 2026-11-30" in capsys.readouterr().err
