"""Dispatch: what is taken back from the dead, what is launched again, and how often."""

from datetime import timedelta

import pytest

from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Release, Wave, WaveState
from fireflyassets.stages.dispatch import LOST_AFTER, STALE_AFTER, RunState, sweep, take_over
from fireflyassets.wave.beginning import asked_for
from fireflyassets_tests.floor import floor, turns
from fireflyassets_tests.front_door import CUSTOMER, NOON
from fireflyassets_tests.stages.waves import batches, crashed_rows, formed


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
    """A formed wave that nobody runs is asked for again after two minutes, not before."""

    async def scenario() -> None:
        here = floor()
        here.order(1)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None

        def unknown(_: Wave) -> RunState:
            return RunState.UNSEEN

        young = sweep(here.ledger, now=here.clock.now(), look=unknown)
        await here.clock.sleep(LOST_AFTER + timedelta(seconds=1))
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


def test_a_relaunch_keeps_none_but_the_wave_s_own_jobs() -> None:
    """Who died while giving a job back left it on the list; it is another wave's by now."""

    async def scenario() -> None:
        here = floor()
        own, foreign = here.order(2)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None
        here.ledger.release(
            Claim.standing(here.row(foreign)), Release("given back"), now=here.clock.now()
        )
        assert here.ledger.claim(foreign, wave.customer, "w-2", now=here.clock.now())
        await here.clock.sleep(STALE_AFTER + timedelta(seconds=1))

        swept = sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.UNSEEN)

        assert [one.jobs for one in swept.to_launch] == [(own,)]
        stored = here.ledger.wave("w-1")
        assert stored is not None
        assert stored.jobs == (own,)

    run(scenario)


@pytest.mark.parametrize(("deaths", "sizes"), [(0, [4]), (1, [4]), (2, [2, 2]), (3, [1, 1, 1, 1])])
def test_jobs_that_crashed_are_set_apart_in_a_person_s_run_too(
    deaths: int, sizes: list[int]
) -> None:
    """Whoever starts them: halved after the second crash, alone after the third."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(4)
        for _ in range(deaths):
            for job in jobs:
                claim = here.ledger.claim(job, CUSTOMER, "w-0", now=here.clock.now())
                assert claim is not None
                here.ledger.release(claim, Release("died", crashed=True), now=here.clock.now())

        asked = asked_for(here.ledger, CUSTOMER, jobs)

        assert [len(batch.rows) for batch in asked.batches] == sizes

    run(scenario)
