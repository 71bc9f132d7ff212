"""What a wave makes of its limiter: shares by weight, credentials, and a store that is away.

Belongs here: real engines over one limiter, in virtual time. Does not: the limiter's own promises.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter import protocol
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.memory import MemoryLimiter, MemoryStore
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import item_key
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave.engine import WaveEngine
from fireflyassets.wave.reports import Skipped, Turn
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import (
    ASPECTS,
    ORGANISATION,
    Floor,
    floor,
    recipe,
    turns,
)
from fireflyassets_tests.front_door import FixedCatalogue, config

FIREFLY = item_key(ORGANISATION, Family.FIREFLY)


class Credentials(FixedCatalogue):
    """The campaigns of two customers, and credentials that a test may change at any time."""

    def __init__(self, *given: Credential) -> None:
        super().__init__(*(campaign_of(customer) for customer in ("acme", "bolt")))
        self.given = {credential.name: credential for credential in given}

    def credential(self, name: str, *, customer: str) -> Credential:
        credential = self.given[name]
        if customer not in credential.customers:
            raise UnusableConfiguration(f"{name} may not carry {customer}.")
        return credential


def campaign_of(customer: str) -> object:
    """Return a customer's campaign, under the credential of its name."""
    return config(
        customer=customer,
        credential=f"{customer}-main",
        aspects=ASPECTS,
        templates=dict.fromkeys(ASPECTS, "t.psd"),
        recipe=recipe(),
    )


def credential(name: str, *customers: str, weights: Mapping[str, int] | None = None) -> Credential:
    """Return a credential of the one organisation."""
    return Credential(
        name, ORGANISATION, f"env:{name}", ("openid",), frozenset(customers), weights or {}
    )


# -- shares -----------------------------------------------------------------------------------
def generated(here: Floor, jobs: list[str]) -> list[datetime]:
    """Return when the generate calls of *jobs* were sent, in order."""
    attempts = [one for job in jobs for one in here.ledger.history(job).attempts]
    return sorted(one.submitted_at for one in attempts if one.family is Family.FIREFLY)


async def together(here: Floor, *waves: Wave) -> None:
    """Run waves side by side, each with an engine and pacers of its own."""
    await asyncio.gather(*(here.engine(wave).run() for wave in waves))


def test_a_tenant_of_weight_three_gets_three_times_the_share() -> None:
    """Two tenants at work at once: of each four calls three are the heavier one's, all along."""

    async def scenario() -> None:
        weights = {"acme": 3}
        here = floor(
            catalogue=Credentials(
                credential("acme-main", "acme", weights=weights),
                credential("bolt-main", "bolt"),
            )
        )
        heavy, light = here.order(60), here.order(60, customer="bolt")
        waves = [*here.begin(heavy).waves, *here.begin(light, customer="bolt").waves]

        await together(here, *waves)

        done = generated(here, heavy)[-1]
        beside = [at for at in generated(here, light) if at <= done]
        assert len(waves) == 2
        assert len(beside) == pytest.approx(20, abs=1)
        for n in range(4, 60, 4):
            until = generated(here, heavy)[n - 1]
            assert sum(at <= until for at in beside) == pytest.approx(n / 3, abs=1)

    run(scenario)


def test_without_weights_tenants_share_alike() -> None:
    """A tenant whose file says nothing weighs one."""

    async def scenario() -> None:
        here = floor(
            catalogue=Credentials(
                credential("acme-main", "acme"),
                credential("bolt-main", "bolt"),
            )
        )
        one, other = here.order(20), here.order(40, customer="bolt")
        waves = [*here.begin(one).waves, *here.begin(other, customer="bolt").waves]

        await together(here, *waves)

        done = generated(here, one)[-1]
        # Whoever comes first has the first two; from then on they take turns.
        assert sum(at <= done for at in generated(here, other)) == pytest.approx(19, abs=1)

    run(scenario)


def pacer_of(engine: WaveEngine) -> Pacer:
    """Return an engine's pacer of Firefly."""
    pacer = engine.tools.fence.tickets[Family.FIREFLY]
    assert isinstance(pacer, Pacer)
    return pacer


def test_a_tenants_waves_split_its_weight() -> None:
    """Two credentials make two waves at work, each with half the weight, until one of them ends."""

    async def scenario() -> None:
        weights = {"acme": 7}
        here = floor(
            catalogue=Credentials(
                credential("acme-main", "acme", weights=weights),
                credential("acme-other", "acme", weights=weights),
                credential("bolt-main", "bolt"),
            )
        )
        (first,) = here.begin(here.order(9)).waves
        (second,) = here.begin(here.order(40, prefix="other")).waves
        second = under(here, second, "acme-other")
        engines = [here.engine(first), here.engine(second)]
        (strange,) = here.begin(here.order(9, customer="bolt"), customer="bolt").waves
        working = [asyncio.ensure_future(engine.run()) for engine in engines]
        beside = asyncio.ensure_future(here.engine(strange).run())

        await here.clock.sleep(timedelta(seconds=16))
        while_both = [pacer_of(engine).open_waves for engine in engines]
        places = [pacer_of(engine).place for engine in engines]
        await working[0]
        await here.clock.sleep(timedelta(seconds=16))
        after = pacer_of(engines[1]).open_waves
        await asyncio.gather(working[1], beside)

        assert {pacer_of(engine).weight for engine in engines} == {7}
        assert while_both == [2, 2]
        assert places == [0, 1]
        assert after == 1

    run(scenario)


def test_a_wave_takes_no_ticket_that_none_of_its_jobs_wants() -> None:
    """Whatever the tenant weighs, of the last block nothing is left when the wave ends."""

    async def scenario() -> None:
        weights = {"acme": 6}
        here = floor(catalogue=Credentials(credential("acme-main", "acme", weights=weights)))
        (wave,) = here.begin(here.order(8)).waves

        await together(here, wave)

        photoshop = here.shop.limiter.state(item_key(ORGANISATION, Family.PHOTOSHOP))
        assert here.shop.limiter.state(FIREFLY).used_today == 8
        assert photoshop.used_today == 8 * len(ASPECTS)

    run(scenario)


def under(here: Floor, wave: Wave, name: str) -> Wave:
    """Return a started wave as if its jobs had been given to another credential of the tenant."""
    changed = replace(wave, credential=name)
    here.ledger._waves[wave.wave_id] = changed
    return changed


def test_a_warm_wave_takes_no_share() -> None:
    """A wave that waits for its lane's older one holds no tickets, so it is not counted."""

    async def scenario() -> None:
        here = floor(catalogue=Credentials(credential("acme-main", "acme")))
        (first,) = here.begin(here.order(30)).waves
        (warm,) = here.begin(here.order(3, prefix="warm")).waves
        engine = here.engine(first)
        working = [asyncio.ensure_future(one.run()) for one in (engine, here.engine(warm))]

        await here.clock.sleep(timedelta(seconds=16))

        assert pacer_of(engine).open_waves == 1
        await asyncio.gather(*working)

    run(scenario)


def test_a_second_credential_of_the_organisation_adds_no_rate() -> None:
    """Two tenants with a credential each draw on one item: together they get one contract."""

    async def scenario() -> None:
        here = floor(
            catalogue=Credentials(
                credential("acme-main", "acme"),
                credential("bolt-main", "bolt"),
            )
        )
        jobs = here.order(20), here.order(20, customer="bolt")
        waves = [*here.begin(jobs[0]).waves, *here.begin(jobs[1], customer="bolt").waves]

        await together(here, *waves)

        sent = generated(here, [*jobs[0], *jobs[1]])
        assert {wave.credential for wave in waves} == {"acme-main", "bolt-main"}
        assert sent[-1] - sent[0] >= 39 * timedelta(seconds=1.25) - timedelta(seconds=0.2)
        assert here.shop.limiter.state(FIREFLY).used_today == 40

    run(scenario)


# -- credentials ------------------------------------------------------------------------------
def test_a_credential_that_was_taken_away_carries_nothing_more() -> None:
    """A credential file that drops the customer between dispatch and run: refused, nothing sent."""

    async def scenario() -> None:
        catalogue = Credentials(credential("acme-main", "acme"))
        here = floor(catalogue=catalogue)
        jobs = here.order(3)
        (wave,) = here.begin(jobs).waves
        catalogue.given["acme-main"] = credential("acme-main", "bolt")

        with pytest.raises(UnusableConfiguration, match="may not carry"):
            await here.engine(wave).run()

        assert here.images.vendor.sent == 0
        assert [here.ledger.history(job).attempts for job in jobs] == [(), (), ()]

    run(scenario)


def test_a_runs_thread_refuses_it_too() -> None:
    """Through a run's own thread: its jobs go back with the reason, and no crash is counted."""
    catalogue = Credentials(credential("acme-main", "acme"))
    here = floor(catalogue=catalogue, clock=SystemClock())
    jobs = here.order(2)
    (wave,) = here.begin(jobs).waves
    catalogue.given["acme-main"] = credential("acme-main", "bolt")

    reports = list(WaveThread(here.shop, wave, "run-1").reports())

    assert here.images.vendor.sent == here.documents.vendor.sent == 0
    assert [here.ledger.history(job).attempts for job in jobs] == [(), ()]
    assert {one.job_id for one in reports if isinstance(one, Skipped)} == set(jobs)
    rows = [here.row(job) for job in jobs]
    assert {(row.status, row.crashes, row.wave) for row in rows} == {(Status.QUEUED, 0, None)}
    assert all("may not carry" in (row.reason or "") for row in rows)
    assert here.ledger.open_waves() == []


@pytest.mark.parametrize(
    "wrong",
    [
        credential("acme-main", "bolt"),
        credential("bolt-main", "acme", "bolt"),
        credential("bolt-main", "bolt"),
    ],
    ids=["another customer's", "of another name", "both"],
)
def test_no_engine_is_put_together_with_a_strange_credential(wrong: Credential) -> None:
    """Whoever handed it in: the last door looks again whose credential it is."""

    async def scenario() -> None:
        here = floor(catalogue=Credentials(credential("acme-main", "acme")))
        (wave,) = here.begin(here.order(1)).waves
        here.shop = replace(here.shop, catalogue=Careless(wrong))

        with pytest.raises(UnusableConfiguration, match="may not carry its jobs"):
            here.engine(wave)

    run(scenario)


class Careless(Credentials):
    """A catalogue that gives everybody the same credential."""

    def __init__(self, wrong: Credential) -> None:
        super().__init__()
        self.wrong = wrong

    def credential(self, name: str, *, customer: str) -> Credential:
        return self.wrong


# -- a store that is away -----------------------------------------------------------------------
@dataclass
class Outage(MemoryStore):
    """A store that may be away, altogether or for refusals alone; *asked* counts what it hears."""

    away: bool = False
    hears_no_refusal: bool = False
    asked: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def read(self, item: str) -> State | None:
        self._answer(item)
        return super().read(item)

    def write(self, item: str, write: protocol.Write) -> Applied | Lost:
        self._answer(item)
        if self.hears_no_refusal and isinstance(write, protocol.Rebase):
            raise LimiterUnavailable(item, "ReadTimeoutError")
        return super().write(item, write)

    def _answer(self, item: str) -> None:
        if self.away:
            self.asked += 1
            raise LimiterUnavailable(item, "ReadTimeoutError")


@dataclass
class Stage:
    """A floor whose limiter's store may be away."""

    here: Floor = field(default_factory=floor)
    store: Outage = field(default_factory=Outage)

    def __post_init__(self) -> None:
        limiter = MemoryLimiter(now=self.here.clock.now, store=self.store)
        self.here.shop = replace(self.here.shop, limiter=limiter)

    def parked_in_a_minute(self, jobs: list[str]) -> bool:
        """Say whether all jobs are queued, due within the minute, and nothing is held against."""
        rows = [self.here.row(job) for job in jobs]
        now = self.here.clock.now()
        return all(
            row.status is Status.QUEUED
            and row.hold is None
            and (row.attempts, row.crashes) == (0, 0)
            and row.not_before is not None
            and timedelta(0) < row.not_before - now <= timedelta(minutes=1)
            for row in rows
        )


def test_a_limiter_that_goes_away_parks_the_jobs() -> None:
    """In mid-run: nothing is sent unpaced, what is paid is kept, the rest is done later."""

    async def scenario() -> None:
        stage = Stage()
        here = stage.here
        jobs = here.order(20)
        working = asyncio.ensure_future(here.work(jobs))
        await here.clock.sleep(timedelta(seconds=9))
        stage.store.away, sent = True, here.images.vendor.sent
        ended = await working

        back = [job for job in jobs if ended[job].turn is Turn.PARKED]
        assert set(turns(ended)) == {"succeeded", "parked"}
        assert len(back) > 10
        assert here.images.vendor.sent <= sent + 1
        assert stage.parked_in_a_minute(back)
        assert "does not answer" in (here.row(back[0]).reason or ended[back[0]].reason or "")
        stage.store.away = False
        await here.clock.sleep(timedelta(minutes=1))
        again = await here.work(back)

        assert set(turns(again)) == {"succeeded"}
        assert len(here.images.vendor.billed) == 20
        books_agree(here)

    run(scenario)


def test_a_wave_whose_limiter_is_away_from_the_start_ends_cleanly() -> None:
    """Nothing is sent, no job is held or failed, no attempt and no crash is counted."""

    async def scenario() -> None:
        stage = Stage()
        here = stage.here
        stage.store.away = True
        jobs = here.order(30)

        ended = await here.work(jobs)

        assert set(turns(ended)) == {"parked"}
        assert stage.parked_in_a_minute(jobs)
        assert here.images.vendor.sent == 0
        assert stage.store.asked < 10, "Each job asked a store that had just not answered."
        stage.store.away = False
        await here.clock.sleep(timedelta(minutes=1))
        assert set(turns(await here.work(jobs))) == {"succeeded"}

    run(scenario)


def test_a_refusal_that_can_not_be_shared_parks_the_job() -> None:
    """A 429 while the limiter is away: nobody else hears of it, so this job at least waits."""

    async def scenario() -> None:
        stage = Stage()
        here = stage.here
        (job,) = here.order(1)
        refusal = NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(seconds=2))
        here.images.vendor.script.append(refusal)
        stage.store.hears_no_refusal = True

        ended = await here.work([job])

        assert ended[job].turn is Turn.PARKED
        assert stage.parked_in_a_minute([job])
        stage.store.hears_no_refusal = False
        await here.clock.sleep(timedelta(minutes=1))
        assert (await here.work([job]))[job].turn is Turn.SUCCEEDED
        assert len(here.images.vendor.billed) == 1
        books_agree(here)

    run(scenario)
