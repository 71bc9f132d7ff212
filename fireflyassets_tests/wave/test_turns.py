"""When a wave works, waits and stops: lease, turn, window and time, in virtual time."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import FACTORY, Hold
from fireflyassets.core.status import Status
from fireflyassets.limiter.port import item_key
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import AttemptState, Claim, Release
from fireflyassets.ports.paid import EndedBadly, NotAccepted, Poll, PollFailed, Working
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.engine import WaveEngine
from fireflyassets.wave.reports import Skipped, Turn
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ORGANISATION, Floor, floor
from fireflyassets_tests.paid_services import FakeImages, Take

BUSY = Fault(Family.FIREFLY, 429, "rate_limited")


def test_a_wave_that_lost_its_lease_sends_nothing_more() -> None:
    """The heartbeat hears that the wave is not ours any more; from then on nothing goes out."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(60)
        (wave,) = here.begin(jobs).waves
        old = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=5))
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(here.shop.settings.lease / 4)
        sent = here.images.vendor.sent

        await here.clock.sleep(timedelta(minutes=5))
        await asyncio.gather(old, return_exceptions=True)

        assert here.images.vendor.sent == sent
        assert sent < len(jobs)

    run(scenario)


def test_a_wave_gives_back_what_it_has_no_time_for() -> None:
    """At its time's end a wave begins nothing new; what it has not begun is due at once."""

    async def scenario() -> None:
        here = floor(wave_park_after=timedelta(seconds=20))
        jobs = here.order(60)
        began = here.clock.now()

        await here.work(jobs)

        assert here.clock.now() - began < timedelta(seconds=60)
        done = [job for job in jobs if here.row(job).status is Status.SUCCEEDED]
        back = [job for job in jobs if here.row(job).status is Status.QUEUED]
        assert done
        assert len(done) + len(back) == len(jobs)
        assert {here.row(job).attempts for job in back} == {0}
        due = here.ledger.due("acme-main", "acme", "spring-launch", now=here.clock.now(), most=100)
        assert {row.job_id for row in due} == set(back)
        # A call that was still open when the wave stopped is collected by the next, and booked.
        while back := [job for job in jobs if here.row(job).status is Status.QUEUED]:
            await here.work(back)
        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}
        assert len(here.images.vendor.billed) == len(jobs)
        books_agree(here)

    run(scenario)


def test_a_warm_wave_takes_no_ticket_before_its_turn() -> None:
    """Of two waves of one tenant the older one is served whole; the other then follows at once."""

    async def scenario() -> None:
        here = floor()
        first, second = here.order(12, prefix="first"), here.order(12, prefix="second")
        waves = [here.begin(first).waves[0]]
        await here.clock.sleep(timedelta(seconds=1))
        waves.append(here.begin(second).waves[0])
        began = here.clock.now()

        await asyncio.gather(*(here.engine(wave).run() for wave in reversed(waves)))

        order = [here.ledger.history(job).attempts[0].submitted_at for job in first]
        later = [here.ledger.history(job).attempts[0].submitted_at for job in second]
        assert max(order) < min(later)
        # 24 calls at 48 a minute: the change of waves cost no more than two of them.
        assert max(later) - began < timedelta(seconds=(23 + 2) * 1.25)

    run(scenario)


def test_a_wave_touches_only_its_own_jobs() -> None:
    """A job whose row names another wave, or none, is left alone."""

    async def scenario() -> None:
        here = floor()
        mine, released = here.order(2)
        (wave,) = here.begin([mine, released]).waves
        claim = Claim(released, "acme", wave.wave_id, here.row(released).epoch)
        here.ledger.release(claim, Release("given back"), now=here.clock.now())

        await here.engine(wave).run()

        assert [one.job_id for one in here.reports if isinstance(one, Skipped)] == [released]
        assert here.row(released).status is Status.QUEUED
        assert here.images.vendor.sent == 1

    run(scenario)


def test_the_window_holds_what_the_rate_needs() -> None:
    """Jobs in flight are bounded by rate and remote time, not by the wave: memory stays flat."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(150)
        (wave,) = here.begin(jobs).waves
        engine = here.engine(wave)
        working = asyncio.ensure_future(engine.run())
        await here.clock.sleep(timedelta(seconds=1))
        most = 0
        while not working.done():
            most = max(most, engine.active)
            await here.clock.sleep(timedelta(seconds=1))

        assert 2 <= most < 80
        assert len(here.images.vendor.billed) == len(jobs)

    run(scenario)


def test_an_unknown_outcome_outweighs_a_failure() -> None:
    """One aspect failed and another may have been paid: the job is parked, not closed."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        refused = EndedBadly(Fault(Family.PHOTOSHOP, None, "400401"))
        here.documents.vendor.script.extend([Take(ending=refused), Take(silent=True)])

        ended = await here.work([job])

        assert ended[job].turn is Turn.PARKED
        assert here.row(job).status is Status.QUEUED

    run(scenario)


class Asked(FakeImages):
    """A Firefly that notes when it is asked how a job stands."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.asked_at: list[datetime] = []

    async def poll(self, status_url: str) -> Poll:
        self.asked_at.append(self.vendor.clock.now())
        return await super().poll(status_url)


async def working(here: Floor, jobs: list[str]) -> tuple[WaveEngine, asyncio.Future[None]]:
    """Start a wave of the jobs and let it send the first."""
    engine = here.engine(here.begin(jobs).waves[0])
    task = asyncio.ensure_future(engine.run())
    while not here.images.vendor.sent:
        await here.clock.sleep(timedelta(milliseconds=1))
    return engine, task


def test_a_resumed_job_is_asked_for_at_once() -> None:
    """What an earlier claim sent is polled without the usual wait, however young it is."""

    async def scenario() -> None:
        here = floor()
        images = here.images = Asked(here.clock)
        images.vendor.seconds = 30
        (job,) = here.order(1)
        engine, task = await working(here, [job])
        stopped_at = here.clock.now()
        engine.stop()
        await task
        assert here.clock.now() - stopped_at < timedelta(milliseconds=100)
        assert here.row(job).status is Status.QUEUED
        images.asked_at.clear()
        began = here.clock.now()

        await here.work([job])

        first, second = images.asked_at[:2]
        assert first - began < timedelta(milliseconds=10)
        assert second - first > timedelta(seconds=1)
        assert images.vendor.sent == 1
        assert here.row(job).status is Status.SUCCEEDED
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("answer", [Working(), PollFailed(BUSY, timedelta(minutes=9))])
def test_a_stop_asks_once_more_and_waits_for_nothing(answer: Poll) -> None:
    """Whatever the service asked us to wait, a stopped wave gives its jobs back within a second.

    The id is stored: the job is due at once, and its next wave, or the sweep, asks for it.
    """

    async def scenario() -> None:
        here = floor()
        here.images.vendor.script.append(Take(seconds=0, ending=answer))
        (job,) = here.order(1)
        engine, task = await working(here, [job])
        await here.clock.sleep(timedelta(seconds=20))
        polls, began = here.images.vendor.polls, here.clock.now()

        engine.stop()
        await task

        assert here.clock.now() - began < timedelta(seconds=1)
        assert here.images.vendor.polls <= polls + 1
        row = here.row(job)
        assert (row.status, row.attempts, row.crashes) == (Status.QUEUED, 0, 0)
        assert row.not_before is not None
        assert row.not_before <= here.clock.now()
        (attempt,) = here.ledger.history(job).attempts
        assert attempt.state is AttemptState.ACCEPTED

    run(scenario)


def test_a_stop_takes_in_what_is_done() -> None:
    """The last question is worth it: a picture that is ready is kept and bound."""

    async def scenario() -> None:
        here = floor()
        here.images.vendor.seconds = 0.5
        (job,) = here.order(1)
        engine, task = await working(here, [job])
        await here.clock.sleep(timedelta(seconds=0.6))

        engine.stop()
        await task

        assert ("art", 1) in here.ledger.history(job).steps
        assert here.documents.vendor.sent == 0

    run(scenario)


def test_a_stop_ends_the_wait_between_two_sends() -> None:
    """A wave that waits out the service's own errors gives the job back at once."""

    async def scenario() -> None:
        here = floor()
        down = NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), timedelta(seconds=50))
        here.images.vendor.script.append(down)
        (job,) = here.order(1)
        engine, task = await working(here, [job])
        began = here.clock.now()

        engine.stop()
        await task

        assert here.clock.now() - began < timedelta(seconds=1)
        assert here.images.vendor.sent == 1
        assert here.row(job).status is Status.QUEUED

    run(scenario)


class Stopping(FakeImages):
    """A Firefly whose token comes just as the wave stops."""

    stop: Callable[[], None]

    async def ready(self) -> NotAccepted | None:
        self.stop()
        return None


def test_a_wave_that_stops_takes_no_ticket() -> None:
    """Not even one that is due at this very moment."""

    async def scenario() -> None:
        here = floor()
        images = here.images = Stopping(here.clock)
        (job,) = here.order(1)
        engine = here.engine(here.begin([job]).waves[0])
        images.stop = engine.stop

        await engine.run()

        assert images.vendor.sent == 0
        assert here.ledger.history(job).attempts == ()
        item = item_key(ORGANISATION, Family.FIREFLY)
        assert here.shop.limiter.state(item).used_today == 0
        assert here.row(job).status is Status.QUEUED

    run(scenario)


def test_a_held_job_has_no_wave_formed_for_it() -> None:
    """Run by hand, it is left alone for its hold, and not as if another wave had been faster."""

    async def scenario() -> None:
        here = floor()
        held, free = here.order(2)
        claim = here.ledger.claim(held, "acme", "w-other", now=here.clock.now())
        assert claim is not None
        hold = Hold("look", here.clock.now(), FACTORY)
        here.ledger.release(claim, Release("look", hold=hold), now=here.clock.now())

        begun = here.begin([held, free])

        assert [wave.jobs for wave in begun.waves] == [(free,)]
        assert begun.skipped == (Skipped(held, f"it is held: {hold.and_door}"),)

    run(scenario)
