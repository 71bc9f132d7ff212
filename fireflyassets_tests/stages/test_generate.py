"""Generate: one picture from the prompt, kept untouched, or a clear reason why not."""

import hashlib
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.recipe_step import Model
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import AttemptState
from fireflyassets.ports.paid import Done, Fetched, FetchFailed, Output
from fireflyassets.stages.bench import SEEDS, seed_for
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.free_services import FakeModels
from fireflyassets_tests.front_door import FixedCatalogue, card, config
from fireflyassets_tests.paid_services import FakeImages, Take, jpeg


def test_the_original_is_kept_with_its_hash() -> None:
    """The bytes that Firefly made lie in our bucket, and the result names model, seed and hash."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        made = here.ledger.history(job).steps["art", 1]
        assert here.objects.get(made.picture.key) == jpeg(20, 20)
        assert made.picture.sha256 == hashlib.sha256(jpeg(20, 20)).hexdigest()
        assert made.picture.key.startswith("originals/acme/spring-launch/")
        assert made.model == "image3"
        assert made.seed == 1

    run(scenario)


@pytest.mark.parametrize("said", [None, 999])
def test_the_seed_that_is_kept_is_the_vendor_s(said: int | None) -> None:
    """What the vendor says it drew from is recorded; only where it says nothing, what we asked."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        output = Output("https://out/firefly-1", seed=said)
        here.images.vendor.script.append(Take(ending=Done((output,))))
        await here.work([job])
        made = here.ledger.history(job).steps["art", 1]
        assert made.seed == (seed_for(job, "art", 1) if said is None else said)

    run(scenario)


def test_of_several_outputs_the_asked_seed_s_is_taken() -> None:
    """Their order is no promise: the picture is found by its seed."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        seed = seed_for(job, "art", 1)
        outputs = (Output("https://out/other", seed=5), Output("https://out/firefly-1", seed=seed))
        here.images.vendor.script.append(Take(ending=Done(outputs)))
        await here.work([job])
        assert here.ledger.history(job).steps["art", 1].seed == seed

    run(scenario)


def test_seeds_are_stable_and_differ() -> None:
    """Every send of a step asks for the same picture; a regenerate asks for another."""
    seeds = {seed_for(f"job-{n}", "art", generation) for n in range(50) for generation in (1, 2)}
    assert len(seeds) == 100
    assert all(0 <= seed < SEEDS for seed in seeds)
    assert seed_for("job-1", "art", 1) == seed_for("job-1", "art", 1)


def custom_floor(*said: str) -> Floor:
    """Return a floor whose recipe uses a custom model, of which the vendor tells *said*."""
    made = recipe(model="image3_custom", custom_model="urn:aaid:sc:1")
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    asked = config(aspects=ASPECTS, templates=templates, recipe=made)
    prices = card(generate={Model.IMAGE3_CUSTOM: Decimal(1)})
    here = floor(catalogue=FixedCatalogue(asked, cards=(prices,)))
    here.models = FakeModels(*said)
    return here


def test_a_model_in_training_parks_the_job() -> None:
    """However long it trains, no send is made and no try spent; then the job goes on by itself."""

    async def scenario() -> None:
        here = custom_floor(*["model_not_ready"] * 7, "")
        (job,) = here.order(1)
        for _ in range(7):
            assert (await here.work([job]))[job].turn is Turn.PARKED
            assert here.row(job).status is Status.QUEUED
            assert here.ledger.history(job).attempts == ()
            await here.clock.sleep(timedelta(minutes=10))
        assert (await here.work([job]))[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1

    run(scenario)


@pytest.mark.parametrize(
    ("concept", "is_there"),
    [("bottle", True), ("BOTTLE", True), ("bott", False), ("acme.bottle", False), (None, True)],
)
def test_a_subject_s_word_must_stand_in_the_prompt(concept: str | None, *, is_there: bool) -> None:
    """Without it the picture would not show the subject: refused unpaid, with field and fix."""

    async def scenario() -> None:
        here = custom_floor("")
        assert isinstance(here.models, FakeModels)
        here.models.concept = concept
        (job,) = here.order(1)  # Its prompt is "a bottle 0".
        await here.work([job])
        row = here.row(job)
        assert row.status is (Status.SUCCEEDED if is_there else Status.REVIEW)
        assert here.images.vendor.sent == is_there
        if not is_there:
            assert f"at job.prompt: the custom model needs its own word {concept!r}" in (
                row.reason or ""
            )

    run(scenario)


@pytest.mark.parametrize(
    ("code", "status"), [("model_unknown", Status.REVIEW), ("model_base", Status.REVIEW)]
)
def test_a_model_of_no_use_costs_nothing(code: str, status: Status) -> None:
    """A model that is gone or of another base is found out before a ticket is taken."""

    async def scenario() -> None:
        here = custom_floor(code)
        (job,) = here.order(1)
        await here.work([job])
        assert here.row(job).status is status
        assert here.ledger.history(job).attempts == ()

    run(scenario)


class Expiring(FakeImages):
    """A Firefly whose result URL has expired at the first download."""

    downloads = 0

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        self.downloads += 1
        if self.downloads == 1:
            return FetchFailed(Fault(Family.FIREFLY, 403, "expired_url"))
        return await super().fetch(url)


def test_an_expired_url_is_read_anew_not_made_anew() -> None:
    """A dead result URL is asked for again from the status call; nothing is paid twice."""

    async def scenario() -> None:
        here = floor()
        here.images = Expiring(here.clock)
        (job,) = here.order(1)
        ended = await here.work([job])
        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1

    run(scenario)


class Faltering(FakeImages):
    """A Firefly whose store of results answers 503 for *outage* downloads."""

    outage = 0

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        if self.outage:
            self.outage -= 1
            return FetchFailed(Fault(Family.STORAGE, 503, "storage_error"))
        return await super().fetch(url)


@pytest.mark.parametrize(("outage", "turns"), [(1, 1), (3, 1), (4, 2), (9, 3)])
def test_an_outage_of_the_result_store_costs_no_paid_job(outage: int, turns: int) -> None:
    """A result is asked for four times in a turn, with waits; then the job waits with its id."""

    async def scenario() -> None:
        here = floor()
        images = Faltering(here.clock)
        images.outage = outage
        here.images = images
        (job,) = here.order(1)
        began = here.clock.now()
        for _ in range(turns - 1):
            assert (await here.work([job]))[job].turn is Turn.PARKED
            assert here.ledger.history(job).attempts[0].state is AttemptState.ACCEPTED
            await here.clock.sleep(timedelta(minutes=2))
        assert (await here.work([job]))[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 1
        assert here.clock.now() - began >= timedelta(seconds=1 + outage)

    run(scenario)


@pytest.mark.parametrize(
    ("code", "status"),
    [("expired_url", Status.DLQ), ("not_a_picture", Status.DLQ)],
)
def test_a_result_that_never_comes_is_not_asked_for_ever(code: str, status: Status) -> None:
    """What no wait mends ends the job, with its send still accepted and paid for once."""

    class Dead(FakeImages):
        async def fetch(self, url: str) -> Fetched | FetchFailed:
            return FetchFailed(Fault(Family.STORAGE, 403, code))

    async def scenario() -> None:
        here = floor()
        here.images = Dead(here.clock)
        (job,) = here.order(1)
        await here.work([job])
        assert here.row(job).status is status
        assert here.ledger.history(job).attempts[0].state is AttemptState.ACCEPTED
        assert here.images.vendor.sent == 1

    run(scenario)


def test_a_success_without_outputs_is_no_success() -> None:
    """Done with an empty list: the job ends for a person to see, and nothing is delivered."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(ending=Done(())))
        ended = await here.work([job])
        assert ended[job].turn is Turn.FAILED
        assert here.row(job).status is Status.REVIEW
        assert here.images.vendor.sent == 1

    run(scenario)


class Wrong(FakeImages):
    """A Firefly that answers with other bytes."""

    content = b""

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        return Fetched(self.content, "image/jpeg")


def test_a_picture_of_another_size_or_none_is_refused() -> None:
    """Bytes decide; what does not decode may be whole next time, and is no template's fault."""

    async def scenario(content: bytes, said: str, status: Status) -> None:
        here = floor()
        here.images = Wrong(here.clock)
        here.images.content = content
        (job,) = here.order(1)
        ended = await here.work([job])
        assert ended[job].turn is Turn.FAILED
        assert said in (ended[job].reason or "")
        assert here.row(job).status is status

    run(lambda: scenario(b"", "unusable", Status.DLQ))
    run(lambda: scenario(jpeg(20, 20)[:-40], "does not decode", Status.DLQ))
    run(lambda: scenario(jpeg(10, 20), "10x20", Status.REVIEW))
