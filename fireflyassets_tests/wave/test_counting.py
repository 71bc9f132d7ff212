"""A wave counts its jobs by how they end, how long they took, and what they were to cost."""

import pytest

from fireflyassets.core import errors
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.tally import Tally
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave import counting
from fireflyassets_tests.floor import floor, recipe


def counted(tally: Tally, name: str) -> dict[tuple[str, ...], float]:
    """Return labels -> sum of one metric."""
    return {
        tuple(one.labels.values()): sum(value * times for value, times in one.values.items())
        for one in tally.totals()
        if one.metric.name == name
    }


def test_a_wave_counts_its_jobs_and_steps() -> None:
    """Ends by status, broken ones apart, steps by outcome, and each estimate once."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.script.append(NotAccepted(Fault(Family.FIREFLY, 451, "prompt_unsafe")))
        await here.work(jobs)
        tally = here.shop.tally

        assert counted(tally, "jobs_ended") == {("acme", "review"): 1, ("acme", "succeeded"): 2}
        assert counted(tally, "jobs_broken") == {("acme",): 1}
        assert counted(tally, "steps") == {
            ("art", "failed", "-"): 1,
            ("art", "done", "-"): 2,
            ("layout", "done", "-"): 6,
        }
        estimate = float(sum(here.row(job).cost_estimate for job in jobs))
        assert counted(tally, "operations_forecast") == {("acme", "spring-launch"): estimate}
        (took,) = (one for one in tally.totals() if one.metric.name == "end_to_end")
        assert sum(took.values.values()) == 3
        longest = max(here.row(job).updated_at - here.row(job).created_at for job in jobs)
        assert abs(max(took.values) - longest.total_seconds()) <= 0.05 * longest.total_seconds()

    run(scenario)


def test_a_job_that_is_given_back_has_not_ended() -> None:
    """An outage parks a job: it counts as given back, its step as delayed, its estimate once."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(1)
        refusal = NotAccepted(Fault(Family.FIREFLY, 503, "internal_error"), possible_cost=False)
        here.images.vendor.script.extend([refusal] * 3)
        await here.work(jobs)
        tally = here.shop.tally

        assert counted(tally, "jobs_given_back") == {("acme", "parked"): 1}
        assert counted(tally, "jobs_ended") == {}
        assert counted(tally, "steps") == {("art", "delayed", "-"): 1}

        await here.work(jobs)
        assert counted(tally, "jobs_ended") == {("acme", "succeeded"): 1}
        estimate = float(here.row(jobs[0]).cost_estimate)
        assert counted(tally, "operations_forecast") == {("acme", "spring-launch"): estimate}

    run(scenario)


def test_a_step_is_counted_by_its_custom_model() -> None:
    """The success of a custom model can be told from its own count."""
    tally = Tally()
    art = recipe(model="image3_custom", custom_model="urn:aaid:1").steps[0]
    with counting.step(tally, art):
        pass
    with pytest.raises(errors.RenditionMissing), counting.step(tally, art):
        raise errors.RenditionMissing(["32x18"])

    assert counted(tally, "steps") == {
        ("art", "done", "urn:aaid:1"): 1,
        ("art", "failed", "urn:aaid:1"): 1,
    }
