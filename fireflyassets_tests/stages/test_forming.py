"""Forming: which jobs go into a wave, and what two dispatchers do to each other."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.job import Hold
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Release, WaveState
from fireflyassets.stages.forming import form, shrink, wave_size
from fireflyassets_tests.floor import floor
from fireflyassets_tests.stages.waves import batches, crashed_rows, formed


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


def test_job_that_came_into_another_line_meanwhile_is_given_back() -> None:
    """Its batch was read before; it waits there, uncounted, and the others are worked on."""

    async def scenario() -> None:
        here = floor()
        moved, stayed = here.order(2)
        (batch,) = batches(here)
        wave = formed(here, batch, "w-1")
        assert wave is not None
        now = here.clock.now()
        for job, line in ((moved, "new-main"), (stayed, None)):
            claim = Claim(job, "acme", "w-1", here.row(job).epoch)
            here.ledger.release(claim, Release("x", not_before=now, credential=line), now=now)
        here.ledger.end("w-1")

        again = formed(here, batch, "w-2")

        assert again is not None
        assert again.jobs == (stayed,)
        row = here.row(moved)
        assert (row.status, row.credential, row.crashes) == (Status.QUEUED, "new-main", 0)
        assert "another line" in (row.reason or "")

    run(scenario)


def test_job_that_is_held_with_its_campaign_is_never_dated_back() -> None:
    """It slipped through while the campaign was put on hold, and is held when it would begin."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (batch,) = batches(here)
        hold = Hold("on hold", here.clock.now(), "campaign")
        here.ledger.hold_campaign("acme", "spring-launch", hold)
        await here.clock.sleep(timedelta(hours=1))
        await here.clock.sleep(timedelta(seconds=5))

        assert formed(here, batch, "w-1") is None

        row = here.row(job)
        assert row.hold == hold
        assert row.updated_at == here.clock.now()

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


@given(st.integers(1, 5000), st.floats(0, 1e6))
def test_a_wave_is_never_empty_nor_too_large(most: int, jobs_per_minute: float) -> None:
    """Whatever the rate, a wave holds at least one job and at most the bound."""
    size = wave_size(most=most, horizon=timedelta(minutes=10), jobs_per_minute=jobs_per_minute)
    assert 1 <= size <= most
