"""One credential's trouble, and what it does not do to the sweep of the others."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

import pytest

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.errors import SecretUnreachable, UnusableConfiguration
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.entries import Ending
from fireflyassets.ports.paid import Poll
from fireflyassets.ports.workshop import PaidServices, Workshop
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.sweeping import LONGEST, YOUNG, Slice, Sweep
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import CUSTOMER, FixedCatalogue, config
from fireflyassets_tests.paid_services import FakeImages, FakeWorkshop, Take

TICK = timedelta(seconds=30)
TROUBLES = [
    UnusableConfiguration("There is no secret acme; store it or mend the name."),
    SecretUnreachable("Secret acme can't be read now (ThrottlingException)."),
    KeyError("a bug"),
]


class Slow(FakeImages):
    """A Firefly of which each poll takes longer than half a slice."""

    async def poll(self, status_url: str) -> Poll:
        await self.vendor.clock.sleep(LONGEST * 0.6)
        return await super().poll(status_url)


@dataclass
class Workshops(Workshop):
    """One workshop for each credential, or the trouble that opening it makes."""

    by_credential: dict[str, Workshop | Exception]

    @asynccontextmanager
    async def open(self, credential: Credential) -> AsyncGenerator[PaidServices]:
        found = self.by_credential[credential.name]
        if isinstance(found, Exception):
            raise found
        async with found.open(credential) as services:
            yield services


def two_customers() -> Floor:
    """Return a floor of two customers, each under a credential of its own."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    said = config(aspects=ASPECTS, templates=templates, recipe=recipe())
    other = config(
        customer="bolt",
        credential="bolt-main",
        aspects=ASPECTS,
        templates=templates,
        recipe=recipe(),
    )
    return floor(catalogue=FixedCatalogue(said, other))


async def die_in(here: Floor, jobs: list[str], seconds: float, *, customer: str = CUSTOMER) -> None:
    """Work for so long, die, and be taken over."""
    for wave in here.begin(jobs, customer=customer).waves:
        engine = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=seconds))
        engine.cancel()
        await asyncio.gather(engine, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())


async def left_behind(here: Floor, mine: int) -> str:
    """Leave *mine* endless sends of the first customer, then a finished one; return its job."""
    here.images.vendor.script.extend([Take(seconds=10**6)] * mine)
    await die_in(here, here.order(mine), 2 * mine)
    (job,) = here.order(1, customer="bolt")
    here.images.vendor.script.append(Take(seconds=30))
    await die_in(here, [job], 10, customer="bolt")
    await here.clock.sleep(YOUNG)
    return job


def credentials(here: Floor, acme: Workshop | Exception) -> None:
    """Open the first customer's services so, and the other's well."""
    well = here.shop.adobe
    here.shop = replace(here.shop, adobe=Workshops({"acme-main": acme, "bolt-main": well}))


async def sliced(here: Floor) -> Slice:
    """Sweep one slice."""
    return await Sweep(here.shop).run(after=None, most=200)


def slow(here: Floor) -> Workshop:
    """Return the floor's services with slow polls."""
    images = Slow(here.clock, here.objects)
    images.vendor, images.sizes = here.images.vendor, here.images.sizes
    return FakeWorkshop(images, here.documents)


def test_hanging_polls_of_one_credential_take_no_other_s_time() -> None:
    """A slice collects what is done elsewhere, and says how much it did not reach."""

    async def scenario() -> None:
        here = two_customers()
        job = await left_behind(here, 20)
        credentials(here, slow(here))
        begun = here.clock.now()

        found = await sliced(here)

        assert found.found == {"bound": 1, "working": 16, "unreached": 4}
        assert ("art", 1) in here.ledger.history(job).steps
        assert here.clock.now() - begun <= LONGEST
        assert "4 unreached" in found.sentence()

    run(scenario)


def test_what_one_slice_does_not_reach_another_does() -> None:
    """A send behind many that never end is not the one that is left every time."""

    async def scenario() -> None:
        here = two_customers()
        here.images.vendor.script.extend([*[Take(seconds=10**6)] * 36, Take(seconds=20)])
        jobs = here.order(37)
        await die_in(here, jobs, 60)
        await here.clock.sleep(YOUNG)
        credentials(here, slow(here))
        here.shop = replace(here.shop, chance=Random(1).random)  # noqa: S311 - an order, no secret.

        for _ in range(12):
            await sliced(here)
            await here.clock.sleep(TICK)

        assert [bool(here.ledger.history(job).steps) for job in jobs].count(True) == 1
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: type(one).__name__)
def test_credential_that_cannot_be_opened_stops_no_other(trouble: Exception) -> None:
    """Its sends stay open, the slice says why, and the other customer's result is bound."""

    async def scenario() -> None:
        here = two_customers()
        job = await left_behind(here, 2)
        credentials(here, trouble)

        found = await sliced(here)

        assert found.found == {"bound": 1, "stuck": 2}
        assert ("art", 1) in here.ledger.history(job).steps
        (said,) = found.troubles
        assert said.startswith("Sends of acme under acme-main are stuck: ")
        assert found.sentence().endswith(said)
        expected = str(trouble) if not isinstance(trouble, KeyError) else "KeyError; see the log."
        assert said.endswith(expected)

    run(scenario)


def test_ended_job_learns_its_cost_though_its_credential_s_time_ran_out() -> None:
    """What was settled in a slice that did not end is booked on its row, since it never returns."""

    async def scenario() -> None:
        here = two_customers()
        jobs = here.order(20)
        here.images.vendor.script.extend([Take(seconds=40)] * 20)
        await die_in(here, jobs, 35)
        await here.clock.sleep(YOUNG)
        for job in jobs:
            claim = here.ledger.claim(job, CUSTOMER, "w-close", now=here.clock.now())
            assert claim is not None
            gone = Ending(Status.CANCELLED, "stopped", (), Cost(), here.clock.now(), None)
            here.ledger.finish(claim, gone)
        credentials(here, slow(here))

        found = await sliced(here)

        assert found.found == {"orphaned": 16, "unreached": 4}
        assert sum(bool(here.row(job).cost_actual) for job in jobs) == 16

    run(scenario)


def test_wave_whose_secret_can_t_be_read_is_given_back() -> None:
    """Its jobs wait, uncounted, with the reason; the run goes on to its end."""
    here = floor(clock=SystemClock())
    jobs = here.order(2)
    (wave,) = here.begin(jobs).waves
    credentials(here, SecretUnreachable("Secret acme can't be read now (ThrottlingException)."))

    reports = list(WaveThread(here.shop, wave, "run-1").reports())

    assert len(reports) == 2
    for job in jobs:
        row = here.row(job)
        assert (row.status, row.crashes, row.attempts) == (Status.QUEUED, 0, 0)
        assert row.not_before is not None
        assert "can't be read now" in (row.reason or "")
