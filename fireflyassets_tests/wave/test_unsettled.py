"""Rows follow their sends whoever dies on the way: no hold and no cost outlives its cause.

Here: sweeps and decisions cut short before each call of the ledger, late zombies, people who decide
side by side. Not here: what the ledger promises of one write.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import ENDED, Status
from fireflyassets.fence.resolving import Resolver
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import AttemptState, Claim, Decision, Ending, Verdict
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.paid import EndedBadly, Gone, NotAccepted
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.reports import Ended, Turn
from fireflyassets.wave.sweeping import Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import Take
from fireflyassets_tests.wave.test_settling import resolver
from fireflyassets_tests.wave.test_sweeping import accept_late

Arrange = Callable[[Floor], Coroutine[None, None, str]]
REFUSED = NotAccepted(Fault(Family.PHOTOSHOP, 403, "user_not_entitled"))
FAILED = EndedBadly(Fault(Family.FIREFLY, 200, "internal_error"))


class Dead(BaseException):
    """The process is gone."""


class Mortal:
    """A ledger whose process dies before one of its calls."""

    def __init__(self, ledger: JobLedger, calls: int) -> None:
        self._ledger, self.left = ledger, calls

    def __getattr__(self, name: str) -> object:
        call = getattr(self._ledger, name)

        def counted(*args: object, **kwargs: object) -> object:
            if self.left == 0:
                raise Dead
            self.left -= 1
            return call(*args, **kwargs)

        counted.__name__ = name
        return counted


def mortal(ledger: JobLedger, calls: int) -> JobLedger:
    """Return a ledger that answers so many calls."""
    return cast("JobLedger", Mortal(ledger, calls))


async def held_and_answered_late(here: Floor) -> str:
    """Return a job that is held for a send whose id came late."""
    (job,) = here.order(1, aspects=("32x18",))
    here.images.vendor.script.append(Take(silent=True))
    assert turns(await here.work([job])) == ["held"]
    (sent,) = here.ledger.history(job).attempts
    here.images.vendor.billed.pop()
    accept_late(here, sent, "late-1")
    return job


async def held_and_failed_late(here: Floor) -> str:
    """Return such a job whose remote job failed."""
    job = await held_and_answered_late(here)
    here.images.vendor.jobs["late-1"] = (here.clock.now(), Take(ending=FAILED))
    return job


async def held_and_refused_late(here: Floor) -> str:
    """Return a job held for a send of a worker that was taken for dead and heard a 429 then."""
    (job,) = here.order(1, aspects=("32x18",))
    (wave,) = here.begin([job]).waves
    engine = asyncio.ensure_future(here.engine(wave).run())
    here.images.vendor.watch = engine.cancel
    here.images.vendor.script.append(Take(silent=True))
    await asyncio.gather(engine, return_exceptions=True)
    here.images.vendor.watch = lambda: None
    here.images.vendor.billed.clear()
    take_over(here.ledger, wave, now=here.clock.now())
    assert turns(await here.work([job])) == ["held"]
    (sent,) = here.ledger.history(job).attempts
    said = replace(sent, fault=None)
    here.ledger.close_attempt(said, AttemptState.REFUSED, fault="429", counts=False)
    return job


async def ended_beside_an_open_call(here: Floor) -> str:
    """Return a job that ended by one composite while another was at work."""
    (job,) = here.order(1, aspects=("32x18", "18x32"))
    here.documents.vendor.script.extend([Take(seconds=90_000), REFUSED])
    await here.work([job])
    for vendor_id, (_, take) in here.documents.vendor.jobs.items():
        here.documents.vendor.jobs[vendor_id] = (here.clock.now(), take)
    assert here.row(job).status in ENDED
    return job


async def ended_beside_a_call_that_fails(here: Floor) -> str:
    """Return such a job whose other composite fails."""
    job = await ended_beside_an_open_call(here)
    for vendor_id, (at, _) in here.documents.vendor.jobs.items():
        here.documents.vendor.jobs[vendor_id] = (at, Take(ending=FAILED))
    return job


async def ended_before_a_zombie_paid(here: Floor) -> str:
    """Return a job that had ended, all settled, when a worker that was paused sent once more."""
    (job,) = here.order(1, aspects=("32x18",))
    here.documents.vendor.script.append(REFUSED)
    await here.work([job])
    first = here.ledger.history(job).attempts[0]
    late = replace(first, n=7, state=AttemptState.SUBMITTING, vendor_id=None, status_url=None)
    assert here.ledger.begin_attempt(late)
    accept_late(here, late, "late-1")
    return job


ARRANGED = pytest.mark.parametrize(
    "arrange",
    [
        held_and_answered_late,
        held_and_failed_late,
        held_and_refused_late,
        ended_beside_an_open_call,
        ended_beside_a_call_that_fails,
        ended_before_a_zombie_paid,
    ],
)


async def swept(here: Floor, ledger: JobLedger | None = None) -> None:
    """Sweep once, maybe over a ledger that fails."""
    shop = replace(here.shop, ledger=ledger or here.ledger)
    await Sweep(shop).run(after=None, most=100)


def check_settled(here: Floor, job: str) -> None:
    """Make sure that the row says what its sends say."""
    row, history = here.row(job), here.ledger.history(job)
    assert not history.unanswered
    assert row.hold is None
    if row.status in ENDED:
        assert row.cost == history.cost
    assert here.ledger.unsettled(after=None, most=10) == []
    books_agree(here)


@ARRANGED
@pytest.mark.parametrize("calls", range(16))
def test_sweep_that_dies_anywhere_leaves_nothing_to_a_person(arrange: Arrange, calls: int) -> None:
    """The next sweep finds what the first one left, from whatever it was cut short at."""

    async def scenario() -> None:
        here = floor()
        job = await arrange(here)
        await here.clock.sleep(timedelta(minutes=3))

        await asyncio.gather(swept(here, mortal(here.ledger, calls)), return_exceptions=True)
        await swept(here)

        check_settled(here, job)

    run(scenario)


@ARRANGED
def test_two_deaths_in_a_row_change_nothing(arrange: Arrange) -> None:
    """Any two places where two sweeps die."""

    async def scenario(first: int, second: int) -> None:
        here = floor()
        job = await arrange(here)
        await here.clock.sleep(timedelta(minutes=3))

        for calls in (first, second):
            await asyncio.gather(swept(here, mortal(here.ledger, calls)), return_exceptions=True)
        await swept(here)

        check_settled(here, job)

    for first in range(3, 13, 2):
        for second in range(1, 13, 2):
            run(lambda first=first, second=second: scenario(first, second))


async def two_unknown(here: Floor) -> tuple[str, list[str]]:
    """Return a job held for two composites that the vendor denies."""
    (job,) = here.order(1, aspects=("32x18", "18x32"))
    here.documents.vendor.script.extend([Take(ending=Gone(), writes=False)] * 2)
    await here.work([job])
    await here.clock.sleep(timedelta(minutes=80))
    await here.work([job])
    return job, [one.attempt.step for one in resolver(here).unknown(now=here.clock.now())]


def word(here: Floor, verdict: Verdict, by: str) -> Decision:
    """Return somebody's word."""
    return Decision(verdict, by=by, at=here.clock.now(), why="the report says so")


class Beside:
    """A ledger where somebody else comes in before the first decision is written."""

    def __init__(self, ledger: JobLedger, other: Callable[[], object]) -> None:
        self._ledger, self._other = ledger, other

    def __getattr__(self, name: str) -> object:
        if name == "decide":
            other, self._other = self._other, lambda: None
            other()
        return getattr(self._ledger, name)


@pytest.mark.parametrize("calls", [None, *range(8)])
def test_two_people_who_decide_at_once_leave_no_hold(calls: int | None) -> None:
    """Each sees the other's send as unknown; whoever is last, or the sweep, lifts the hold."""

    async def scenario() -> None:
        here = floor()
        job, steps = await two_unknown(here)
        people = resolver(here)

        def bob() -> None:
            people.resolve(job, steps[1], word(here, Verdict.RESUBMIT, "bob"))

        beside = cast("JobLedger", Beside(here.ledger, bob))
        first = Resolver(
            beside if calls is None else mortal(beside, calls), people.price, people.keep
        )
        try:
            first.resolve(job, steps[0], word(here, Verdict.RESUBMIT, "ann"))
        except Dead:
            await swept(here)
        unknown = resolver(here).unknown(now=here.clock.now())

        assert (here.row(job).hold is None) is not bool(unknown)

    run(scenario)


def test_word_on_an_ended_job_changes_its_cost() -> None:
    """What is booked by a decision stands in the row at once, and is no longer open."""

    async def scenario() -> None:
        here = floor()
        job = await ended_beside_an_open_call(here)
        here.documents.vendor.jobs.clear()
        await here.clock.sleep(timedelta(minutes=3))
        await swept(here)
        assert here.row(job).unsettled
        (unknown,) = resolver(here).unknown(now=here.clock.now())

        resolver(here).resolve(job, unknown.attempt.step, word(here, Verdict.DROP, "ann"))

        row, cost = here.row(job), here.ledger.history(job).cost
        assert (row.cost, row.unsettled) == (cost, cost.open)

    run(scenario)


@pytest.mark.parametrize("ended", [False, True])
def test_an_end_that_came_too_late_is_not_told_as_ours(*, ended: bool) -> None:
    """The job was taken over just before, maybe ended by another wave: this turn is lost."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        finish, late = here.ledger.finish, [True]

        def taken_over_first(claim: Claim, ending: Ending) -> Status:
            if late:
                late.clear()
                take_over(here.ledger, wave, now=here.clock.now())
                if ended:
                    other = here.ledger.claim(job, claim.customer, "w-9", now=here.clock.now())
                    assert other is not None
                    finish(other, replace(ending, reason="ended by the other"))
            return finish(claim, ending)

        here.ledger.finish = taken_over_first
        await here.engine(wave).run()

        assert [one.turn for one in here.reports if isinstance(one, Ended)] == [Turn.LOST]
        if ended:
            assert here.row(job).reason == "ended by the other"

    run(scenario)
