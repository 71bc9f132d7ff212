"""The sensor of snapshots and dead letters, as Dagster ticks it."""

import dagster as dg

from fireflyassets.adapters.word_lists import WordLists
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.defs.dead_letters import dead_letters_sensor
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.ports.paid import NotAccepted
from fireflyassets_tests.defs.location import DELIVERIES, Location, location

UNSAFE = NotAccepted(Fault(Family.FIREFLY, 422, "prompt_unsafe", message="SECRET"))


def tick(there: Location) -> str:
    """Let the sensor tick once and return what it says."""
    ports: dict[str, object] = {name: getattr(there.here.shop, name) for name in WAVE_PORTS}
    ports |= {"job_queue": there.here.intake.queue, "guardrail": WordLists()}
    with dg.build_sensor_context(instance=there.instance, resources=ports) as context:
        told = dead_letters_sensor.evaluate_tick(context)
    assert told.skip_message is not None
    return told.skip_message


def test_a_partition_links_its_snapshot_once() -> None:
    """Where it lies, what was refused, and what to change."""
    with location() as there:
        here = there.here
        (job,) = here.order(1)
        here.images.vendor.script.append(UNSAFE)
        (request,) = there.dispatch()
        there.run(request)
        assert here.row(job).status is Status.REVIEW

        assert tick(there).startswith("1 snapshots")
        assert tick(there).startswith("0 snapshots")

        of_job = dg.AssetRecordsFilter(DELIVERIES, asset_partitions=[job])
        (record,) = there.instance.fetch_observations(of_job, limit=9).records
        observed = record.asset_observation
        assert observed is not None
        said = {name: value.value for name, value in observed.metadata.items()}
        assert str(said["snapshot"]).endswith(f"/{job}/snapshot.json")
        assert said["failure"] == "unsafe-content"
        assert "new key" in str(said["guidance"])
        assert "SECRET" not in str(said)


def test_a_tick_sorts_dead_letters() -> None:
    with location() as there:
        queue = there.here.intake.queue
        queue.send(["<xml/>"])
        (message,) = queue.receive(most=1)
        queue.quarantine(message, reason="It is odd.")

        assert "1 put aside" in tick(there)
        assert queue.depth().dead == 0
