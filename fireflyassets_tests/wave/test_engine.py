"""The wave engine in virtual time: what a run does with its jobs, and what it leaves behind."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from fireflyassets.core import manifest
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import JobRequest
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave.engine import UNREAD
from fireflyassets.wave.reports import Check, Checked, Ended, Turn
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, floor, recipe, turns
from fireflyassets_tests.front_door import FixedCatalogue, config


def test_jobs_reach_their_deliveries() -> None:
    """Each job ends succeeded with a tagged file for each aspect, and the books agree."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(5)

        ended = await here.work(jobs)

        assert turns(ended) == ["succeeded"] * 5
        for job_id in jobs:
            row = here.row(job_id)
            assert row.status is Status.SUCCEEDED
            assert row.cost_actual == row.cost_estimate
            assert row.run_id == "run-1"
            assert [key.split("/")[3] for key in row.outputs] == list(ASPECTS)
            tags = here.objects.tags(row.outputs[0])
            assert tags is not None
            assert tags["generated-by"] == "firefly-v3-base"
        assert len(here.images.vendor.billed) == 5
        assert len(here.documents.vendor.billed) == 15
        books_agree(here)

    run(scenario)


def test_a_done_job_is_never_paid_again() -> None:
    """Asked again, a finished job is told again: nothing is sent."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(2)
        await here.work(jobs)

        begun = here.begin(jobs)

        assert begun.waves == ()
        assert {row.job_id for row in begun.done} == set(jobs)
        assert here.images.vendor.sent == 2

    run(scenario)


def test_a_refused_prompt_goes_to_review() -> None:
    """An unsafe prompt costs nothing, is sent once, and does not touch the other jobs."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.script.append(NotAccepted(Fault(Family.FIREFLY, 451, "prompt_unsafe")))

        ended = await here.work(jobs)

        assert sorted(turns(ended)) == ["failed", "succeeded", "succeeded"]
        bad = next(one for one in ended.values() if one.turn is Turn.FAILED)
        row = here.row(bad.job_id)
        assert row.status is Status.REVIEW
        assert row.ttl is None
        assert "Change the prompt" in (row.reason or "")
        assert here.images.vendor.sent == 3
        books_agree(here)

    run(scenario)


def test_limiter_use_is_full_while_jobs_wait() -> None:
    """Firefly is called at its paced rate from the first grant to the last."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(40)
        began = here.clock.now()

        await here.work(jobs)

        took = (here.clock.now() - began).total_seconds()
        # 40 calls at 48 a minute are 39 intervals of 1.25 s; the last job then needs its stages.
        assert took < 39 * 1.25 + 12

    run(scenario)


def test_no_job_begins_while_its_reports_would_wait_for_a_slow_reader() -> None:
    """Whoever writes the events more slowly than jobs are made holds the wave back, not memory."""

    async def scenario() -> None:
        here = floor()
        (wave,) = here.begin(here.order(120)).waves
        engine = here.engine(wave)
        read = most = 0
        engine.unread = lambda: UNREAD - 20 + len(here.reports) - read
        working = asyncio.ensure_future(engine.run())
        while not working.done():
            read = min(len(here.reports), read + 1)
            most = max(most, len(here.reports) - read)
            await here.clock.sleep(timedelta(seconds=1))

        ended = [one for one in here.reports if isinstance(one, Ended)]
        assert [one.turn for one in ended] == [Turn.SUCCEEDED] * 120
        # Seven reports of each job that is in flight: 48 a minute, a remote minute, a fifth more.
        assert most <= 20 + 7 * 58

    run(scenario)


def test_compose_only_and_generate_only() -> None:
    """Both short recipes end in deliveries and pay for nothing else."""

    async def scenario() -> None:
        text_only = Recipe(
            steps=(ComposeStep(name="layout", kind="compose", inputs={"Headline": "job.headline"}),)
        )
        here = floor(
            catalogue=FixedCatalogue(
                config(aspects=ASPECTS, templates=dict.fromkeys(ASPECTS, "t.psd"), recipe=text_only)
            )
        )
        (job,) = here.order(1)
        ended = await here.work([job])
        assert ended[job].turn is Turn.SUCCEEDED
        assert here.images.vendor.sent == 0
        tags = here.objects.tags(here.row(job).outputs[0])
        assert tags is not None
        assert tags["generated-by"] == "composed-only"

    run(scenario)


def test_pending_review_warns_and_delivers() -> None:
    """Where a person must approve, the job is delivered, and its review check does not pass."""

    async def scenario() -> None:
        here = floor(
            catalogue=FixedCatalogue(
                config(
                    aspects=ASPECTS,
                    templates=dict.fromkeys(ASPECTS, "t.psd"),
                    recipe=recipe(),
                    review="required",
                )
            )
        )
        (job,) = here.order(1)

        ended = await here.work([job])

        review = next(
            one for one in here.reports if isinstance(one, Checked) and one.check is Check.REVIEW
        )
        assert ended[job].turn is Turn.SUCCEEDED
        assert not review.passed
        assert not review.blocks

    run(scenario)


def runs_with(change: Callable[[JobRequest], JobRequest]) -> bool:
    """Say whether a job runs whose stored manifest was changed."""

    async def scenario() -> bool:
        here = floor()
        (job,) = here.order(1)
        row = here.row(job)
        place = manifest.place(row.input_manifest)
        stored = here.objects.get(place.key)
        assert stored is not None
        changed = manifest.dump(change(manifest.load(stored)))
        # As long as the first, so that the row's pointer still names all of it.
        assert len(changed) == len(stored)
        here.objects.put(place.key, changed, media_type=manifest.MEDIA_TYPE)

        ended = await here.work([job])

        assert (ended[job].turn is Turn.FAILED) is (here.images.vendor.sent == 0)
        return ended[job].turn is Turn.SUCCEEDED

    return run(scenario)


def test_a_manifest_as_it_was_written_runs() -> None:
    """What the next two tests change is all that is wrong with theirs."""
    assert runs_with(lambda request: request)


def test_a_manifest_of_other_words_is_not_run() -> None:
    """The stored input must be the one that the row's hash names, under the same key too."""
    assert not runs_with(lambda request: replace(request, prompt="b bottle 0"))


def test_a_manifest_of_another_key_is_not_run() -> None:
    """The very same words under another key are another job's: the hash does not tell them."""
    assert not runs_with(lambda request: replace(request, key="bob-0"))


def test_a_job_that_outgrows_its_estimate_is_delivered_and_told() -> None:
    """All of it is paid: the check warns, and nobody has to pay for it again under a new key."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        row = here.row(job)
        here.ledger._rows[job] = replace(row, cost_estimate=row.cost_estimate / 2)

        ended = await here.work([job])

        check = next(
            one for one in here.reports if isinstance(one, Checked) and one.check is Check.COST
        )
        assert (check.passed, check.blocks) == (False, False)
        assert ended[job].turn is Turn.SUCCEEDED
        assert len(here.row(job).outputs) == len(ASPECTS)

    run(scenario)
