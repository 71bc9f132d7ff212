"""The sensor of snapshots and dead letters, as Dagster ticks it."""

import json
import signal
from dataclasses import replace
from datetime import datetime

import dagster as dg

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.word_lists import WordLists
from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.defs.dead_letters import dead_letters_sensor
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.paid import NotAccepted
from fireflyassets_tests.contracts.ledgers import NOON, ending
from fireflyassets_tests.defs.location import CUSTOMER, DELIVERIES, Location, location
from fireflyassets_tests.stages.test_queue import body

UNSAFE = NotAccepted(Fault(Family.FIREFLY, 422, "prompt_unsafe", message="SECRET"))


def ports_of(there: Location) -> dict[str, object]:
    """Return the resources of sensor and job."""
    ports: dict[str, object] = {name: getattr(there.here.shop, name) for name in WAVE_PORTS}
    return ports | {"job_queue": there.here.intake.queue, "guardrail": WordLists()}


def tick(there: Location) -> str:
    """Let the sensor tick once and return what it says."""
    ports = ports_of(there)
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
        records = there.instance.fetch_observations(of_job, limit=9).records
        told = [one.asset_observation for one in records if one.asset_observation]
        (observed,) = (one for one in told if "snapshot" in one.metadata)
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


def dead(there: Location, n: int = 0) -> str:
    """Return a job in ``dlq`` that may be run again."""
    here = there.here
    (job,) = here.order(1, prefix=f"dead-{n}")
    claim = here.ledger.claim(job, CUSTOMER, "w-1", now=here.clock.now())
    assert claim is not None
    stale = FailureClass.STALE_REFERENCE
    here.ledger.finish(claim, ending(Status.DLQ, failure=stale, ended_at=NOON))
    return job


def replayed(there: Location, **config: object) -> bool:
    """Run the job with options; say whether it ended well."""
    run = there.defs.resolve_job_def("retry_jobs").execute_in_process(
        instance=there.instance,
        resources=ports_of(there),
        run_config={"ops": {"replay": {"config": config}}},
        raise_on_error=False,
    )
    return run.success


def test_the_job_replays_only_when_it_is_told_to_and_by_whom() -> None:
    """The same options as the command's, and the same refusals."""
    with location() as there:
        job = dead(there)
        row = there.here.row

        assert replayed(there, classes=["stale-reference"])
        assert row(job).status is Status.DLQ
        assert not replayed(there, go=True)
        assert row(job).status is Status.DLQ
        assert not replayed(there, classes=["martian"], go=True, by="ann", why="a test")
        assert replayed(there, classes=["quota"], go=True, by="ann", why="a test")
        assert row(job).status is Status.DLQ
        assert replayed(there, go=True, by="ann", why="a test", since="2026-01-01")

        assert (row(job).status, row(job).reason) == (
            Status.QUEUED,
            "Replayed by ann: a test",
        )


def test_a_tick_runs_again_what_policy_lets_go() -> None:
    """Nothing unless the settings name its class."""
    with location() as there:
        job = dead(there)
        assert "0 run again" in tick(there)
        shop = there.here.shop
        classes = (FailureClass.STALE_REFERENCE,)
        named = shop.settings.model_copy(update={"replay_automatically": classes})
        there.here.shop = replace(shop, settings=named)

        assert "1 run again" in tick(there)

        assert there.here.row(job).status is Status.QUEUED


def test_the_job_takes_a_replay_back() -> None:
    """By its record, as the command does, and by name."""
    with location() as there:
        job = dead(there)
        assert replayed(there, go=True, by="ann", why="a test", spread_minutes=60)
        assert there.here.row(job).status is Status.QUEUED
        (record,) = there.here.objects.keys("replays/2")

        assert not replayed(there, go=True, by="ann", why="a test", abort="replays/none")
        assert replayed(there, go=True, by="ann", why="too early", abort=record)

        row = there.here.row(job)
        assert (row.status, row.replays) == (Status.DLQ, 0)


def test_the_job_makes_jobs_of_letters() -> None:
    """With the option of the command, and only if it is told to."""
    with location() as there:
        intake = there.here.intake
        intake.queue.send([body(aspects=["32x18"])])
        (message,) = intake.queue.receive(most=1)
        intake.queue.quarantine(message, reason="It was too early.")
        assert "1 put aside" in tick(there)

        assert replayed(there, letters=True)
        assert len(intake.objects.keys("dead-letters/")) == 1
        assert replayed(there, letters=True, go=True, by="ann", why="a test")

        assert intake.objects.keys("dead-letters/") == []
        (row,) = there.here.ledger.rows()
        assert row.status is Status.QUEUED


class Terminated(MemoryLedger):
    """A ledger whose run is terminated as it moves its second job."""

    moves = 0

    def replay(
        self, row: JobRow, *, due_at: datetime, said: str, now: datetime
    ) -> bool | OverBudget:
        """Move a job; with the second one comes the signal that *terminate* sends."""
        told = super().replay(row, due_at=due_at, said=said, now=now)
        self.moves += 1
        if self.moves == 2:
            signal.raise_signal(signal.SIGINT)
        return told


def test_to_terminate_the_run_takes_its_replay_back() -> None:
    """Whatever it had moved, the last one too; the others were never moved."""
    with location() as there:
        here = there.here
        jobs = [dead(there, n) for n in range(4)]
        here.ledger.__class__ = Terminated
        assert isinstance(here.ledger, Terminated)

        assert not replayed(there, go=True, by="ann", why="a test")

        assert here.ledger.moves == 2
        assert {here.row(job).status for job in jobs} == {Status.DLQ}
        assert {here.row(job).replays for job in jobs} == {0}
        (record,) = here.objects.keys("replays/2")
        (said,) = json.loads(here.objects.get(record) or b"")["aborted"]
        assert (said["by"], said["why"], len(said["back"])) == ("ann", "stopped", 2)
