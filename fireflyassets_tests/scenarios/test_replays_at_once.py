"""Replays side by side and in an outage: real processes of the command, over a real embedded AWS.

Here: what two processes, or one whose stores go away, leave behind. Not here: what a replay moves
(``stages/test_replay.py``).
"""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.provision import provision
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets.settings import Settings
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts.ledgers import World, dynamo_world, ending
from fireflyassets_tests.services import HOST, Service, own_ministack

JOBS = 100
SAYS_AT = 25
"""After so many jobs a replay says how far it is."""


@dataclass(frozen=True)
class Scene:
    """Dead jobs in tables of their own."""

    aws: Service
    world: World
    jobs: tuple[str, ...]

    def replay(self) -> "subprocess.Popen[str]":
        """Begin to run all of them again."""
        program = str(Path(sys.executable).with_name("fireflyassets"))
        words = ("dlq", "replay", "--mended", "--go", "--by", "ann", "--why", "it is mended")
        return subprocess.Popen(  # noqa: S603 - our own command.
            [program, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def standing(self) -> set[tuple[Status, int]]:
        """Return how the jobs stand, and how often each was run again."""
        rows = [self.world.ledger.job(job) for job in self.jobs]
        return {(row.status, row.replays) for row in rows if row is not None}


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Yield a hundred jobs in ``dlq``, under an embedded AWS that nobody else uses."""
    with own_ministack() as aws, aws_environment(f"http://{HOST}:{aws.port}"):
        said = Settings()
        dynamodb = clients.dynamodb()
        names = {"prefix": said.table_prefix, "bucket": said.bucket, "queue": said.queue}
        provision(dynamodb, clients.s3(), clients.sqs(), **names)
        world = dynamo_world(dynamodb, said.table_prefix)
        jobs: list[str] = []
        for n in range(JOBS):
            claim = world.running(f"job-{n}", campaign_id="spring-launch")
            stale = FailureClass.STALE_REFERENCE
            world.ledger.finish(claim, ending(Status.DLQ, failure=stale))
            jobs.append(claim.job_id)
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
        yield Scene(aws, world, tuple(jobs))
        dynamodb.close()


def moved(said: str) -> int:
    """Return how many jobs a replay has said that it moved."""
    found = re.search(r"(\d+) of \d+ jobs are queued again", said)
    return int(found[1]) if found else 0


@pytest.mark.stack
def test_two_replays_at_once_move_each_job_once(scene: Scene) -> None:
    """Whatever both have planned: of two writes of one row one is made."""
    two = [scene.replay() for _ in range(2)]
    said = [one.communicate(timeout=120)[0] for one in two]

    assert [one.returncode for one in two] == [0, 0]
    assert sum(map(moved, said)) == JOBS
    assert scene.standing() == {(Status.QUEUED, 1)}


@pytest.mark.full
def test_a_replay_in_an_outage_is_finished_by_the_next(scene: Scene) -> None:
    """The stores stand still in its midst: it says so and ends; no job is moved twice or lost."""
    stopped = scene.replay()
    assert stopped.stdout is not None
    for line in stopped.stdout:
        if line.startswith(f"{SAYS_AT} of"):
            break
    scene.aws.signal(signal.SIGSTOP)
    said = stopped.communicate(timeout=240)
    scene.aws.signal(signal.SIGCONT)

    assert stopped.returncode != 0
    assert "Traceback" not in said[1]
    assert moved(said[0]) == 0
    assert scene.standing() == {(Status.DLQ, 0), (Status.QUEUED, 1)}
    again = scene.replay()
    rest = moved(again.communicate(timeout=120)[0])

    assert 0 < rest <= JOBS - SAYS_AT
    assert scene.standing() == {(Status.QUEUED, 1)}
