"""What was taken is booked once and truly, whatever becomes of it, in virtual time."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

import pytest

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import Picture
from fireflyassets.core.money import Cause, Cost, picture_charges
from fireflyassets.core.recipe_step import Model
from fireflyassets.core.status import Status
from fireflyassets.fence.call import Arrived, Rates, StepCall
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState
from fireflyassets.ports.paid import Done, EndedBadly, Fetched, FetchFailed, NotAccepted, Output
from fireflyassets.stages.bench import Kept, bound, result_of
from fireflyassets.wave.reports import Turn
from fireflyassets.wave.sweeping import YOUNG, Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe, turns
from fireflyassets_tests.front_door import CUSTOMER, FixedCatalogue, card, config
from fireflyassets_tests.paid_services import FakeImages, Take, jpeg

PICTURE = Decimal("0.5")


class Unfit(FakeImages):
    """A Firefly whose results are of another size, or can't be downloaded, as long as it is so."""

    fetched: Fetched | FetchFailed | None = Fetched(jpeg(10, 10), "image/jpeg")

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        return self.fetched or await super().fetch(url)


def wrong_size(here: Floor) -> None:
    here.use_images(Unfit(here.clock))


def no_download(here: Floor) -> None:
    images = Unfit(here.clock)
    here.use_images(images)
    images.fetched = FetchFailed(Fault(Family.FIREFLY, 403, "expired_url"))


def no_output(here: Floor) -> None:
    here.images.vendor.script.append(Take(ending=Done(())))


def no_end(here: Floor) -> None:
    here.images.vendor.script.append(Take(seconds=4000))


def bad_end(here: Floor) -> None:
    ending = EndedBadly(Fault(Family.FIREFLY, 200, "prompt_unsafe"))
    here.images.vendor.script.append(Take(ending=ending))


class Full(MemoryObjects):
    """A store that takes no originals."""

    def put(self, key: str, content: bytes, **said: object) -> None:
        if key.startswith("originals/"):
            raise RuntimeError("The store is full.")
        super().put(key, content, **said)  # pyright: ignore[reportArgumentType] - handed on as it came.


def no_room(here: Floor) -> None:
    here.use_objects(Full())


ENDS: list[Callable[[Floor], None]] = [
    wrong_size, no_download, no_output, no_end, bad_end, no_room,
]  # fmt: skip


@pytest.mark.parametrize("spoil", ENDS)
def test_taken_and_of_no_use_is_booked_once_as_possible(spoil: Callable[[Floor], None]) -> None:
    """However a job's turn ends badly, its one call has one row, before the sweep and after it."""

    async def scenario() -> None:
        here = floor()
        spoil(here)
        (job,) = here.order(1)
        ended = await here.work([job])
        assert ended[job].turn in {Turn.FAILED, Turn.HELD}

        for _ in range(2):
            history = here.ledger.history(job)
            assert [row.cause for row in history.operations] == [Cause.ACCEPTED_BUT_FAILED]
            assert history.cost == Cost(possible=PICTURE)
            books_agree(here)
            await here.clock.sleep(YOUNG + timedelta(seconds=1))
            await Sweep(here.shop).run(after=None, most=9)

    run(scenario)


def test_composite_that_wrote_nothing_is_booked_beside_the_others() -> None:
    """Done, and no file: the two good aspects are certain, the third is possible."""

    async def scenario() -> None:
        here = floor()
        here.documents.vendor.script.append(Take(writes=False))
        (job,) = here.order(1)
        await here.work([job])

        row = here.row(job)
        assert row.status is Status.REVIEW
        assert (row.cost_actual, row.cost_possible) == (PICTURE + 2, 1)
        books_agree(here)

    run(scenario)


def test_result_that_comes_after_the_end_restates_its_row() -> None:
    """A download that works later adds no row: what was possible is certain, for the job too."""

    async def scenario() -> None:
        here = floor()
        no_download(here)
        (job,) = here.order(1)
        await here.work([job])
        assert (here.row(job).status, here.row(job).cost_possible) == (Status.DLQ, PICTURE)

        assert isinstance(here.images, Unfit)
        here.images.fetched = None
        await here.clock.sleep(YOUNG + timedelta(seconds=1))
        await Sweep(here.shop).run(after=None, most=9)

        assert [row.cause for row in here.ledger.history(job).operations] == [Cause.FIRST_TRY]
        assert (here.row(job).cost_actual, here.row(job).cost_possible) == (PICTURE, 0)
        books_agree(here)
        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 1

    run(scenario)


def test_what_a_job_may_have_cost_besides_is_told_apart() -> None:
    """A try that failed and a 5xx stand beside what was certainly billed, and end no job."""

    async def scenario() -> None:
        here = floor()
        failed = EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))
        refused = NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True)
        here.images.vendor.script.extend([Take(ending=failed), refused])
        (job,) = here.order(1)

        assert turns(await here.work([job])) == ["succeeded"]

        row = here.row(job)
        assert (row.cost_actual, row.cost_possible) == (row.cost_estimate, 2 * PICTURE)
        books_agree(here)

    run(scenario)


def test_further_outputs_have_rows_of_their_own() -> None:
    """Three pictures are ordered and two come: first try, extra variant, accepted but failed."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        claim = here.ledger.claim(job, CUSTOMER, "w-1", now=here.clock.now())
        assert claim is not None
        rates = Rates(partial(picture_charges, PICTURE, 3), "test")
        call = StepCall(here.row(job), "art", here.images, rates)
        sent = Attempt(
            job, "art", 1, 1, Family.FIREFLY, "ORG", "w-1", claim.epoch, here.clock.now(),
            output_key=None, cause=Cause.FIRST_TRY,
        )  # fmt: skip
        here.ledger.begin_attempt(sent)
        taken = replace(sent, state=AttemptState.ACCEPTED, vendor_id="firefly-1")
        here.ledger.accept_attempt(
            sent,
            vendor_id="firefly-1",
            status_url="https://x/firefly-1",
            cancel_url=None,
            operations=call.operations(taken, Cause.ACCEPTED_BUT_FAILED, here.clock.now()),
        )
        assert here.ledger.history(job).cost == Cost(possible=3 * PICTURE)

        arrived = Arrived(taken, (Output("https://a"), Output("https://b")), YOUNG, 1)
        kept = Kept(Picture("originals/x.jpg", "0" * 64, "image/jpeg", 20, 20, 9))
        rows = bound(call, arrived, here.clock.now())
        here.ledger.bind(claim, result_of(call, arrived, kept), rows)

        history = here.ledger.history(job)
        assert [(row.output, row.cause) for row in history.operations] == [
            (0, Cause.FIRST_TRY),
            (1, Cause.EXTRA_VARIANT),
            (2, Cause.ACCEPTED_BUT_FAILED),
        ]
        assert history.cost == Cost(certain=2 * PICTURE, possible=PICTURE)

    run(scenario)


def test_row_without_a_pinned_card_is_priced_by_its_day() -> None:
    """A job that an earlier version recorded goes on at the prices that were valid then."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.ledger._rows[job] = replace(here.row(job), rate_card="")

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.row(job).cost_actual == here.row(job).cost_estimate

    run(scenario)


def test_job_is_priced_by_the_card_of_its_estimate() -> None:
    """Prices that change after the brief, even under the same id, change nothing already priced."""

    async def scenario() -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        asked = config(aspects=ASPECTS, templates=templates, recipe=recipe())
        here = floor(catalogue=FixedCatalogue(asked))
        (job,) = here.order(1)
        dear = card(generate={Model.IMAGE3: Decimal(9)}, photoshop=Decimal(9))
        later = card(id="next", valid_from=date(2026, 1, 2), generate={Model.IMAGE3: Decimal(9)})
        catalogue = FixedCatalogue(asked, cards=(dear, later))
        here.shop = replace(here.shop, catalogue=catalogue)

        await here.work([job])

        row = here.row(job)
        assert row.cost_actual == row.cost_estimate == Decimal("3.5")
        books_agree(here)

    run(scenario)
