"""The sensor that looks after what the dead left behind, as Dagster ticks it."""

from datetime import timedelta

import dagster as dg

from fireflyassets.core.failure import Family
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.defs.sensors import open_calls_sensor
from fireflyassets.ports.entries import Attempt, Claim, Release, Wave, WaveState
from fireflyassets_tests.defs.location import CAMPAIGN, CUSTOMER, Location, location
from fireflyassets_tests.paid_services import Take


def tick(there: Location) -> str:
    """Let the sensor tick once and return what it says."""
    ports = {name: getattr(there.here.shop, name) for name in WAVE_PORTS}
    with dg.build_sensor_context(instance=there.instance, resources=ports) as context:
        told = open_calls_sensor.evaluate_tick(context)
    assert told.skip_message is not None
    return told.skip_message


def test_a_dead_run_s_paid_call_is_collected_by_a_tick() -> None:
    """An id that a dead run stored becomes its job's result, with no run in between."""
    with location() as there:
        here = there.here
        (job,) = here.order(1)
        now = here.clock.now()
        claim = here.ledger.claim(job, CUSTOMER, "w-dead", now=now)
        assert isinstance(claim, Claim)
        sent = Attempt(
            job_id=job,
            step="art",
            generation=1,
            n=1,
            family=Family.FIREFLY,
            organisation="ORG",
            wave_id="w-dead",
            epoch=claim.epoch,
            submitted_at=now - timedelta(minutes=10),
            output_key=None,
            cause=Cause.FIRST_TRY,
        )
        here.ledger.begin_attempt(sent)
        here.images.vendor.jobs["firefly-1"] = (now, Take())
        here.images.sizes["firefly-1"] = (20, 20)
        here.ledger.accept_attempt(
            sent,
            vendor_id="firefly-1",
            status_url="https://x/firefly-1",
            cancel_url=None,
            operations=[],
        )
        here.ledger.release(claim, Release("its run died", crashed=True), now=now)

        assert tick(there).startswith("1 bound")

        history = here.ledger.history(job)
        assert [row.vendor_id for row in history.operations] == ["firefly-1"]
        assert ("art", 1) in history.steps
        assert tick(there).startswith("no open sends")


def test_jobs_of_an_ended_wave_are_given_back_by_a_tick() -> None:
    """A dispatcher that died between claim and list leaves no job running for ever."""
    with location() as there:
        here = there.here
        (job,) = here.order(1)
        now = here.clock.now()
        wave = Wave(
            "w-1", CUSTOMER, CAMPAIGN, here.row(job).campaign_version, "acme-main",
            WaveState.FORMING, (job,), now,
        )  # fmt: skip
        here.ledger.form(wave)
        here.ledger.end("w-1")
        assert here.ledger.claim(job, CUSTOMER, "w-1", now=now) is not None

        assert tick(there).endswith("1 jobs of ended waves given back.")

        assert (here.row(job).status, here.row(job).crashes) == (Status.QUEUED, 0)
