"""The local stack, or parts of it, on a state of its own that is thrown away: for every bench.

Belongs here: the services that a bench wants on its project, and clients of them. Does not: the
project (``bench_project.py``), what is measured.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import psutil
from bench_project import PROJECT
from botocore.session import get_session

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.local import access, environment, services
from fireflyassets.local.access import Access
from fireflyassets.local.environment import DUMMY, REGION
from fireflyassets.local.folder import StateFolder, locked
from fireflyassets.local.service import Service
from fireflyassets.local.simulated import simulate
from fireflyassets.local.stack import Phase, Say, Stack, Task, stopped_at_the_end

CUSTOMER, CAMPAIGN = "acme", "spring-launch"
HEADER = "key,prompt,locale,headline,aspects"


def tell(sentence: str) -> None:
    """Print what the stack says of itself."""
    print(sentence, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Wanted:
    """What a bench wants to run."""

    project: Path = PROJECT
    module: str = "fireflyassets.definitions"
    only: Collection[str] = ()
    """Names of services and tasks; empty: all."""
    first: int | None = None
    """Phases that are started; the others wait for the bench. None: all."""
    postgres: bool = False
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    rewired: Callable[[Access], Mapping[str, str]] = lambda _: {}
    """Settings besides, which need the ports."""
    speed: float = 60
    """Of the simulated Adobe."""
    twin_options: tuple[str, ...] = ()
    change: Callable[[Service], Service] = lambda service: service
    """What is done to a service before it starts."""
    say: Say = tell


@dataclass(frozen=True)
class Place:
    """A stack that runs, and the environment of its processes."""

    stack: Stack
    variables: Mapping[str, str]
    root: Path
    waiting: tuple[Phase, ...]
    """Phases that are not started yet."""

    def url(self, name: str) -> str:
        """Return where a service is."""
        return self.stack.access.url(name)

    def aws(self, service: str) -> Any:  # noqa: ANN401 - botocore's clients have no type.
        """Return a client of the embedded AWS."""
        return get_session().create_client(
            service,
            endpoint_url=self.url("aws"),
            region_name=REGION,
            aws_access_key_id=DUMMY,
            aws_secret_access_key=DUMMY,
        )

    def door(self, customer: str = CUSTOMER) -> httpx.Client:
        """Return a customer's client of the API."""
        bearer = {"Authorization": f"Bearer {self.stack.access.tokens[customer]}"}
        return httpx.Client(base_url=self.url("api"), headers=bearer, timeout=300)

    def cpu_s(self, *names: str) -> float:
        """Return the CPU seconds of services, of their children, and of those that have ended."""
        return sum(_tree(psutil.Process(self.stack.pid(name))) for name in names)


@contextmanager
def temporary() -> Generator[Path]:
    """Yield a folder that other users may enter: Postgres runs as one, where we are root."""
    root = Path(tempfile.mkdtemp(prefix="fa-")).resolve()
    root.chmod(0o755)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def running(root: Path, wanted: Wanted) -> Generator[Place]:
    """Run what is wanted on a state in *root*, and stop it whatever happens."""
    state = StateFolder(root / "state")
    state.prepare()
    simulated = simulate(wanted.project, speed=wanted.speed)
    customers = [path.name for path in (wanted.project / "campaigns").iterdir()]
    doors = access.recall(state, asked={}, customers=customers, clock=SystemClock())
    variables = environment.compose(
        dict(os.environ),  # noqa: TID251 - children inherit paths and locale from this process.
        folder=state,
        access=doors,
        project=wanted.project,
        secrets={**simulated.secrets, **wanted.settings, **wanted.rewired(doors)},
        temporary=root,
        postgres=wanted.postgres,
    )
    made_of = services.Composition(
        folder=state,
        access=doors,
        environment=variables,
        project=wanted.project,
        module=wanted.module,
        twin_options=(*simulated.twin_options, *wanted.twin_options),
        postgres=wanted.postgres,
    )
    chosen = (_chosen(phase, wanted) for phase in services.phases(made_of))
    phases = tuple(phase for phase in chosen if phase)
    first = len(phases) if wanted.first is None else wanted.first
    stack = Stack(state, doors, wanted.say)
    with locked(state), stopped_at_the_end(stack):
        stack.start(phases[:first])
        yield Place(stack, variables, root, phases[first:])


def send(client: httpx.Client, campaign: str, rows: str) -> httpx.Response:
    """Send a brief, of which *rows* is what stands below the header; return the answer."""
    return client.post(
        "/v1/jobs:batch",
        params={"campaign": campaign},
        content=f"{HEADER}\n{rows}".encode(),
        headers={"Content-Type": "text/csv"},
    ).raise_for_status()


@contextmanager
def instance(place: Place) -> Generator[dg.DagsterInstance]:
    """Yield the instance of a stack, opened by the environment as its own processes open it."""
    os.environ.update(  # noqa: TID251 - the instance is configured by it.
        {name: place.variables[name] for name in ("DAGSTER_HOME", environment.PG_URL)}
    )
    with dg.DagsterInstance.get() as found:
        yield found


def metered(path: Path) -> Callable[[Service], Service]:
    """Return what puts the meter around the embedded AWS; it writes to *path*."""

    def change(service: Service) -> Service:
        if service.name != "aws":
            return service
        command = (sys.executable, str(Path(__file__).with_name("metered_aws.py")))
        variables = {**service.environment, "FIREFLYASSETS_BENCH_METER": str(path)}
        return replace(service, command=command, environment=variables)

    return change


def _chosen(phase: Phase, wanted: Wanted) -> Phase:
    return tuple(
        item if isinstance(item, Task) else wanted.change(item)
        for item in phase
        if not wanted.only or item.name in wanted.only
    )


def _tree(root: psutil.Process) -> float:
    total = 0.0
    for each in [root, *root.children(recursive=True)]:
        try:
            spent: Any = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system + spent.children_user + spent.children_system
    return total
