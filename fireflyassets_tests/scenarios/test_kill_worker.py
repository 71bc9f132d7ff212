"""SIGKILL from outside to the process that holds the sockets, in mid-wave, through the daemon.

Outside a submit every job finishes, also when the code server dies with its workers, so that
nobody tells Dagster. Inside one the job stands held as an unknown outcome and the rest finish. The
vendor's own list shows no second payment either way.
"""

import hashlib
import io
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx
import psutil
import pytest
from botocore.session import get_session
from PIL import Image

from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.aws.objects import S3ObjectStore
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.local import processes, sample
from fireflyassets.local.customer import Customer, Doors, Job
from fireflyassets.local.environment import DUMMY, REGION
from fireflyassets.local.launching import Options, launched
from fireflyassets.local.simulated import simulate
from fireflyassets.local.stack import Stack
from fireflyassets.ports.entries import AttemptState
from fireflyassets.settings import Settings
from fireflyassets_tests import readback

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = [pytest.mark.stack, pytest.mark.whole]

T = TypeVar("T")
PROJECT = Path(__file__).parents[2]
DEADLINE_SECONDS = 240.0


@dataclass
class Shop:
    """The running stack and what a test looks into."""

    stack: Stack
    customer: Customer
    ledger: DynamoLedger
    objects: S3ObjectStore
    dynamodb: "DynamoDBClient"
    brief: sample.Sample

    def jobs(self) -> dict[str, Job]:
        """Return all jobs of the brief that the API knows."""
        return self.customer.jobs(self.brief.job_ids())

    def standing(self) -> list[tuple[str, bool, str | None]]:
        """Return how each unfinished job stands."""
        return [
            (job.status.value, job.held, job.reason)
            for job in self.jobs().values()
            if job.status is not Status.SUCCEEDED
        ]

    def marked(self) -> str:
        """Return the job that is sent first, so that most are still to come when it is killed."""
        by_api = {request.key for request in self.brief.by_api}
        # Rows of one moment stand in the queue by their ids.
        return min(one for one, said in self.brief.job_ids().items() if said.key in by_api)

    def prompt_of_marked(self) -> str:
        """Return its prompt, which no other job has."""
        prompt = self.brief.job_ids()[self.marked()].prompt
        assert sum(prompt in one.prompt for one in self.brief.all) == 1
        return prompt

    def open_sends(self) -> set[str]:
        """Return the jobs with a send that has no vendor id and no answer."""
        return {
            job_id
            for job_id in self.brief.job_ids()
            for one in self.ledger.history(job_id).attempts
            if one.vendor_id is None and one.state is AttemptState.SUBMITTING
        }

    def adobe_tokens(self) -> list[str]:
        """Return the bearer tokens that the processes share."""
        rows = self.dynamodb.scan(TableName=Tables(Settings().table_prefix).tokens)["Items"]
        return [token for row in rows if (token := row.get("token", {}).get("S"))]

    def kill_workers(self, *, with_code_server: bool = False) -> None:
        """SIGKILL the processes of all runs: the wave at work, and the tenant's warm one."""
        workers = [one for one in processes.of_stack(self.stack.folder.root) if _is_run(one)]
        assert workers
        if with_code_server:
            os.kill(self.stack.pid("code"), signal.SIGKILL)
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)

    def restarted(self, killed: int) -> Callable[[], bool | None]:
        """Return a look as the launcher has one, for whether the killed code server is back.

        One look may come before the killed process is seen to be gone.
        """

        def look() -> bool | None:
            self.stack.watch()
            return self.stack.pid("code") != killed or None

        return look

    def unfinished_runs(self) -> list[str]:
        """Return the states of the runs that Dagster still counts on."""
        query = "{ runsOrError { ... on Runs { results { status } } } }"
        url = f"{self.stack.access.url('dagster')}/graphql"
        answer = httpx.post(url, json={"query": query}, trust_env=False, timeout=30.0)
        found = [run["status"] for run in answer.json()["data"]["runsOrError"]["results"]]
        assert found
        return [one for one in found if one not in {"SUCCESS", "FAILURE", "CANCELED"}]

    def shown(self) -> dict[str, dict[str, int]]:
        """Return what Dagster's UI counts: partitions of deliveries, and its tagging checks."""
        query = """{
          assetNodes(assetKeys: [{path: ["acme", "spring-launch", "deliveries"]}]) {
            partitionStats { numMaterialized numMaterializing }
            assetChecksOrError { ... on AssetChecks { checks { name partitionStatuses {
              ... on AssetCheckDefaultPartitionStatuses { succeededPartitions inProgressPartitions }
            } } } }
          }
        }"""
        answer = httpx.post(
            f"{self.stack.access.url('dagster')}/graphql", json={"query": query}, trust_env=False
        )
        (node,) = answer.json()["data"]["assetNodes"]
        checks = {one["name"]: one for one in node["assetChecksOrError"]["checks"]}
        tagged = checks["every_rendition_is_tagged"]["partitionStatuses"]
        return {
            "partitions": node["partitionStats"],
            "checks": {name: len(keys) for name, keys in tagged.items()},
        }

    def dagster_agrees(self, done: int) -> bool | None:
        """Say whether *done* partitions show as materialized and checked; None: not yet."""
        shown = self.shown()
        agrees = shown == {
            "partitions": {"numMaterialized": done, "numMaterializing": 0},
            "checks": {"succeededPartitions": done, "inProgressPartitions": 0},
        }
        return agrees or None

    def billed(self) -> list[dict[str, Any]]:
        """Return the vendor's billed calls."""
        answer = httpx.get(f"{self.stack.access.url('twin')}/_twin/calls", trust_env=False)
        calls = cast("list[dict[str, Any]]", answer.json()["calls"])
        return [call for call in calls if call["billed"]]


def _is_run(process: psutil.Process) -> bool:
    """Say whether it is what the code server spawned for a run."""
    line = " ".join(process.cmdline())
    parent = process.parent()
    return "spawn_main" in line and parent is not None and " api grpc" in " ".join(parent.cmdline())


def options(project: Path, state: Path) -> Options:
    """Return how a stack on *state* is started, with a twin that knows *project*."""
    simulated = simulate(project)
    return Options(
        project=project,
        state=state,
        base=dict(os.environ),  # noqa: TID251 - children inherit paths and locale.
        twin_options=simulated.twin_options,
        secrets=simulated.secrets,
    )


@contextmanager
def shop(state: Path) -> Generator[Shop]:
    """Run the whole stack on *state*."""
    with launched(options(PROJECT, state), lambda _: None) as stack:
        settings = Settings()
        doors = Doors(
            api_url=stack.access.url("api"),
            token=stack.access.tokens[sample.CUSTOMER],
            aws_url=stack.access.url("aws"),
            queue=settings.queue,
        )
        dynamodb, s3 = (client(service, stack) for service in ("dynamodb", "s3"))
        ledger = DynamoLedger(dynamodb, prefix=settings.table_prefix)
        objects = S3ObjectStore(s3, bucket=settings.bucket)
        with Customer(doors, customer=sample.CUSTOMER, campaign=sample.CAMPAIGN) as customer:
            yield Shop(stack, customer, ledger, objects, dynamodb, sample.load(PROJECT))
        dynamodb.close()
        s3.close()


def client(service: str, stack: Stack) -> Any:  # noqa: ANN401 - botocore's clients have no type.
    """Return a client of a stack's embedded AWS."""
    return get_session().create_client(
        service,
        endpoint_url=stack.access.url("aws"),
        region_name=REGION,
        aws_access_key_id=DUMMY,
        aws_secret_access_key=DUMMY,
    )


def wait_for(what: str, look: Callable[[], T | None], *, told: Callable[[], object] = str) -> T:
    """Look twice a second until there is an answer; fail at the deadline with what is *told*."""
    until = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < until:
        if (found := look()) is not None:
            return found
        time.sleep(0.5)  # noqa: TID251 - a real process works meanwhile.
    pytest.fail(f"{what} did not happen within {DEADLINE_SECONDS:.0f} s: {told()}")


def settled(here: Shop, inside: set[str]) -> dict[str, Job] | None:
    """Return all jobs once each has succeeded, but those that were inside a submit."""
    jobs = here.jobs()
    if len(jobs) < len(here.brief.all):
        return None
    left = {job_id for job_id, job in jobs.items() if job.status is not Status.SUCCEEDED}
    return jobs if left <= inside else None


def test_killed_workers_pay_nothing_twice(tmp_path: Path) -> None:
    """One kill inside a submit and one outside: only the first leaves a job held."""
    with shop(tmp_path / "state") as here:
        httpx.post(
            f"{here.stack.access.url('twin')}/_twin/faults",
            json={
                "when": {"endpoint": "generate", "prompt_contains": here.prompt_of_marked()},
                "then": {"kind": "delay", "before_seconds": 18},
            },
            trust_env=False,
        ).raise_for_status()
        assert here.customer.post_csv(here.brief.csv()).is_success
        here.customer.send(here.brief.by_queue)

        # Inside a submit: the marked generate is on its way and has no answer.
        wait_for("the marked submit", lambda: here.marked() in here.open_sends() or None)
        here.kill_workers()
        inside = here.open_sends()
        # Outside one: some renditions later, with nothing else on its way.
        before = len(here.billed())
        wait_for("more calls", lambda: len(here.billed()) > before + 6 or None)
        wait_for("a quiet moment", lambda: here.open_sends() == inside or None)
        code = here.stack.pid("code")
        here.kill_workers(with_code_server=True)
        inside |= here.open_sends()
        wait_for("the code server again", here.restarted(code))

        jobs = wait_for("the end of all jobs", lambda: settled(here, inside), told=here.standing)

        left = {job_id: job for job_id, job in jobs.items() if job.status is not Status.SUCCEEDED}
        assert set(left) == inside
        assert left[here.marked()].held
        assert "outcome of a paid call is unknown" in (left[here.marked()].reason or "")
        wait_for("Dagster's view", lambda: here.dagster_agrees(24 - len(inside)), told=here.shown)
        assert_paid_once(here, inside)
        wait_for(
            "the end of all runs",
            lambda: None if here.unfinished_runs() else True,
            told=here.unfinished_runs,
        )
        assert_copy_is_readable(here, jobs)
        assert_logs_keep_secrets(here)


def assert_paid_once(here: Shop, inside: set[str]) -> None:
    """Hold the vendor's list against the ledger: each billed call is one send of one step.

    A finished job has exactly one for each of its steps. What was taken without an answer that
    reached us belongs to the jobs that were inside a submit, and to no other.
    """
    sends = {
        (one.job_id, one.step, one.n): one
        for job_id in here.brief.job_ids()
        for one in here.ledger.history(job_id).attempts
    }
    by_id = {one.vendor_id: one for one in sends.values() if one.vendor_id}
    billed = here.billed()
    known = [by_id[call["job_id"]] for call in billed if call["job_id"] in by_id]
    assert Counter((one.job_id, one.step) for one in known) == {
        **{
            (job_id, step): 1
            for job_id, request in here.brief.job_ids().items()
            if job_id not in inside
            for step in ("art", *(f"layout.{aspect}" for aspect in request.aspects))
        },
        **{(one.job_id, one.step): 1 for one in known if one.job_id in inside},
    }
    assert_booked_once(here, billed)
    silent = [one for one in sends.values() if one.vendor_id is None]
    assert {one.job_id for one in silent if one.state is AttemptState.SUBMITTING} <= inside
    nameless = [call for call in billed if call["job_id"] not in by_id]
    written = [one for one in silent if one.output_key and here.objects.exists(one.output_key)]
    assert sum(call["endpoint"] == "composite" for call in nameless) == len(written)
    prompts = [
        hashlib.sha256(here.brief.job_ids()[one.job_id].prompt.encode()).hexdigest()
        for one in silent
        if one.output_key is None
    ]
    lost = Counter(call["prompt_sha256"] for call in nameless if call["endpoint"] == "generate")
    assert lost <= Counter(prompts)


def assert_booked_once(here: Shop, billed: list[dict[str, Any]]) -> None:
    """Each billed call whose id we have stands in exactly one operation row, and no other does."""
    rows = [
        row for job_id in here.brief.job_ids() for row in here.ledger.history(job_id).operations
    ]
    assert max(Counter(row.vendor_id for row in rows).values()) == 1
    # What was taken and then failed, as it could not write its file, may be billed; by the twin
    # it is not.
    certain = {row.vendor_id for row in rows if row.cause is not Cause.ACCEPTED_BUT_FAILED}
    assert certain <= {call["job_id"] for call in billed}


def assert_copy_is_readable(here: Shop, jobs: dict[str, Job]) -> None:
    """Read the headline back from the delivered files, one job of each locale, all aspects."""
    folder = PROJECT / "campaigns" / sample.CUSTOMER / sample.CAMPAIGN
    by_locale = {
        request.locale: (job_id, request)
        for job_id, request in here.brief.job_ids().items()
        if jobs[job_id].status is Status.SUCCEEDED
    }
    assert len(by_locale) == 3
    for job_id, request in by_locale.values():
        for aspect in request.aspects:
            document = (folder / f"{aspect}.psd").read_bytes()
            picture = Image.open(io.BytesIO(here.customer.output(job_id, aspect))).convert("RGB")
            area = readback.area_of(document, "Headline")
            assert f"{picture.width}x{picture.height}" == aspect
            assert readback.read(picture, area, request.headline).matches
            assert not readback.read(picture, area, "Other words stand here").matches


def assert_logs_keep_secrets(here: Shop) -> None:
    """Each Adobe call has its line, and no line of any process a signed URL, token or prompt."""
    folder = here.stack.folder
    logs = [*folder.logs.iterdir(), *folder.dagster_home.glob("storage/*/compute_logs/*")]
    text = "\n".join(log.read_text("utf-8", "replace") for log in logs)
    told = [json.loads(line) for line in text.splitlines() if line.startswith('{"at": ')]
    sent = [one["endpoint"] for one in told if one["message"] == "call" and "endpoint" in one]
    assert len([one for one in sent if one.endswith("/images/generate-async")]) >= 24
    assert len([one for one in sent if one.endswith("/create-composite")]) >= 3 * 23
    secrets = {
        "signature": {"Signature="},
        "token": {"Bearer ", *here.stack.access.tokens.values(), *here.adobe_tokens()},
        "prompt": {request.prompt for request in here.brief.all},
        "headline": {request.headline for request in here.brief.all},
    }
    assert here.adobe_tokens()
    assert [kind for kind, words in secrets.items() if any(word in text for word in words)] == []
