"""What a wave does while its ledger or its bucket does not answer, in virtual time."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState, WaveState
from fireflyassets.ports.paid import EndedBadly, NotAccepted, OutcomeLost
from fireflyassets.stages.dispatch import RunState, give_back_stranded, sweep
from fireflyassets.wave.reports import Ended, Skipped, Turn
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ORGANISATION, Floor, floor, turns
from fireflyassets_tests.paid_services import Behaviour, Take

FOR_EVER = 10**6


class Faltering:
    """A ledger that does not answer some calls; of those with *swallowed* only the answer fails."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.ledger = ledger
        self.failures: Counter[str] = Counter()
        self.spared: Counter[str] = Counter()
        """How many calls go through before the first fails."""
        self.swallowed = False
        self.only: str | None = None
        """The job whose calls fail; None: every job's."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        call = getattr(self.ledger, name)

        def faltering(*args: object, **kwargs: object) -> object:
            of = next((getattr(one, "job_id", None) for one in args), None)
            another = self.only is not None and of != self.only
            self.spared[name] -= 1
            if another or self.spared[name] >= 0 or self.failures[name] <= 0:
                return call(*args, **kwargs)
            self.failures[name] -= 1
            if self.swallowed:
                call(*args, **kwargs)
            raise StoreUnavailable("The ledger", "ThrottlingException")

        faltering.__name__ = name
        return faltering


def faltering_floor(**failures: int) -> tuple[Floor, Faltering]:
    """Return a floor whose waves meet so many failures of each call."""
    here = floor()
    ledger = Faltering(here.ledger)
    ledger.failures.update(failures)
    here.shop = replace(here.shop, ledger=ledger)
    return here, ledger


@pytest.mark.parametrize("swallowed", [False, True])
def test_a_vendor_id_is_stored_however_long_the_ledger_is_away(*, swallowed: bool) -> None:
    """The id is money: nine failed writes later it is there, and the job goes on from it."""

    async def scenario() -> None:
        here, ledger = faltering_floor(accept_attempt=9)
        ledger.swallowed = swallowed
        (job,) = here.order(1)

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_an_id_that_is_not_stored_yet_stands_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Should the process end before the ledger is back, the id is not gone with it."""

    async def scenario() -> str:
        here, _ = faltering_floor(accept_attempt=1)
        await here.work(here.order(1))
        return here.images.vendor.billed[0]

    billed = run(scenario)

    assert any(f"accept_attempt {billed}" in one.getMessage() for one in caplog.records)


def test_a_closing_wave_still_stores_its_vendor_ids() -> None:
    """A stop does not end the tries; the wave ends once the id is there, the job goes back."""

    async def scenario() -> None:
        here, ledger = faltering_floor(accept_attempt=FOR_EVER)
        (job,) = here.order(1)
        (wave,) = here.begin([job]).waves
        engine = here.engine(wave)
        working = asyncio.ensure_future(engine.run())
        await here.clock.sleep(timedelta(seconds=5))
        engine.stop()
        await here.clock.sleep(timedelta(minutes=10))
        assert not working.done()

        ledger.failures.clear()
        await working

        (attempt,) = here.ledger.history(job).attempts
        assert attempt.vendor_id == here.images.vendor.billed[0]
        assert here.row(job).status is not Status.RUNNING
        if here.row(job).status is Status.QUEUED:
            await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        books_agree(here)

    run(scenario)


def test_an_attempt_whose_answer_was_swallowed_is_our_own() -> None:
    """The row in the way is of this very claim: it is sent once, not left as unknown."""

    async def scenario() -> None:
        here, ledger = faltering_floor(begin_attempt=1)
        ledger.swallowed = True
        (job,) = here.order(1)

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_a_ticket_that_grew_old_is_not_used() -> None:
    """A row that took its time is closed as not sent, and the call waits for its turn anew."""

    async def scenario() -> None:
        here, _ = faltering_floor(begin_attempt=5)
        (job,) = here.order(1)

        ended = await here.work([job])

        first, second = (one for one in here.ledger.history(job).attempts if one.step == "art")
        assert ended[job].turn is Turn.SUCCEEDED
        assert (first.state, first.counts) == (AttemptState.REFUSED, False)
        assert second.state is AttemptState.ACCEPTED
        assert here.images.vendor.sent == 1

    run(scenario)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("close_attempt", NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"))),
        ("close_attempt", Take(ending=EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error")))),
        (
            "close_attempt",
            NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True),
        ),
    ],
)
def test_what_became_of_a_send_is_told_until_it_is_stored(call: str, answer: Behaviour) -> None:
    """A refusal that was not written would stand as an unknown outcome, and hold the job."""

    async def scenario() -> None:
        here, ledger = faltering_floor(**{call: 6})
        here.images.vendor.script.append(answer)
        (job,) = here.order(1)

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        assert ledger.failures[call] == 0
        states = {one.state for one in here.ledger.history(job).attempts}
        assert AttemptState.SUBMITTING not in states
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("swallowed", [False, True])
@pytest.mark.parametrize("call", ["bind", "history"])
def test_a_failing_ledger_parks_a_job_and_holds_none(call: str, *, swallowed: bool) -> None:
    """The job is due again in a minute, uncounted; what was paid for is taken up from its id."""

    async def scenario() -> None:
        here, ledger = faltering_floor(**{call: 1})
        ledger.swallowed = swallowed
        jobs = here.order(3)
        if call == "history":  # Read of jobs that were claimed before.
            here.images.vendor.seconds = 60
            (wave,) = here.begin(jobs).waves
            engine = here.engine(wave)
            working = asyncio.ensure_future(engine.run())
            await here.clock.sleep(timedelta(seconds=8))
            engine.stop()
            await working

        ended = await here.work(jobs)

        (parked,) = (job for job in jobs if ended[job].turn is Turn.PARKED)
        row = here.row(parked)
        assert row.hold is None
        assert row.not_before is not None
        assert row.attempts == row.crashes == 0
        again = await here.work([parked])
        assert turns(again) == ["succeeded"]
        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}
        books_agree(here)

    run(scenario)


class DownObjects(MemoryObjects):
    """A bucket whose next *failures* writes of pictures find nobody."""

    failures = 0

    def put(self, key: str, content: bytes, *, media_type: str, tags: object = None) -> None:
        if media_type == "image/jpeg" and self.failures:
            self.failures -= 1
            raise StoreUnavailable("S3", "SlowDown")
        super().put(key, content, media_type=media_type, tags=tags)  # pyright: ignore[reportArgumentType]


class UnreadObjects(MemoryObjects):
    """A bucket that nobody can read now."""

    away = False

    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        if self.away:
            raise StoreUnavailable("S3", "ReadTimeoutError")
        return super().get(key, part=part)


def test_a_bucket_that_is_away_when_a_wave_begins_counts_no_crash() -> None:
    """No job was tried: they go back as they came, and say why."""
    here = floor(clock=SystemClock())
    objects = UnreadObjects()
    here.use_objects(objects)
    (job,) = here.order(1)
    (wave,) = here.begin([job]).waves
    objects.away = True

    (left,) = WaveThread(here.shop, wave, wave.run_id or "").reports()

    row = here.row(job)
    assert isinstance(left, Skipped)
    assert (row.status, row.crashes, row.wave) == (Status.QUEUED, 0, None)
    assert "S3 does not answer now" in (row.reason or "")


class UnsignedObjects(MemoryObjects):
    """A bucket whose next *failures* URLs to write to nobody can sign."""

    failures = 0

    def write_url(self, key: str, *, media_type: str, life: timedelta) -> str:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("S3", "CredentialRetrievalError")
        return super().write_url(key, media_type=media_type, life=life)


def test_a_url_that_can_not_be_signed_leaves_no_send_in_doubt() -> None:
    """Nothing was sent, which is certain: the job waits, no try is spent, nobody has to decide."""

    async def scenario() -> None:
        here = floor()
        objects = UnsignedObjects()
        here.use_objects(objects)
        (job,) = here.order(1)
        objects.failures = 1

        ended = await here.work([job])
        first = here.documents.vendor.sent
        again = await here.work([job])

        assert (ended[job].turn, again[job].turn) == (Turn.PARKED, Turn.SUCCEEDED)
        assert here.documents.vendor.sent == len(here.row(job).outputs)
        assert first == here.documents.vendor.sent - 1
        (unsent,) = (one for one in here.ledger.history(job).attempts if one.fault)
        assert (unsent.state, unsent.counts) == (AttemptState.REFUSED, False)
        assert "not_sent" in (unsent.fault or "")
        books_agree(here)

    run(scenario)


def test_a_failing_bucket_parks_a_job_and_holds_none() -> None:
    """A picture that could not be kept is fetched again by its id, and paid for once."""

    async def scenario() -> None:
        here = floor()
        objects = DownObjects()
        here.use_objects(objects)
        jobs = here.order(2)
        objects.failures = 1

        ended = await here.work(jobs)

        assert sorted(turns(ended)) == ["parked", "succeeded"]
        again = await here.work([job for job in jobs if ended[job].turn is Turn.PARKED])
        assert turns(again) == ["succeeded"]
        assert len(here.images.vendor.billed) == 2
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("swallowed", [False, True])
def test_the_end_of_a_turn_is_told_again(*, swallowed: bool) -> None:
    """A failing finish stops neither the wave nor its job; a swallowed answer changes no report."""

    async def scenario() -> None:
        here, ledger = faltering_floor(finish=3)
        ledger.swallowed = swallowed
        jobs = here.order(4)

        ended = await here.work(jobs)

        assert turns(ended) == ["succeeded"] * 4
        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}

    run(scenario)


@pytest.mark.parametrize(("call", "script"), [("finish", []), ("release", [Take(silent=True)])])
def test_a_turn_that_cannot_be_ended_is_left_to_the_sweep(
    call: str, script: list[Behaviour]
) -> None:
    """The wave goes on with the others and ends; the row then goes back, and is paid for once."""

    async def scenario() -> None:
        here, ledger = faltering_floor(**{call: FOR_EVER})
        ledger.only, *others = jobs = here.order(4)
        here.images.vendor.script.extend(script)
        (wave,) = here.begin(jobs).waves

        await here.engine(wave).run()

        ended = {one.job_id: one.turn for one in here.reports if isinstance(one, Ended)}
        assert ended == {ledger.only: Turn.LOST, **dict.fromkeys(others, Turn.SUCCEEDED)}
        assert here.row(ledger.only).status is Status.RUNNING
        ledger.failures.clear()
        assert _state(here, wave.wave_id) is WaveState.ENDED
        assert give_back_stranded(here.ledger, now=here.clock.now(), most=10) == 1
        assert here.row(ledger.only).crashes == 0
        again = await here.work([ledger.only])
        assert turns(again) == (["succeeded"] if call == "finish" else ["held"])
        assert len(here.images.vendor.billed) == 4

    run(scenario)


def test_a_lost_job_that_cannot_be_let_go_stops_nobody() -> None:
    """Another worker owns its step and the ledger takes no release: the others still finish."""

    async def scenario() -> None:
        here, ledger = faltering_floor(release=FOR_EVER)
        ledger.only, *others = jobs = here.order(3)
        (wave,) = here.begin(jobs).waves
        assert here.ledger.begin_attempt(foreign_attempt(here, ledger.only))

        await here.engine(wave).run()

        ended = {one.job_id: one.turn for one in here.reports if isinstance(one, Ended)}
        assert ended == {ledger.only: Turn.LOST, **dict.fromkeys(others, Turn.SUCCEEDED)}
        assert give_back_stranded(here.ledger, now=here.clock.now(), most=10) == 1

    run(scenario)


def foreign_attempt(here: Floor, job: str) -> Attempt:
    """Return another wave's first send of a job's picture."""
    return Attempt(
        job_id=job,
        step="art",
        generation=1,
        n=1,
        family=Family.FIREFLY,
        organisation=ORGANISATION,
        wave_id="w-other",
        epoch=1,
        submitted_at=here.clock.now(),
        output_key=None,
        cause=Cause.FIRST_TRY,
    )


def test_a_wave_whose_end_cannot_be_written_ends_all_the_same() -> None:
    """The run ends as its jobs did; the sweep closes the wave once its lease is over."""

    async def scenario() -> None:
        here, _ = faltering_floor(end=FOR_EVER)
        jobs = here.order(2)
        (wave,) = here.begin(jobs).waves

        await here.engine(wave).run()

        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}
        await here.clock.sleep(here.shop.settings.lease)
        sweep(here.ledger, now=here.clock.now(), look=lambda _: RunState.UNSEEN)
        assert _state(here, wave.wave_id) is WaveState.ENDED
        assert {here.row(job).crashes for job in jobs} == {0}

    run(scenario)


@pytest.mark.parametrize("place", [0, 1])
def test_a_wave_begins_and_counts_its_share_through_an_outage(place: int) -> None:
    """Reading its rows, its place in line and its share may fail for a while."""

    async def scenario() -> None:
        here, ledger = faltering_floor(jobs=3, open_waves=4, draining=2)
        ledger.spared["open_waves"] = place
        jobs = here.order(3)

        ended = await here.work(jobs)

        assert turns(ended) == ["succeeded"] * 3
        assert ledger.failures["open_waves"] < 4
        assert ledger.failures["jobs"] == ledger.failures["draining"] == 0

    run(scenario)


def test_a_lost_answer_is_told_before_its_job_is_held() -> None:
    """A send whose answer is lost is closed as lost even while the ledger falters."""

    async def scenario() -> None:
        here, _ = faltering_floor(close_attempt=4)
        here.images.vendor.script.append(OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")))
        (job,) = here.order(1)

        ended = await here.work([job])

        assert ended[job].turn is Turn.HELD
        (attempt,) = here.ledger.history(job).attempts
        assert attempt.state is AttemptState.LOST

    run(scenario)


def _state(here: Floor, wave_id: str) -> WaveState:
    wave = here.ledger.wave(wave_id)
    assert wave is not None
    return wave.state
