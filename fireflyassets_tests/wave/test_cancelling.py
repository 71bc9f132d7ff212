"""A cancel reaches what is in flight: nothing more is sent, and what is billed all the same shows.

Here: waves at work, the sweep behind them, deaths in between. Not here: the API in front of it.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.core.money import Cause, Cost
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.paid import Gone
from fireflyassets.stages.dispatch import take_over
from fireflyassets.stages.steering import Cancelled, Cancelling, Steering
from fireflyassets.wave.reports import Ended, Turn
from fireflyassets.wave.sweeping import YOUNG, Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.paid_services import Take

SLOW = Take(seconds=100)
DEAF = Take(seconds=100, deaf=True)
MADE = Cost(Decimal("0.5"))


def steering(here: Floor) -> Steering:
    """Return what the API asks."""
    return Steering(here.ledger, here.clock, lambda _row: timedelta(days=90))


def cancel(here: Floor, job: str) -> Cancelled | Cancelling:
    """Cancel a job as its customer does."""
    told = steering(here).cancel(here.row(job), by="acme")
    assert not hasattr(told, "fix"), told
    return told  # pyright: ignore[reportReturnType] - what is kept has a fix.


async def swept(here: Floor) -> None:
    """Let what is open grow old enough, and sweep."""
    await here.clock.sleep(YOUNG + timedelta(seconds=1))
    await Sweep(here.shop).run(after=None, most=100)


def at_work(here: Floor, jobs: list[str]) -> tuple[Wave, "asyncio.Future[None]"]:
    """Begin a wave."""
    (wave,) = here.begin(jobs).waves
    return wave, asyncio.ensure_future(here.engine(wave).run())


def ends(here: Floor) -> dict[str, tuple[Turn, Status]]:
    """Return how each turn ended."""
    found = (one for one in here.reports if isinstance(one, Ended))
    return {one.job_id: (one.turn, one.status) for one in found}


def test_a_cancel_of_before_the_run_lets_nothing_be_sent() -> None:
    """The job is claimed while its run starts: the wish that is there by then is heard at once."""

    async def scenario() -> None:
        here = floor()
        job, other = here.order(2)
        (wave,) = here.begin([job, other]).waves
        assert isinstance(cancel(here, job), Cancelling)
        await here.engine(wave).run()

        assert ends(here)[job] == (Turn.FAILED, Status.CANCELLED)
        assert ends(here)[other] == (Turn.SUCCEEDED, Status.SUCCEEDED)
        assert here.ledger.history(job).attempts == ()
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize(
    ("take", "cost", "causes"),
    [
        (SLOW, Cost(possible=Decimal("0.5")), [Cause.ACCEPTED_BUT_FAILED]),
        (DEAF, MADE, [Cause.CANCELLED_LATE]),
    ],
    ids=["it is cancelled", "it is made all the same"],
)
def test_a_wave_calls_back_what_is_in_flight(take: Take, cost: Cost, causes: list[Cause]) -> None:
    """Adobe is asked to cancel at the next heartbeat; its end is heard, and nothing more sent."""

    async def scenario() -> None:
        here = floor()
        job, other = here.order(2)
        here.images.vendor.script.extend([take, Take()])
        _, wave = at_work(here, [job, other])
        await here.clock.sleep(timedelta(seconds=10))
        asked = cancel(here, job)
        assert isinstance(asked, Cancelling)
        await here.clock.sleep(timedelta(seconds=16))
        assert here.images.vendor.called_back == ["firefly-1"]
        await wave

        row, history = here.row(job), here.ledger.history(job)
        assert ends(here)[job] == (Turn.FAILED, Status.CANCELLED)
        assert ends(here)[other] == (Turn.SUCCEEDED, Status.SUCCEEDED)
        assert (row.status, row.reason) == (Status.CANCELLED, "Cancelled by acme.")
        assert row.cost == cost
        await swept(here)
        assert here.row(job).cost == cost
        assert not here.row(job).unsettled
        assert [one.cause for one in history.operations] == causes
        assert (here.images.vendor.sent, here.documents.vendor.sent) == (2, 3)
        books_agree(here)

    run(scenario)


def test_a_job_that_waits_for_its_turn_in_a_wave_is_never_sent() -> None:
    """Neither where it waits for a ticket, nor where its turn has not come."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(40, aspects=("32x18",))
        _, wave = at_work(here, jobs)
        await here.clock.sleep(timedelta(seconds=2))
        for job in jobs[5:]:
            cancel(here, job)
        await wave

        cancelled = [job for job in jobs if here.row(job).status is Status.CANCELLED]
        made = [job for job in jobs if here.row(job).status is Status.SUCCEEDED]
        assert set(jobs[:5]) <= set(made)
        assert len(cancelled) + len(made) == 40
        assert here.images.vendor.sent <= 5 + 16
        await swept(here)
        books_agree(here)

    run(scenario)


def test_a_composite_in_flight_has_no_cancel_and_is_heard_to_its_end() -> None:
    """Photoshop knows no cancel: what it makes is billed as cancelled late, not delivered."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.extend([Take(seconds=60)] * 3)
        _, wave = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=20))
        cancel(here, job)
        await wave

        row = here.row(job)
        assert (row.status, row.outputs) == (Status.CANCELLED, ())
        causes = [one.cause for one in here.ledger.history(job).operations]
        assert sorted(causes) == [*[Cause.CANCELLED_LATE] * 3, Cause.FIRST_TRY]
        await swept(here)
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("take", [SLOW, DEAF], ids=["cancelled", "made all the same"])
def test_what_nobody_has_in_hand_is_called_back_by_the_sweep(take: Take) -> None:
    """A job at rest with a stored id is cancelled at once; what it comes to is told later."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(replace(take, seconds=400))
        wave, engine = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=10))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(YOUNG)

        told = cancel(here, job)
        assert isinstance(told, Cancelled)
        assert told.row.cost == Cost(possible=Decimal("0.5"))
        await swept(here)
        assert here.images.vendor.called_back == ["firefly-1"]
        await here.clock.sleep(timedelta(seconds=400))
        await swept(here)

        assert here.row(job).status is Status.CANCELLED
        assert here.row(job).cost == (MADE if take.deaf else Cost(possible=Decimal("0.5")))
        assert not here.row(job).unsettled
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("after", [1, 10, 14, 16, 20])
def test_a_wave_that_dies_with_the_wish_unheard_leaves_no_job_to_run_again(after: float) -> None:
    """Whoever takes the job over cancels it instead of giving it back."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(SLOW)
        wave, engine = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=5))
        cancel(here, job)
        await here.clock.sleep(timedelta(seconds=after))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())

        assert here.row(job).status is Status.CANCELLED
        await swept(here)
        await swept(here)
        assert not here.row(job).unsettled
        assert here.images.vendor.called_back
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_an_unknown_outcome_of_a_cancelled_job_stays_with_the_operators() -> None:
    """The job is closed as asked; its call is still unknown, and on their list."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=100, ending=Gone()))
        _, wave = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=5))
        cancel(here, job)
        await wave

        await swept(here)
        assert (here.row(job).status, here.row(job).unsettled) == (Status.CANCELLED, True)
        (send,) = here.ledger.history(job).unanswered
        assert send.is_unknown
        books_agree(here)

    run(scenario)


def test_a_campaign_is_cancelled_as_a_whole() -> None:
    """What waits at once, what runs by its wave; nobody has to ask again."""

    async def scenario() -> None:
        here = floor()
        running, waiting = here.order(2)
        here.images.vendor.script.append(SLOW)
        _, wave = at_work(here, [running])
        await here.clock.sleep(timedelta(seconds=5))

        row = here.row(waiting)
        whole = replace(steering(here), clock=FakeClock(here.clock.now()))
        whole.cancel_all(row.customer_id, row.campaign_id, by="acme")
        assert here.row(waiting).status is Status.CANCELLED
        await wave

        assert here.row(running).status is Status.CANCELLED
        assert here.documents.vendor.sent == 0

    run(scenario)
