"""Dispatch: how waves are formed, what two dispatchers do to each other, what is taken back."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.job import Hold
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Release, Wave, WaveState
from fireflyassets.stages.dispatch import (
    STALE_AFTER,
    Batch,
    Lane,
    form,
    next_batches,
    shrink,
    sweep,
    take_over,
    wave_size,
)
from fireflyassets_tests.floor import Floor, floor

LANE = Lane("acme-main", "acme")


def batches(here: Floor, *, waves: int = 2, size: int = 100) -> list[Batch]:
    """Return what would be formed next."""
    return next_batches(
        here.ledger, [LANE], waves_per_lane=waves, size=lambda _: size, now=here.clock.now()
    )


def formed(here: Floor, batch: Batch, wave_id: str) -> Wave | None:
    """Form a wave of a batch."""

    def claiming(job_id: str) -> Claim | None:
        return here.ledger.claim(job_id, "acme", wave_id, now=here.clock.now())

    return form(here.ledger, batch, wave_id=wave_id, now=here.clock.now(), claiming=claiming)


def test_a_wave_claims_its_jobs() -> None:
    """The winners' rows name the wave, run, and are in no other's reach."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        (batch,) = batches(here)

        wave = formed(here, batch, "w-1")

        assert wave is not None
        assert set(wave.jobs) == set(jobs)
        assert {(here.row(job).wave, here.row(job).status) for job in jobs} == {
            ("w-1", Status.RUNNING)
        }
        assert batches(here) == []

    run(scenario)


def test_two_dispatchers_share_no_job() -> None:
    """Both saw the same candidates; each job is claimed once, and the loser's wave ends."""

    async def scenario() -> None:
        here = floor()
        here.order(3)
        (batch,) = batches(here)

        first, second = formed(here, batch, "w-1"), formed(here, batch, "w-2")

        assert first is not None
        assert second is None
        lost = here.ledger.wave("w-2")
        assert lost is not None
        assert lost.state is WaveState.ENDED

    run(scenario)


def test_a_held_or_late_job_is_not_due() -> None:
    """What is held, or parked until later, is no candidate; its time comes."""

    async def scenario() -> None:
        here = floor()
        held, late = here.order(2)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None
        now = here.clock.now()
        claims = {job: Claim(job, "acme", "w-1", here.row(job).epoch) for job in (held, late)}
        here.ledger.release(claims[held], Release("x", hold=Hold("x", now, "ops")), now=now)
        here.ledger.release(claims[late], Release("x", now + timedelta(minutes=5)), now=now)
        here.ledger.end("w-1")

        assert batches(here) == []
        await here.clock.sleep(timedelta(minutes=6))
        (batch,) = batches(here)
        assert [row.job_id for row in batch.rows] == [late]

    run(scenario)


def test_a_lane_has_a_wave_at_work_and_one_warm() -> None:
    """A third wave waits until one of the two has ended."""

    async def scenario() -> None:
        here = floor()
        here.order(3)
        for name in ("w-1", "w-2"):
            (batch,) = batches(here, size=1)
            assert formed(here, batch, name) is not None

        assert batches(here, size=1) == []
        here.ledger.end("w-1")
        assert len(batches(here, size=1)) == 1

    run(scenario)


def test_a_wave_pins_one_version() -> None:
    """Jobs priced under another version of the campaign go into a wave of their own."""

    async def scenario() -> None:
        here = floor()
        (old,) = here.order(1)
        row = here.row(old)
        newer = replace(
            row,
            job_id="11111111-1111-5111-8111-111111111111",
            campaign_version="other",
            idempotency_key="n",
        )
        here.ledger.record([newer])

        (batch,) = batches(here)

        assert len({one.campaign_version for one in batch.rows}) == 1
        assert len(batch.rows) == 1

    run(scenario)


def test_the_dead_give_back_and_the_living_keep() -> None:
    """A wave whose run has ended, or whose lease is over, is taken back; a live one is left."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        alive, dead = (here.begin([job]).waves[0] for job in jobs)

        swept = sweep(
            here.ledger,
            now=here.clock.now(),
            run_is_alive=lambda wave: wave.wave_id == alive.wave_id,
        )

        assert [wave.wave_id for wave in swept.taken_back] == [dead.wave_id]
        assert here.row(jobs[0]).status is Status.RUNNING
        back = here.row(jobs[1])
        assert (back.status, back.crashes, back.attempts) == (Status.QUEUED, 1, 0)
        await here.clock.sleep(timedelta(minutes=2))
        swept = sweep(here.ledger, now=here.clock.now(), run_is_alive=lambda _: True)
        assert [wave.wave_id for wave in swept.taken_back] == [alive.wave_id]

    run(scenario)


def test_what_never_came_to_run_is_launched_again() -> None:
    """A formed wave that nobody runs is asked for again after ten minutes, not before."""

    async def scenario() -> None:
        here = floor()
        here.order(1)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None

        def unknown(_: Wave) -> None:
            return None

        young = sweep(here.ledger, now=here.clock.now(), run_is_alive=unknown)
        await here.clock.sleep(STALE_AFTER + timedelta(seconds=1))
        old = sweep(here.ledger, now=here.clock.now(), run_is_alive=unknown)
        queued = sweep(here.ledger, now=here.clock.now(), run_is_alive=lambda _: True)

        assert young.to_launch == ()
        assert [one.wave_id for one in old.to_launch] == ["w-1"]
        assert queued.to_launch == ()

    run(scenario)


def test_a_wave_that_died_while_forming_lets_go() -> None:
    """The dispatcher died between claims: after ten minutes the claimed jobs are due again."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        (batch,) = batches(here)
        now = here.clock.now()
        here.ledger.form(
            Wave(
                wave_id="w-1",
                customer="acme",
                campaign=batch.campaign,
                campaign_version=batch.version,
                credential="acme-main",
                state=WaveState.FORMING,
                jobs=tuple(jobs),
                formed_at=now,
            )
        )
        assert here.ledger.claim(jobs[0], "acme", "w-1", now=now) is not None
        await here.clock.sleep(STALE_AFTER + timedelta(seconds=1))

        sweep(here.ledger, now=here.clock.now(), run_is_alive=lambda _: None)

        (batch,) = batches(here)
        assert {row.job_id for row in batch.rows} == set(jobs)
        assert here.row(jobs[0]).crashes == 0

    run(scenario)


def test_a_dispatcher_that_was_taken_for_dead_lets_go() -> None:
    """A sweep ended the wave between the claims and the list: what was claimed is due again."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        (batch,) = batches(here)
        now = here.clock.now()

        def claiming(job_id: str) -> Claim | None:
            claim = here.ledger.claim(job_id, "acme", "w-1", now=now)
            if job_id == jobs[-1]:
                here.ledger.end("w-1")
            return claim

        wave = form(here.ledger, batch, wave_id="w-1", now=now, claiming=claiming)

        assert wave is None
        assert {here.row(job).status for job in jobs} == {Status.QUEUED}
        (batch,) = batches(here)
        assert {row.job_id for row in batch.rows} == set(jobs)

    run(scenario)


def test_a_taken_over_job_has_a_new_epoch() -> None:
    """The epoch is what keeps the dead from speaking."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        before = here.row(job).epoch

        take_over(here.ledger, wave, now=here.clock.now())

        assert here.row(job).epoch == before + 1

    run(scenario)


def test_a_shrunk_wave_gives_the_rest_back() -> None:
    """Keys that could not be added are released, and the wave goes on without them."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None

        shrink(here.ledger, wave, jobs[:2], now=here.clock.now())

        stored = here.ledger.wave("w-1")
        assert stored is not None
        assert set(stored.jobs) == set(jobs[:2])
        assert here.row(jobs[2]).status is Status.QUEUED

    run(scenario)


@given(st.integers(1, 5000), st.floats(0, 1e6))
def test_a_wave_is_never_empty_nor_too_large(most: int, jobs_per_minute: float) -> None:
    """Whatever the rate, a wave holds at least one job and at most the bound."""
    size = wave_size(most=most, horizon=timedelta(minutes=10), jobs_per_minute=jobs_per_minute)
    assert 1 <= size <= most
