"""Dispatch: how waves are formed, what two dispatchers do to each other, what is taken back."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.job import Hold
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Release, Wave, WaveState
from fireflyassets.stages.dispatch import STALE_AFTER, RunState, sweep, take_over
from fireflyassets.stages.forming import Batch, Lane, form, next_batches, shrink, wave_size
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.front_door import NOON

LANE = Lane("acme-main", "acme")


def batches(here: Floor, *, waves: int = 2, size: int = 100) -> list[Batch]:
    """Return what would be formed next."""
    return next_batches(
        here.ledger, [LANE], waves_per_lane=waves, size=lambda _: size, now=here.clock.now()
    )


def formed(here: Floor, batch: Batch, wave_id: str) -> Wave | None:
    """Form a wave of a batch."""
    return form(here.ledger, batch, wave_id=wave_id, now=here.clock.now())


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
            look=lambda wave: RunState.ALIVE if wave.wave_id == alive.wave_id else RunState.DIED,
        )

        assert [wave.wave_id for wave in swept.taken_back] == [dead.wave_id]
        assert here.row(jobs[0]).status is Status.RUNNING
        back = here.row(jobs[1])
        assert (back.status, back.crashes, back.attempts) == (Status.QUEUED, 1, 0)
        await here.clock.sleep(timedelta(minutes=2))
        swept = sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.ALIVE)
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

        def unknown(_: Wave) -> RunState:
            return RunState.UNSEEN

        young = sweep(here.ledger, now=here.clock.now(), look=unknown)
        await here.clock.sleep(STALE_AFTER + timedelta(seconds=1))
        old = sweep(here.ledger, now=here.clock.now(), look=unknown)
        queued = sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.ALIVE)

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

        sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.UNSEEN)

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


# -- crashes ----------------------------------------------------------------------------------
def crashed_rows(here: Floor, *counts: int) -> list[str]:
    """Record one job for each number of crashes, due in this order."""
    (model,) = here.order(1)
    template = here.row(model)
    here.ledger.claim(model, "acme", "elsewhere", now=here.clock.now())
    rows = [
        replace(
            template,
            job_id=f"{n:08d}-1111-5111-8111-111111111111",
            idempotency_key=f"crashed-{n}",
            crashes=count,
            created_at=template.created_at + timedelta(milliseconds=n),
        )
        for n, count in enumerate(counts)
    ]
    here.ledger.record(rows)
    return [row.job_id for row in rows]


@pytest.mark.parametrize(
    ("counts", "taken"),
    [
        ((0, 1, 2, 3, 0, 1), [0, 1, 4, 5]),
        ((2, 0, 2, 2, 2, 3), [0, 2, 3]),
        ((3, 3, 0, 4), [0]),
    ],
)
def test_jobs_that_crash_are_set_apart(counts: tuple[int, ...], taken: list[int]) -> None:
    """Whoever is due first decides: whole waves without crashes, half ones, or a job alone."""

    async def scenario() -> None:
        here = floor()
        jobs = crashed_rows(here, *counts)
        await here.clock.sleep(timedelta(seconds=1))

        (batch,) = batches(here, size=6)

        assert [row.job_id for row in batch.rows] == [jobs[n] for n in taken]

    run(scenario)


def test_a_job_that_crashes_alone_is_put_away() -> None:
    """It comes back ever later; after the third crash alone a person has to run it."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        waits = []
        for number in range(1, 7):
            began = here.clock.now()
            while not (found := batches(here)):
                await here.clock.sleep(timedelta(seconds=5))
            waits.append((here.clock.now() - began).total_seconds())
            wave = formed(here, found[0], f"w-{number}")
            assert wave is not None
            take_over(here.ledger, wave, now=here.clock.now())

        row = here.row(job)
        assert waits == [0, 0, 30, 60, 120, 240]
        assert (row.status, row.wave, row.hold) == (Status.DLQ, "w-6", None)
        assert "died 6 times, the last 3 with no other job" in (row.reason or "")
        await here.clock.sleep(timedelta(hours=2))
        assert batches(here) == []
        ended = await here.work([job])
        assert turns(ended) == ["succeeded"]

    run(scenario)


def test_a_crash_in_company_puts_nobody_away() -> None:
    """Jobs that crashed often before, and now together, are all due again."""

    async def scenario() -> None:
        here = floor()
        jobs = crashed_rows(here, 7, 7)
        wave = Wave("w-1", "acme", "x", "v", "acme-main", WaveState.FORMING, tuple(jobs), NOON)
        here.ledger.form(wave)
        for job in jobs:
            assert here.ledger.claim(job, "acme", "w-1", now=here.clock.now())

        take_over(here.ledger, wave, now=here.clock.now())

        assert {here.row(job).status for job in jobs} == {Status.QUEUED}

    run(scenario)


@pytest.mark.parametrize("started", [False, True])
def test_cancelling_is_no_crash(*, started: bool) -> None:
    """A person cancels a run, queued or at work: its jobs wait ten minutes, and nothing counts."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None
        here.ledger.launched("w-1")
        now = here.clock.now()
        if started:
            here.ledger.start("w-1", "run-1", lease_until=now + timedelta(minutes=1))

        swept = sweep(here.ledger, now=now, look=lambda _: RunState.CANCELLED)

        assert swept.to_launch == ()
        rows = [here.row(job) for job in jobs]
        assert {(row.status, row.crashes, row.not_before) for row in rows} == {
            (Status.QUEUED, 0, now + STALE_AFTER)
        }
        assert all("cancelled" in (row.reason or "") for row in rows)
        assert here.ledger.open_waves() == []

    run(scenario)


def test_runs_that_do_not_begin_are_not_asked_for_without_end() -> None:
    """Three launches within two minutes; then the jobs wait ten, with the reason, uncounted."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (batch,) = batches(here)
        assert formed(here, batch, "w-1") is not None
        here.ledger.launched("w-1")
        launches = [timedelta(0)]
        began = here.clock.now()
        while here.ledger.open_waves():
            await here.clock.sleep(timedelta(seconds=5))
            now = here.clock.now()
            for wave in sweep(here.ledger, now=now, look=lambda _: RunState.DIED).to_launch:
                here.ledger.launched(wave.wave_id)
                launches.append(now - began)

        row = here.row(job)
        assert [int(one.total_seconds()) for one in launches] == [0, 5, 65]
        assert here.clock.now() - began < timedelta(minutes=3)
        assert (row.status, row.crashes) == (Status.QUEUED, 0)
        assert "none of its 3 runs began it" in (row.reason or "")
        assert batches(here) == []

    run(scenario)


@given(st.integers(1, 5000), st.floats(0, 1e6))
def test_a_wave_is_never_empty_nor_too_large(most: int, jobs_per_minute: float) -> None:
    """Whatever the rate, a wave holds at least one job and at most the bound."""
    size = wave_size(most=most, horizon=timedelta(minutes=10), jobs_per_minute=jobs_per_minute)
    assert 1 <= size <= most
