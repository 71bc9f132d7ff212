"""When a wave works, waits and stops: lease, turn, window and time, in virtual time."""

import asyncio
from datetime import timedelta

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Release
from fireflyassets.ports.paid import EndedBadly
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.reports import Skipped, Turn
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Take, floor


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
        due = here.ledger.due("acme-main", "acme", now=here.clock.now(), most=100)
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


def test_a_resumed_job_is_asked_for_at_once() -> None:
    """What was accepted before is polled without the usual wait: it is likely done."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        dead = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=0.5))
        dead.cancel()
        await here.clock.sleep(timedelta(minutes=2))
        take_over(here.ledger, wave, now=here.clock.now())
        polls, began = here.images.vendor.polls, here.clock.now()

        await here.work([job])

        assert here.images.vendor.polls == polls + 1
        first_send = here.documents.vendor.jobs["photoshop-1"][0]
        assert first_send - began < timedelta(seconds=2.5)

    run(scenario)
