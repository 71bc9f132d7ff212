"""What a wave makes of refusals, lost answers, bad ends, kills and stops, in virtual time."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import (
    EndedBadly,
    Gone,
    NotAccepted,
    OutcomeLost,
    Working,
)
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.beginning import begin
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, floor, recipe, turns
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import Behaviour, Take


def test_a_lost_generate_is_held_and_not_repeated() -> None:
    """A generate whose answer is lost may be billed: the job is held, and stays so when asked."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        here.images.vendor.script.append(Take(silent=True))

        ended = await here.work(jobs)
        held = next(one for one in ended.values() if one.turn is Turn.HELD)
        again = here.begin([held.job_id])

        row = here.row(held.job_id)
        assert row.status is Status.QUEUED
        assert row.hold is not None
        assert again.waves == ()
        assert "held" in again.skipped[0].reason
        assert here.images.vendor.sent == 2
        assert (
            here.ledger.due("acme-main", "acme", "spring-launch", now=here.clock.now(), most=10)
            == []
        )

    run(scenario)


def test_job_that_is_resumed_teaches_no_latency() -> None:
    """How long it lay there is no remote time: polls of the next jobs would come far too late."""

    async def scenario() -> None:
        here = floor()
        left, fresh = here.order(2)
        here.images.vendor.script.append(Take(seconds=30))
        (wave,) = here.begin([left]).waves
        dying = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=10))
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(timedelta(minutes=30))

        engines = [here.engine(wave) for job in (left, fresh) for wave in here.begin([job]).waves]
        for engine in engines:
            await engine.run()

        resumed, sent = (one.tools.fence.collector.latencies for one in engines)
        assert set(resumed) == {"layout"}
        assert set(sent) == {"art", "layout"}
        assert sent["art"].quantile(1.645) < timedelta(minutes=1)

    run(scenario)


def test_a_lost_composite_is_settled_by_its_key() -> None:
    """A composite whose answer is lost waits 75 minutes; the key then shows that it ran."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(Take(silent=True))

        ended = await here.work([job])
        assert ended[job].turn is Turn.PARKED
        parked = here.row(job)
        assert parked.not_before is not None
        assert parked.not_before - here.clock.now() > timedelta(minutes=70)
        await here.clock.sleep(timedelta(minutes=76))
        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.documents.vendor.sent == 3
        assert here.images.vendor.sent == 1

    run(scenario)


def test_a_composite_that_wrote_nothing_is_sent_anew() -> None:
    """After 75 minutes without a file the lost send is booked as possible cost and repeated."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(
            OutcomeLost(Fault(Family.PHOTOSHOP, 504, "lost_answer"))
        )

        await here.work([job])
        await here.clock.sleep(timedelta(minutes=76))
        ended = await here.work([job])

        causes = [row.cause for row in here.ledger.history(job).operations]
        assert causes.count(Cause.POSSIBLE_COST) == 1
        # Booked in full, and no reason to throw away what was paid for.
        assert ended[job].turn is Turn.SUCCEEDED
        row = here.row(job)
        assert (row.cost_actual, row.cost_possible) == (row.cost_estimate, 1)
        books_agree(here)

    run(scenario)


def test_throttled_calls_cost_no_try() -> None:
    """Nine 429s in one step, and the job still succeeds with one billed generate."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        refusal = NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(seconds=2))
        here.images.vendor.script.extend([refusal] * 9)

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 10
        assert len(here.images.vendor.billed) == 1

    run(scenario)


def test_a_storm_parks_the_job() -> None:
    """Ten 429s in one step give the job back, due later, without an attempt."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        refusal = NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(seconds=2))
        here.images.vendor.script.extend([refusal] * 10)

        ended = await here.work([job])

        assert ended[job].turn is Turn.PARKED
        assert here.row(job).attempts == 0
        assert here.row(job).not_before is not None

    run(scenario)


@pytest.mark.parametrize(
    ("ending", "turn", "sent"),
    [
        (EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error")), Turn.SUCCEEDED, 2),
        (EndedBadly(Fault(Family.FIREFLY, 200, "prompt_unsafe")), Turn.FAILED, 1),
        (EndedBadly(Fault(Family.FIREFLY, 200, "never_heard_of")), Turn.HELD, 1),
        (Gone(), Turn.HELD, 1),
        (Working(), Turn.FAILED, 1),
    ],
)
def test_each_bad_end_has_its_own_way(ending: object, turn: Turn, sent: int) -> None:
    """Transient ends are retried, unsafe ones fail, unknown ones hold, endless ones time out."""

    async def scenario() -> None:
        here = floor(
            catalogue=FixedCatalogue(
                config(
                    aspects=ASPECTS,
                    templates=dict.fromkeys(ASPECTS, "t.psd"),
                    recipe=recipe(),
                    cost_tolerance="1",
                )
            )
        )
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(ending=ending))  # pyright: ignore[reportArgumentType]

        ended = await here.work([job])

        assert ended[job].turn is turn
        assert here.images.vendor.sent == sent

    run(scenario)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (Take(ending=Gone()), "send 1 is denied by the vendor"),
        (OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")), "send 1 got no answer"),
    ],
)
def test_an_unknown_outcome_says_what_is_known_of_it(behaviour: Behaviour, why: str) -> None:
    """An id whose poll is answered 404 got its answer: who decides looks in another place."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(behaviour)

        await here.work([job])

        hold = here.row(job).hold
        assert hold is not None
        assert why in hold.reason

    run(scenario)


def test_a_timed_out_job_is_collected_by_its_id() -> None:
    """Run again, a job that timed out asks for the stored id first, and pays nothing more."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=3600.0))

        ended = await here.work([job])
        assert here.row(job).status is Status.DLQ
        await here.clock.sleep(timedelta(hours=1))
        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1
        assert here.row(job).replays == 1
        books_agree(here)

    run(scenario)


def test_a_killed_wave_is_taken_over_without_a_second_payment() -> None:
    """Whatever the wave had accepted when it died is collected by the next one."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(6)
        wave = here.begin(jobs).waves[0]
        dead = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=5))
        dead.cancel()
        await here.clock.sleep(timedelta(minutes=2))

        take_over(here.ledger, wave, now=here.clock.now())
        unfinished = [job for job in jobs if here.row(job).status is Status.QUEUED]
        ended = await here.work(unfinished)

        assert unfinished
        assert set(turns(ended)) == {"succeeded"}
        assert len(here.images.vendor.billed) == 6
        assert len(here.documents.vendor.billed) == 18
        assert {here.row(job).crashes for job in unfinished} == {1}
        books_agree(here)

    run(scenario)


def test_a_run_that_is_launched_twice_sends_once() -> None:
    """Its second process gets nothing while the first works: neither could see the other's send."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        working = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=1))

        again = begin(
            here.ledger,
            wave.wave_id,
            wave.run_id or "",
            settings=here.shop.settings,
            now=here.clock.now(),
        )

        await working
        assert again is None
        assert here.images.vendor.sent == 1
        assert here.row(job).status is Status.SUCCEEDED

    run(scenario)


def test_a_zombie_binds_nothing() -> None:
    """After a takeover the old worker's results do not count, and the job is not paid twice."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        wave = here.begin([job]).waves[0]
        zombie = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=0.5))
        take_over(here.ledger, wave, now=here.clock.now())
        ended = await here.work([job])
        await zombie

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.row(job).status is Status.SUCCEEDED
        assert len(here.images.vendor.billed) == 1
        books_agree(here)

    run(scenario)


def test_a_stopped_wave_gives_its_jobs_back_uncounted() -> None:
    """A planned stop: what is in flight is kept, the rest is due at once, nothing is counted."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(10)
        wave = here.begin(jobs).waves[0]
        engine = here.engine(wave)
        working = asyncio.ensure_future(engine.run())
        await here.clock.sleep(timedelta(seconds=4))
        engine.stop()
        await working

        back = [job for job in jobs if here.row(job).status is Status.QUEUED]
        assert back
        assert {(here.row(job).attempts, here.row(job).crashes) for job in back} == {(0, 0)}
        ended = await here.work(back)
        assert set(turns(ended)) == {"succeeded"}
        assert len(here.images.vendor.billed) == 10
        books_agree(here)

    run(scenario)


def test_an_outage_parks_before_the_tries_are_spent() -> None:
    """Three sends that meet the service's own 5xx park the job, and booked them as possible."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        down = NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True)
        here.images.vendor.script.extend([down] * 3)

        ended = await here.work([job])

        assert ended[job].turn is Turn.PARKED
        assert here.images.vendor.sent == 3
        causes = [row.cause for row in here.ledger.history(job).operations]
        assert causes == [Cause.POSSIBLE_COST] * 3

    run(scenario)


def test_an_absent_file_proves_nothing_after_a_day() -> None:
    """The temporary key expires: a written and billed composite is held, not sent again."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(Take(silent=True))
        await here.work([job])
        expire_temporary(here.objects)
        await here.clock.sleep(timedelta(hours=25))

        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.documents.vendor.sent == 3

    run(scenario)


def test_a_known_vendor_job_is_never_sent_again() -> None:
    """Its record is purged and its file is gone: it was taken all the same, so a person decides."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(Take(ending=Gone(), writes=False))
        await here.work([job])
        await here.clock.sleep(timedelta(minutes=76))

        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        assert here.documents.vendor.sent == 3

    run(scenario)


def test_a_heartbeat_that_fails_once_strands_nobody() -> None:
    """One refused write of the lease is no loss of it: every job still ends."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(40)
        flaky = FlakyLedger(here.ledger)
        here.shop = replace(here.shop, ledger=flaky)  # pyright: ignore[reportArgumentType]

        await here.work(jobs)

        assert flaky.failed == 1
        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}

    run(scenario)


class FlakyLedger:
    """A ledger whose first heartbeat meets a throttled table; everything else passes through."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger
        self.failed = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    def heartbeat(self, wave_id: str, run_id: str, *, lease_until: datetime) -> bool:
        if not self.failed:
            self.failed += 1
            raise ConnectionError("throttled")
        return self._ledger.heartbeat(wave_id, run_id, lease_until=lease_until)


def expire_temporary(objects: MemoryObjects) -> None:
    """Let the one-day rule take what services wrote."""
    for key in [key for key in objects._objects if key.startswith("_tmp/")]:
        del objects._objects[key]
