"""A running stack for benches that kill and judge from outside.

Belongs here: the books, and the end of all that was started. Does not: the stack's own start
(``bench_stack.py``), what a bench does there.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import bench_stack
from fence_books import Books
from fence_kills import Ground
from fence_project import Tenant, write

from fireflyassets.local import processes
from fireflyassets.local.access import Access
from fireflyassets.local.service import Service
from fireflyassets.local.simulated import SPEED

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REVIVED, RESTARTS = ("api", "code", "daemon"), 20
"""What a bench kills is started again by the next look after the services."""


@dataclass(frozen=True)
class Place(bench_stack.Place):
    """A running stack, as far as it is up, with what a bench needs of it."""

    ground: Ground


@contextmanager
def running(
    tenants: Sequence[Tenant],
    settings: Mapping[str, str],
    twin_options: Sequence[str],
    *,
    first: int | None = None,
    kills: int = 0,
    rewired: Callable[[Access], Mapping[str, str]] = lambda _: {},
) -> Generator[Place]:
    """Run the stack on a project of *tenants*, or the *first* of its phases."""
    with bench_stack.temporary() as root:
        project = root / "project"
        write(project, tenants)
        wanted = bench_stack.Wanted(
            project=project,
            first=first,
            settings=settings,
            rewired=rewired,
            speed=SPEED,
            twin_options=tuple(twin_options),
            change=_reviving,
            say=lambda said: print(said.partition("\n")[0], flush=True),
        )
        with bench_stack.running(root, wanted) as here:
            books = Books(cast("DynamoDBClient", here.aws("dynamodb")), "fireflyassets")
            state = here.stack.folder
            ground = Ground(books, here.url("twin"), here.variables, state.logs, kills)
            try:
                yield Place(here.stack, here.variables, here.root, here.waiting, ground)
            finally:
                processes.end(processes.of_stack(state.root), patience_seconds=1)


def _reviving(service: Service) -> Service:
    return replace(service, restarts=RESTARTS) if service.name in REVIVED else service
