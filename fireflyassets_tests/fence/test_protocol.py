"""The protocol of one paid call, rule by rule: what must be true before and after each send."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.fence.call import LEASE_MARGIN
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.paid import EndedBadly, NotAccepted, Submission
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.floor import ASPECTS, SETTINGS, Floor, floor
from fireflyassets_tests.paid_services import Behaviour, FakeImages, Take

RATE_LIMITED = Fault(Family.FIREFLY, 429, "rate_limited")
UNAUTHORIZED = Fault(Family.FIREFLY, 401, "401013")
BROKEN = EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))


@pytest.mark.parametrize(("spare", "sent"), [(timedelta(seconds=-1), 0), (timedelta(seconds=2), 1)])
def test_a_send_needs_a_lease_that_outlives_it(spare: timedelta, sent: int) -> None:
    """Nothing goes out unless the lease has more left than the submit's timeout and a margin."""

    async def scenario() -> None:
        # A heartbeat would move the lease: here the next one comes too late.
        here = floor(lease=timedelta(minutes=10))
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        needed = SETTINGS.submit_timeout + LEASE_MARGIN + spare
        engine.lease.until = here.clock.now() + needed

        await engine.run()

        assert here.images.vendor.sent == sent

    run(scenario)


def test_a_row_that_another_wrote_stops_the_send() -> None:
    """Losing the create of an attempt's row means that another worker owns the step."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        row = here.row(job)
        other = Attempt(
            job_id=job,
            step="art",
            generation=1,
            n=1,
            family=Family.FIREFLY,
            organisation="ORG",
            wave_id="w-other",
            epoch=row.epoch,
            submitted_at=here.clock.now(),
            output_key=None,
            cause=Cause.FIRST_TRY,
        )
        # A first claim reads no history: the row appears between the claim and the send.
        assert here.ledger.begin_attempt(other)

        await engine.run()

        assert here.images.vendor.sent == 0
        # The row still named this wave: given back, or nobody would ever look at it again.
        assert here.row(job).status is Status.QUEUED

    run(scenario)


class Slow(FakeImages):
    """A Firefly that takes its time to accept."""

    async def generate(self, request: GenerateRequest) -> Submission:
        answer = await super().generate(request)
        await self.vendor.clock.sleep(timedelta(seconds=5))
        return answer


def test_an_answer_is_kept_though_the_worker_is_cancelled() -> None:
    """Once bytes may be out, a cancelled task still stores the vendor's id."""

    async def scenario() -> None:
        here = floor()
        here.images = Slow(here.clock)
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=3))
        assert here.images.vendor.sent == 1

        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        await here.clock.sleep(timedelta(seconds=10))

        (attempt,) = here.ledger.history(job).attempts
        assert attempt.state is AttemptState.ACCEPTED
        assert attempt.vendor_id == here.images.vendor.billed[0]

    run(scenario)


def test_a_late_id_is_stored_after_a_takeover() -> None:
    """What was paid is never forgotten, even by a worker that has lost its lease."""

    async def scenario() -> None:
        here = floor()
        here.images = Slow(here.clock)
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=3))
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(timedelta(seconds=10))
        await engine

        (attempt,) = here.ledger.history(job).attempts
        assert attempt.vendor_id == here.images.vendor.billed[0]
        ended = await here.work([job])
        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1

    run(scenario)


def sent_with(*script: object) -> tuple[Floor, str, Turn]:
    """Run one job against a script; return the floor, the job and its turn."""

    async def scenario() -> tuple[Floor, str, Turn]:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.extend(script)  # pyright: ignore[reportArgumentType]
        ended = await here.work([job])
        return here, job, ended[job].turn

    return run(scenario)


def test_one_refused_token_is_forgiven() -> None:
    """A 401 drops the token and sends once more, at no try."""
    here, job, turn = sent_with(NotAccepted(UNAUTHORIZED))
    assert turn is Turn.SUCCEEDED
    assert here.images.vendor.sent == 2
    assert [one.counts for one in here.ledger.history(job).attempts if one.step == "art"] == [
        False,
        True,
    ]


def test_a_second_refused_token_is_a_refusal() -> None:
    """Two 401s in a row are the credential's fault: the job waits for a replay."""
    here, job, turn = sent_with(NotAccepted(UNAUTHORIZED), NotAccepted(UNAUTHORIZED))
    assert turn is Turn.FAILED
    assert here.images.vendor.sent == 2
    assert here.row(job).status is Status.DLQ


@pytest.mark.parametrize(
    ("code", "turn", "status"),
    [
        ("invalid_client", Turn.FAILED, Status.DLQ),
        ("invalid_scope", Turn.FAILED, Status.DLQ),
        ("unauthorized_client", Turn.FAILED, Status.DLQ),
        ("access_denied", Turn.FAILED, Status.DLQ),
    ],
)
def test_a_token_that_is_refused_for_good_ends_the_wait(
    code: str, turn: Turn, status: Status
) -> None:
    """What waiting does not mend is told at once; nothing is spent, no row written."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.missing.append(
            NotAccepted(Fault(Family.IMS, 400, code), timedelta(seconds=30))
        )
        assert (await here.work([job]))[job].turn is turn
        assert here.row(job).status is status
        assert here.ledger.history(job).attempts == ()

    run(scenario)


def test_a_long_wait_is_waited_out_of_the_turn() -> None:
    """A 503 that names ten minutes parks the job until then; nothing is sent sooner."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        down = Fault(Family.FIREFLY, 503, "model_not_loaded")
        here.images.vendor.script.append(
            NotAccepted(down, timedelta(minutes=10), possible_cost=True)
        )
        ended = await here.work([job])
        assert ended[job].turn is Turn.PARKED
        assert here.images.vendor.sent == 1
        until = here.row(job).not_before
        assert until is not None
        assert timedelta(minutes=9) < until - here.clock.now() <= timedelta(minutes=10)
        await here.clock.sleep(timedelta(minutes=10))
        assert (await here.work([job]))[job].turn is Turn.SUCCEEDED

    run(scenario)


def test_the_tries_are_five() -> None:
    """A job that fails transiently each time is sent five times, never six."""
    here, job, turn = sent_with(*[Take(ending=BROKEN)] * 9)
    assert turn is Turn.FAILED
    assert here.images.vendor.sent == 5
    assert here.row(job).status is Status.DLQ


def pause_after(tell: Callable[[], NotAccepted]) -> float:
    """Return for how many seconds after a 429 nothing was sent."""

    async def scenario() -> float:
        here = floor()
        (job,) = here.order(1)
        sends: list[float] = []

        class Watched(FakeImages):
            async def generate(self, request: GenerateRequest) -> Submission:
                sends.append(asyncio.get_running_loop().time())
                return await super().generate(request)

        here.images = Watched(here.clock)
        here.images.vendor.script.append(tell())
        await here.work([job])
        return sends[1] - sends[0]

    return run(scenario)


def test_a_refusal_pauses_the_organisation() -> None:
    """After a 429 nothing goes out before the time that the service named."""
    assert pause_after(lambda: NotAccepted(RATE_LIMITED, timedelta(seconds=40))) >= 40


STALE = Fault(Family.PHOTOSHOP, 404, "404404")


@pytest.mark.parametrize("answer", [NotAccepted(STALE), Take(ending=EndedBadly(STALE))])
@pytest.mark.parametrize(("stale", "turn", "sends"), [(1, "succeeded", 2), (2, "failed", 2)])
def test_references_are_signed_anew_once(
    answer: Behaviour, stale: int, turn: str, sends: int
) -> None:
    """An expired reference is signed anew and sent once more; a second refusal ends the step."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1, aspects=ASPECTS[:1])
        here.documents.vendor.script.extend([answer] * stale)
        ended = await here.work([job])
        assert ended[job].turn.value == turn
        assert here.documents.vendor.sent == sends
        assert here.row(job).status is (Status.SUCCEEDED if stale == 1 else Status.DLQ)

    run(scenario)
