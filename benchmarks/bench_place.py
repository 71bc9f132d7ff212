"""A running stack on a state of its own, for benches that kill and judge from outside.

Belongs here: its environment, the start of AWS and of the simulated Adobe, the end of all of it.
Does not: what a bench does there.
"""

import os
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from botocore.session import get_session
from fence_books import Books
from fence_kills import Ground
from fence_project import Tenant, write

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.local import access, environment, folder, processes, services
from fireflyassets.local.access import Access
from fireflyassets.local.environment import DUMMY, REGION
from fireflyassets.local.service import Service
from fireflyassets.local.simulated import simulate
from fireflyassets.local.stack import Stack, stopped_at_the_end

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REVIVED, RESTARTS = ("api", "code", "daemon"), 20
"""What a bench kills is started again by the next look after the services."""


@dataclass
class Place:
    """A running stack, as far as it is up, with what a bench needs of it."""

    stack: Stack
    phases: tuple[services.Phase, ...]
    environment: Mapping[str, str]
    ground: Ground
    state: Path
    project: Path


def client(service: str, url: str) -> Any:  # noqa: ANN401 - botocore's clients have no type.
    """Return a client of the embedded AWS."""
    return get_session().create_client(
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=DUMMY,
        aws_secret_access_key=DUMMY,
    )


@contextmanager
def running(
    tenants: Sequence[Tenant],
    settings: Mapping[str, str],
    twin_options: Sequence[str],
    *,
    kills: int = 0,
    rewired: Callable[[Access], Mapping[str, str]] = lambda _: {},
) -> Generator[Place]:
    """Run AWS and the simulated Adobe; the rest is started later.

    *rewired* says what the processes' environment has besides, once the ports are known.
    """
    with tempfile.TemporaryDirectory(prefix="fa-bench-") as root:
        project, temporary = Path(root, "project"), Path(root, "t")
        for path in (project, temporary):
            path.mkdir()
        write(project, tenants)
        state = folder.StateFolder(Path(root, "state").resolve())
        state.prepare()
        simulated = simulate(project)
        names = [one.name for one in tenants]
        doors = access.recall(state, asked={}, customers=names, clock=SystemClock())
        inherited = dict(os.environ)  # noqa: TID251 - children inherit paths and locale.
        variables = environment.compose(
            {**inherited, **settings},
            folder=state,
            access=doors,
            project=project,
            secrets=simulated.secrets,
            temporary=temporary,
        )
        variables |= rewired(doors)
        stack = Stack(state, doors, lambda said: print(said.partition("\n")[0], flush=True))
        composition = services.Composition(
            folder=state,
            access=doors,
            environment=variables,
            project=project,
            module="fireflyassets.definitions",
            twin_options=(*simulated.twin_options, *twin_options),
        )
        phases = tuple(_reviving(phase) for phase in services.phases(composition))
        dynamodb = cast("DynamoDBClient", client("dynamodb", doors.url("aws")))
        books = Books(dynamodb, "fireflyassets")
        ground = Ground(books, doors.url("twin"), variables, state.logs, kills)
        with stopped_at_the_end(stack):
            stack.start(phases[:2])
            try:
                yield Place(stack, phases, variables, ground, state.root, project)
            finally:
                processes.end(processes.of_stack(state.root), patience_seconds=1)


def _reviving(phase: services.Phase) -> services.Phase:
    return tuple(
        replace(one, restarts=RESTARTS) if isinstance(one, Service) and one.name in REVIVED else one
        for one in phase
    )
