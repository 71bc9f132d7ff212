"""A campaign that comes to name another credential, or leaves, while jobs of it wait."""

import asyncio
from collections import Counter
from datetime import timedelta

from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.stages.dispatch import STALE_AFTER, take_over
from fireflyassets.stages.forming import Lane
from fireflyassets.stages.rebinding import Moved, lanes_of, rebind
from fireflyassets.wave.sweeping import Sweep
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe, turns
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import Take


def naming(*credentials: str) -> FixedCatalogue:
    """Return a catalogue whose campaigns name these credentials, the first one acme's spring."""
    names = ("spring-launch", "autumn")
    return FixedCatalogue(
        *(
            config(
                campaign=name,
                credential=credential,
                aspects=ASPECTS,
                templates=dict.fromkeys(ASPECTS, "t.psd"),
                recipe=recipe(),
            )
            for name, credential in zip(names, credentials, strict=False)
        )
    )


def rebound(here: Floor, catalogue: FixedCatalogue) -> Counter[Moved]:
    """Look after the lines of nobody once."""
    return rebind(
        here.ledger, catalogue, now=here.clock.now(), most=100, new_id=here.shop.new_wave_id
    )


def test_queued_jobs_follow_their_campaign() -> None:
    """They wait in the new credential's line, and nothing is paid for the move."""

    async def scenario() -> None:
        here = floor(catalogue=naming("old"))
        jobs = here.order(3)
        renamed = naming("new")

        assert rebound(here, renamed) == {Moved.REBOUND: 3}
        assert rebound(here, renamed) == {}

        due = here.ledger.due("new", "acme", "spring-launch", now=here.clock.now(), most=10)
        assert {row.job_id for row in due} == set(jobs)
        assert {(row.credential, row.crashes, row.attempts) for row in due} == {("new", 0, 0)}
        assert here.ledger.open_waves() == []
        assert turns(await here.work(jobs)) == ["succeeded"] * 3

    run(scenario)


def test_jobs_follow_their_campaign_though_another_keeps_the_credential() -> None:
    """Nobody serves their line any more, though the lane is served; a line with a campaign is."""

    async def scenario() -> None:
        here = floor(catalogue=naming("old"))
        here.order(2)

        assert rebound(here, naming("old", "old")) == {}
        assert rebound(here, naming("new", "old")) == {Moved.REBOUND: 2}
        assert lanes_of(naming("new", "old")) == {Lane("new", "acme"), Lane("old", "acme")}

    run(scenario)


def test_an_open_call_is_collected_before_its_job_moves() -> None:
    """Another client might not find what the old one was accepted for; what is bound is ours."""

    async def scenario() -> None:
        here = floor(catalogue=naming("old"))
        (job,) = here.order(1)
        here.documents.vendor.script.extend([Take(seconds=40)] * 3)
        (wave,) = here.begin([job]).waves
        dying = asyncio.ensure_future(here.engine(wave).run())
        await here.clock.sleep(timedelta(seconds=15))
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        take_over(here.ledger, wave, now=here.clock.now())

        assert rebound(here, naming("new")) == {Moved.PARKED: 1}
        row = here.row(job)
        assert (row.status, row.credential) == (Status.QUEUED, "old")
        assert "open under credential 'old'" in (row.reason or "")
        await here.clock.sleep(STALE_AFTER)
        assert (await Sweep(here.shop).run(after=None, most=10)).found == {"bound": 3}
        assert rebound(here, naming("new")) == {Moved.REBOUND: 1}

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.row(job).credential == "new"
        assert (here.images.vendor.sent, here.documents.vendor.sent) == (1, 3)

    run(scenario)


def test_jobs_of_a_campaign_that_left_say_so() -> None:
    """They wait, looked at again after a while, and the reason names what is wrong."""

    async def scenario() -> None:
        here = floor(catalogue=naming("old"))
        (job,) = here.order(1)

        assert rebound(here, FixedCatalogue()) == {Moved.PARKED: 1}
        assert rebound(here, FixedCatalogue()) == {}

        row = here.row(job)
        assert row.not_before == here.clock.now() + STALE_AFTER
        assert "'spring-launch' is not loaded" in (row.reason or "")

    run(scenario)
