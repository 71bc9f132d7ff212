"""Faults that others have met: end states nobody waits for, and claims that a crash left behind."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from fireflyassets.adapters.adobe import status
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import AttemptState
from fireflyassets.ports.paid import Poll, PollFailed
from fireflyassets.stages.dispatch import RunState, sweep
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import FakeImages, Take

STEP_TIMEOUT = timedelta(minutes=5)
LEASE = timedelta(seconds=60)


class TalkingImages(FakeImages):
    """A Firefly whose status answers are said word by word, the last one for ever."""

    said: deque[dict[str, object]]

    async def poll(self, status_url: str) -> Poll:
        """Read the next answer as the real client reads it."""
        payload = self.said.popleft() if len(self.said) > 1 else self.said[0]
        return status.read(payload, family=Family.FIREFLY)


def talking(payloads: Sequence[dict[str, object]]) -> Floor:
    """Return a floor whose Firefly answers polls with *payloads*."""
    here = floor()
    images = TalkingImages(here.clock)
    images.said = deque(payloads)
    here.images = images
    return here


@pytest.mark.parametrize(
    ("word", "turn"),
    [("canceled", Turn.HELD), ("cancelled", Turn.HELD), ("timeout", Turn.FAILED)],
)
def test_every_spelling_of_an_end_ends_the_poll(word: str, turn: Turn) -> None:
    """A cancelled or timed-out send has failed with its reason, never succeeded.

    Somebody cancelled it and has a reason, so a person decides before it is paid for again.
    """

    async def scenario() -> None:
        here = talking([{"jobId": "j", "status": word}])
        (job,) = here.order(1)

        begun = here.clock.now()
        ended = await here.work([job])

        assert ended[job].turn is turn
        assert here.clock.now() - begun < timedelta(minutes=10)
        states = {one.state for one in here.ledger.history(job).attempts}
        assert states == {AttemptState.FAILED}
        assert here.row(job).reason

    run(scenario)


def test_pending_cancel_is_polled_on() -> None:
    """A cancel that is under way is no end; the end that follows is."""

    async def scenario() -> None:
        pending: dict[str, object] = {"jobId": "j", "status": "cancel_pending"}
        here = talking([pending, pending, {"jobId": "j", "status": "cancelled"}])
        (job,) = here.order(1)

        assert turns(await here.work([job])) == ["held"]

    run(scenario)


@pytest.mark.parametrize("payload", [{"jobId": "j", "status": "weird_new_state"}, {"jobId": "j"}])
def test_unknown_or_absent_state_stops_at_the_deadline_with_its_id(
    payload: dict[str, object],
) -> None:
    """Nobody knows what it means, so it is neither done nor repeated; the id is kept."""

    async def scenario() -> None:
        here = talking([payload])
        (job,) = here.order(1)

        begun = here.clock.now()
        ended = await here.work([job])

        took = here.clock.now() - begun
        assert ended[job].turn is Turn.FAILED
        assert STEP_TIMEOUT <= took < STEP_TIMEOUT + timedelta(minutes=1)
        assert here.images.vendor.sent == 1
        (attempt,) = here.ledger.history(job).attempts
        assert attempt.state is AttemptState.ACCEPTED
        assert attempt.vendor_id

    run(scenario)


def test_a_long_refusal_of_a_question_is_not_the_end() -> None:
    """A finished job whose poll is told to wait beyond the deadline is asked once more, then."""
    times: list[datetime] = []

    class Busy(FakeImages):
        async def poll(self, status_url: str) -> Poll:
            times.append(self.vendor.clock.now())
            if len(times) == 1:
                refused = Fault(Family.FIREFLY, 429, "rate_limited")
                return PollFailed(refused, timedelta(minutes=10))
            return await super().poll(status_url)

    async def scenario() -> None:
        here = floor()
        here.images = Busy(here.clock)
        (job,) = here.order(1)

        assert turns(await here.work([job])) == ["succeeded"]
        assert times[1] - times[0] >= timedelta(minutes=10)
        assert here.images.vendor.sent == 1

    run(scenario)


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        (Fault(Family.FIREFLY, 503, "model_not_loaded"), "failed"),
        (Fault(Family.FIREFLY, 422, "validation_error"), "failed"),
        (Fault(Family.FIREFLY, 429, "rate_limited"), "parked"),
        (Fault(Family.FIREFLY, None, "untrusted_url"), "held"),
    ],
)
def test_questions_that_fail_past_the_deadline_end_too(fault: Fault, ended: str) -> None:
    """A status call that never answers is left three questions past the deadline, id kept."""

    class Mute(FakeImages):
        async def poll(self, status_url: str) -> Poll:
            return PollFailed(fault)

    async def scenario() -> None:
        here = floor()
        here.images = Mute(here.clock)
        (job,) = here.order(1)

        begun = here.clock.now()
        assert turns(await here.work([job])) == [ended]

        assert STEP_TIMEOUT <= here.clock.now() - begun < STEP_TIMEOUT + timedelta(minutes=1)
        (attempt,) = here.ledger.history(job).attempts
        assert attempt.state is AttemptState.ACCEPTED

    run(scenario)


def test_a_slow_composite_is_waited_for() -> None:
    """Photoshop works on a document for up to fifteen minutes, and nothing is lost by it."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.extend([Take(seconds=900)] * 3)

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.documents.vendor.sent == 3

    run(scenario)


async def claimed_and_dead(here: Floor, *, lives: timedelta) -> str:
    """Let a wave take a job, live so long, and die without a word."""
    (job,) = here.order(1)
    (wave,) = here.begin([job]).waves
    engine = asyncio.ensure_future(here.engine(wave).run())
    await here.clock.sleep(lives)
    engine.cancel()
    await asyncio.gather(engine, return_exceptions=True)
    return job


@pytest.mark.parametrize(
    ("later", "taken"),
    [
        (timedelta(0), False),
        (LEASE - timedelta(seconds=1), False),
        (LEASE + timedelta(seconds=1), True),
    ],
)
def test_claim_of_a_dead_worker_is_taken_over_after_its_lease(
    later: timedelta, *, taken: bool
) -> None:
    """Refused at once and a second before the lease ends, taken over a second after it."""

    async def scenario() -> None:
        here = floor()
        job = await claimed_and_dead(here, lives=timedelta(0))

        now = here.clock.now() + later
        swept = sweep(here.ledger, now=now, look=lambda _: RunState.UNSEEN)

        assert bool(swept.taken_back) is taken
        assert here.row(job).status is (Status.QUEUED if taken else Status.RUNNING)
        assert here.row(job).crashes == int(taken)

    run(scenario)


def test_takeover_is_won_once() -> None:
    """Of two sweeps, one with a clock 90 s ahead, the job is given back once."""

    async def scenario() -> None:
        here = floor()
        job = await claimed_and_dead(here, lives=timedelta(0))
        ahead = here.clock.now() + timedelta(seconds=90)

        for now in (ahead, here.clock.now() + LEASE + timedelta(seconds=1)):
            sweep(here.ledger, now=now, look=lambda _: RunState.UNSEEN)

        row = here.row(job)
        assert (row.status, row.crashes, row.epoch) == (Status.QUEUED, 1, 2)

    run(scenario)


def test_clock_ahead_takes_nothing_a_living_worker_binds() -> None:
    """Taken over too early, the worker is a zombie: it binds nothing, and nothing is paid twice."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30))
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=10))
        sweep(
            here.ledger,
            now=here.clock.now() + timedelta(seconds=90),
            look=lambda _: RunState.UNSEEN,
        )

        ended = await here.work([job])
        await engine

        assert turns(ended) == ["succeeded"]
        assert len(here.images.vendor.billed) == 1
        assert len(here.documents.vendor.billed) == 3

    run(scenario)


def test_no_lease_left_sends_nothing() -> None:
    """Zero time left is no time, not no limit."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        engine.lease.until = here.clock.now()

        await engine.run()

        assert here.images.vendor.sent == 0
        assert here.ledger.history(job).attempts == ()

    run(scenario)


def test_takeover_goes_on_from_the_stored_id() -> None:
    """The next worker asks for the remote job that the dead one had begun."""

    async def scenario() -> None:
        here = floor()
        here.images.vendor.script.append(Take(seconds=20))
        job = await claimed_and_dead(here, lives=timedelta(seconds=10))
        await here.clock.sleep(LEASE + timedelta(seconds=20))
        sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.UNSEEN)

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 1

    run(scenario)
