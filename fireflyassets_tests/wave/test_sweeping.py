"""Paid calls that lost their owner: collected, booked, and nothing sent for it, in virtual time."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause, Cost, picture_charges
from fireflyassets.core.status import Status
from fireflyassets.fence.call import Rates, operations_of
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    Decision,
    Ending,
    Operation,
    Resumed,
    Verdict,
)
from fireflyassets.ports.paid import EndedBadly, Gone, OutcomeLost, Working
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.reports import Turn
from fireflyassets.wave.sweeping import YOUNG, Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe, turns
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import Behaviour, Take


async def swept(here: Floor) -> dict[str, int]:
    """Let what is open grow old enough, sweep once, and return what was found."""
    await here.clock.sleep(YOUNG + timedelta(seconds=1))
    return dict((await Sweep(here.shop).run(after=None, most=100)).found)


async def die_in(here: Floor, jobs: list[str], seconds: float) -> None:
    """Work for so long, die, and be taken over."""
    for wave in here.begin(jobs).waves:
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=seconds))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())


def one_attempt(here: Floor, job: str) -> Attempt:
    """Return the job's only send."""
    (attempt,) = here.ledger.history(job).attempts
    return attempt


def daring() -> Floor:
    """Return a floor whose campaign allows a send after one of unknown outcome."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    said = config(aspects=ASPECTS, templates=templates, recipe=recipe(), resubmit_unknown=1)
    return floor(catalogue=FixedCatalogue(said))


def accept_late(here: Floor, sent: Attempt, vendor_id: str) -> None:
    """Let the answer of a send arrive that everybody had given up."""
    here.images.vendor.billed.append(vendor_id)
    here.images.vendor.jobs[vendor_id] = (here.clock.now(), Take())
    here.images.sizes[vendor_id] = (20, 20)
    url = f"https://x.adobe.io/status/{vendor_id}"
    late = replace(sent, vendor_id=vendor_id)
    here.ledger.accept_attempt(
        sent, vendor_id=vendor_id, status_url=url, cancel_url=None, operations=[taken(here, late)]
    )


def taken(here: Floor, sent: Attempt) -> Operation:
    """Return the row that an id brings with it."""
    (row,) = operations_of(
        here.row(sent.job_id),
        sent,
        Rates(partial(picture_charges, Decimal("0.5"), 1), "test"),
        Cause.ACCEPTED_BUT_FAILED,
        here.clock.now(),
    )
    return row


def test_what_a_dead_worker_paid_for_is_bound_while_its_job_waits() -> None:
    """The picture is collected without a wave; the next wave sends only what is missing."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30))
        await die_in(here, [job], 10)

        assert await swept(here) == {"bound": 1}
        assert await swept(here) == {}
        ended = await here.work([job])

        assert turns(ended) == ["succeeded"]
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_composites_are_collected_too() -> None:
    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.extend([Take(seconds=40)] * 3)
        await die_in(here, [job], 15)

        assert await swept(here) == {"bound": 3}
        ended = await here.work([job])

        assert turns(ended) == ["succeeded"]
        assert (here.images.vendor.sent, here.documents.vendor.sent) == (1, 3)
        books_agree(here)

    run(scenario)


def test_sends_of_a_wave_at_work_are_left_alone() -> None:
    """As long as a wave has the job, its sends have an owner."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=200))
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())

        assert await swept(here) == {}
        await engine

        assert here.row(job).status is Status.SUCCEEDED

    run(scenario)


def test_late_id_frees_a_held_job() -> None:
    """A job held for an unknown outcome goes on by itself once the id is known."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")))
        await here.work([job])
        assert here.row(job).hold is not None
        assert await swept(here) == {"unknown": 1}

        accept_late(here, one_attempt(here, job), "firefly-late")
        assert await swept(here) == {"bound": 1}

        assert here.row(job).hold is None
        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_person_s_hold_stays_whatever_is_collected() -> None:
    """The sweep lifts only what the fence has put on."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")))
        await here.work([job])
        row = here.row(job)
        assert row.hold is not None
        held = replace(row, hold=replace(row.hold, by="somebody"))
        here.ledger._rows[job] = held

        accept_late(here, one_attempt(here, job), "firefly-late")
        await swept(here)

        assert here.row(job).hold == held.hold

    run(scenario)


def test_id_that_comes_after_a_resubmit_is_an_orphan() -> None:
    """Both sends are paid: one is bound, the other collected and booked, and the job is done."""

    async def scenario() -> None:
        here = daring()
        (job,) = here.order(1)
        here.images.vendor.script.append(OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")))
        assert turns(await here.work([job])) == ["succeeded"]
        sends = [one for one in here.ledger.history(job).attempts if one.step == "art"]

        accept_late(here, sends[0], "firefly-late")
        assert await swept(here) == {"orphaned": 1}

        rows = {row.vendor_id: row.cause for row in here.ledger.history(job).operations}
        assert rows["firefly-late"] is Cause.ORPHANED
        row = here.row(job)
        assert (row.cost_actual, row.cost_possible) == (row.cost_estimate + Decimal("0.5"), 0)
        books_agree(here)
        assert await swept(here) == {}

    run(scenario)


def test_campaign_allows_one_send_after_an_unknown_outcome_and_no_second() -> None:
    """The rule is used once for each step; the next unknown outcome waits for a person."""

    async def scenario() -> None:
        here = daring()
        (job,) = here.order(1)
        lost = OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer"))
        here.images.vendor.script.extend([lost, lost])

        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.images.vendor.sent == 2
        causes = [row.cause for row in here.ledger.history(job).operations]
        assert causes == [Cause.POSSIBLE_DUPLICATE]

    run(scenario)


def test_agreed_duplicate_does_not_fail_the_cost_check() -> None:
    """A campaign that allows the risk is not told that the job was too dear."""

    async def scenario() -> None:
        here = daring()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(silent=True))

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        row = here.row(job)
        assert (row.cost_actual, row.cost_possible) == (row.cost_estimate, Decimal("0.5"))
        books_agree(here)

    run(scenario)


def test_id_that_the_vendor_does_not_know_is_an_unknown_outcome() -> None:
    """A 404 settles nothing: the next wave holds the job instead of sending again."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30, ending=Gone()))
        await die_in(here, [job], 10)

        assert await swept(here) == {"lost": 1}
        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.images.vendor.sent == 1

    run(scenario)


def test_bad_end_is_booked_and_the_step_is_tried_again() -> None:
    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        bad = EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))
        here.images.vendor.script.append(Take(seconds=30, ending=bad))
        await die_in(here, [job], 10)

        assert await swept(here) == {"failed": 1}
        await here.work([job])

        causes = [row.cause for row in here.ledger.history(job).operations]
        assert causes.count(Cause.ACCEPTED_BUT_FAILED) == 1
        assert here.images.vendor.sent == 2
        books_agree(here)

    run(scenario)


def test_job_past_its_deadline_is_still_collected_for_its_replay() -> None:
    """An id outlives the step's patience: the replay finds the picture made and paid once."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=400))
        await here.work([job])
        assert here.row(job).status is Status.DLQ

        assert await swept(here) == {"bound": 1}
        ended = await here.work([job])

        assert turns(ended) == ["succeeded"]
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_closed_job_s_result_is_kept_as_an_orphan() -> None:
    """Nobody wants it any more; it is paid, so it is booked."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30))
        await die_in(here, [job], 10)
        claim = here.ledger.claim(job, "acme", "w-close", now=here.clock.now())
        assert isinstance(claim, Claim)
        now = here.clock.now()
        gone = Ending(Status.CANCELLED, "stopped", (), Cost(), now, None)
        here.ledger.finish(claim, gone)

        assert await swept(here) == {"orphaned": 1}

        history = here.ledger.history(job)
        assert dict(history.steps) == {}
        assert [row.cause for row in history.operations] == [Cause.CANCELLED_LATE]
        assert one_attempt(here, job).state is AttemptState.ORPHANED

    run(scenario)


@pytest.mark.parametrize("wrote", [True, False])
def test_unanswered_composite_of_an_ended_job_is_settled_by_its_key(*, wrote: bool) -> None:
    """No wave comes for a job in the dead-letter state, and its key lives a day."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        lost: Behaviour = OutcomeLost(Fault(Family.PHOTOSHOP, 504, "lost_answer"))
        here.documents.vendor.script.append(Take(silent=True) if wrote else lost)
        await here.work([job])
        claim = here.ledger.claim(job, "acme", "w-x", now=here.clock.now())
        assert isinstance(claim, Claim)
        now = here.clock.now()
        ending = Ending(Status.DLQ, "another aspect", (), Cost(), now, None)
        here.ledger.finish(claim, ending)

        assert await swept(here) == {"unknown": 1}
        await here.clock.sleep(timedelta(minutes=75))

        assert await swept(here) == ({"bound": 1} if wrote else {"failed": 1})
        steps = here.ledger.history(job).steps
        assert len(steps) == (4 if wrote else 3)

    run(scenario)


def test_slices_go_round() -> None:
    """A slice that is full hands on where the next one begins; the last one starts anew."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.script.extend([Take(seconds=900, ending=Working())] * 3)
        await die_in(here, jobs, 10)
        await here.clock.sleep(YOUNG)

        first = await Sweep(here.shop).run(after=None, most=2)
        rest = await Sweep(here.shop).run(after=first.after, most=2)

        assert first.found == {"working": 2}
        assert rest.found == {"working": 1}
        assert rest.after is None

    run(scenario)


def test_resubmit_by_a_person_is_sent_by_the_next_wave() -> None:
    """A decision lifts the hold; the next wave sends once more and the job is done."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")))
        await here.work([job])
        now = here.clock.now()
        decision = Decision(Verdict.RESUBMIT, by="ops", at=now)
        assert here.ledger.decide(here.row(job), one_attempt(here, job), decision, Resumed(now), [])

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 2

    run(scenario)


def test_nothing_is_sent_when_the_row_took_the_rest_of_the_lease() -> None:
    """A row that is written too late is closed as not sent: nothing is unknown about it."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        inner = here.ledger.begin_attempt

        def slow(attempt: Attempt) -> bool:
            engine.lease.until = here.clock.now()
            return inner(attempt)

        here.ledger.begin_attempt = slow  # pyright: ignore[reportAttributeAccessIssue] - a slow write, nothing else.
        await engine.run()

        sent = one_attempt(here, job)
        assert (sent.state, sent.counts) == (AttemptState.REFUSED, False)
        assert here.images.vendor.sent == 0

    run(scenario)
