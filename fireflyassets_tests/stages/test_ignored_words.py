"""A picture that left words of its prompt out goes to a person, whoever has bound it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Ending
from fireflyassets.ports.paid import Done, Output
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.reports import Turn
from fireflyassets.wave.sweeping import YOUNG, Sweep
from fireflyassets_tests.floor import floor
from fireflyassets_tests.paid_services import Take


def less_than_asked() -> Done:
    """Return a success that left words of its prompt out."""
    return Done((Output(f"https://out/{Family.FIREFLY.value}-1", ignored_words=True),))


def test_a_picture_that_ignored_words_goes_to_a_person() -> None:
    """The prompt was cut by the vendor: the picture is paid and kept, and nothing is composed."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(ending=less_than_asked()))
        ended = await here.work([job])
        assert ended[job].turn is Turn.FAILED
        assert here.row(job).status is Status.REVIEW
        assert here.documents.vendor.sent == 0
        assert here.ledger.history(job).steps["art", 1].picture.key

    run(scenario)


def test_ignored_words_are_seen_by_whoever_takes_the_result_up() -> None:
    """A sweep has bound the picture meanwhile: its next wave still leaves the job to a person."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30, ending=less_than_asked()))
        (wave,) = here.begin([job]).waves
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=5))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())
        await here.clock.sleep(YOUNG + timedelta(seconds=60))
        await Sweep(here.shop).run(after=None, most=100)
        assert ("art", 1) in here.ledger.history(job).steps

        await here.work([job])

        assert here.row(job).status is Status.REVIEW
        assert here.row(job).outputs == ()
        assert here.documents.vendor.sent == 0

    run(scenario)


class Dying(MemoryLedger):
    """One whose worker dies just before a job's end is written."""

    dies = True

    def finish(self, claim: Claim, ending: Ending) -> Status:
        if self.dies:
            raise asyncio.CancelledError
        return super().finish(claim, ending)


def test_ignored_words_outlive_the_worker_that_met_them() -> None:
    """It died between the picture's row and the job's end: nobody is spared the look."""

    async def scenario() -> None:
        here = floor()
        here.ledger = ledger = Dying()
        here.shop = replace(here.shop, ledger=ledger)
        here.intake = replace(here.intake, ledger=ledger)
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(ending=less_than_asked()))
        (wave,) = here.begin([job]).waves
        await asyncio.gather(here.engine(wave).run(), return_exceptions=True)
        take_over(ledger, wave, now=here.clock.now())
        assert ("art", 1) in ledger.history(job).steps
        ledger.dies = False
        await here.clock.sleep(timedelta(minutes=3))

        await here.work([job])

        assert here.row(job).status is Status.REVIEW
        assert here.row(job).outputs == ()

    run(scenario)
