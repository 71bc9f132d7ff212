"""From a person's options to a stack that runs: the one place that puts the parts together.

Belongs here: options, checks before the start, the order of lock, memory, services and stop.
Does not: what happens while the stack runs.
"""

import shutil
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.api.pages.sign_in import BACK
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local import (
    access,
    environment,
    folder,
    keeping,
    processes,
    services,
    sign_in,
)
from fireflyassets.local.stack import Say, Stack, stopped_at_the_end

PROJECT_PARTS: Final = ("dagster.yaml", "workspace.yaml", "campaigns")
FIRST_PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person or a test asks for."""

    project: Path
    state: Path
    base: Mapping[str, str]
    """Environment of the launching process."""
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """Listener -> port that must be used."""
    module: str = "fireflyassets.definitions"
    twin_options: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    needed_bytes: int = folder.NEEDED_BYTES
    reset: bool = False
    """Whether the state is emptied first."""
    postgres: bool = False
    """Whether Dagster's storage is a Postgres of the stack's own."""


@contextmanager
def launched(options: Options, say: Say) -> Generator[Stack]:
    """Run the stack for as long as the context lasts; it is stopped whatever happens.

    Raises:
        UnusableConfiguration: The folder, a port or the project can't be used.
        DiskFull: The disk has too little room.
        StateLost: The last stop did not save the state, or this one did not.
        ServiceDown: A service did not start.
    """
    project = options.project.resolve()
    require_project(project)
    state = folder.StateFolder(options.state.resolve())
    state.prepare(needed_bytes=options.needed_bytes)
    with folder.locked(state) as held, _temporary_folder() as temporary:
        _end_leftovers(state, say)
        if options.reset:
            keeping.reset(state)
        keeping.require_whole(state)
        doors = access.recall(
            state, asked=options.ports, customers=_customers(project), clock=SystemClock()
        )
        for sentence in doors.moved:
            say(sentence)
        held.describe(doors.url("dagster"))
        stack = Stack(state, doors, say)
        folder.write_private(state.commands, environment.for_commands(doors, state))
        variables = environment.compose(
            options.base,
            folder=state,
            access=doors,
            project=project,
            secrets=options.secrets,
            temporary=temporary,
            postgres=options.postgres,
        )
        composition = services.Composition(
            folder=state,
            access=doors,
            environment=variables,
            project=project,
            module=options.module,
            twin_options=options.twin_options,
            postgres=options.postgres,
        )
        with doorway(doors, project), keeping.kept(state), stopped_at_the_end(stack):
            stack.start(services.phases(composition))
            yield stack


def doorway(doors: access.Access, project: Path) -> AbstractContextManager[None]:
    """Let people choose who they are; it ends after the stack, which may ask it until then."""
    back_to = f"{doors.url('api')}{PREFIX}{BACK}"
    made = sign_in.Doorway(doors.issuer, SystemClock(), back_to=back_to)
    app = sign_in.create_app(made, _customers(project), origin=doors.url("sign-in"))
    return sign_in.served(app, host=access.HOST, port=doors.ports["sign-in"])


def require_project(project: Path) -> None:
    """Return if *project* is a checkout of the project.

    Raises:
        UnusableConfiguration: It is not; the sentence says what it lacks.
    """
    missing = [name for name in PROJECT_PARTS if not (project / name).exists()]
    if missing:
        raise UnusableConfiguration(
            f"{project} is no checkout of the project: it has no {', '.join(missing)}; "
            "start from the project's folder, or name it with --project."
        )


def _customers(project: Path) -> Iterable[str]:
    return (path.name for path in (project / "campaigns").iterdir() if path.is_dir())


def _end_leftovers(state: folder.StateFolder, say: Say) -> None:
    """End what a stack left behind whose launcher was killed; the lock says that it is gone."""
    left = processes.of_stack(state.root)
    if left:
        processes.end(left, patience_seconds=FIRST_PATIENCE_SECONDS)
        say(f"Ended {len(left)} processes of a stack that was killed before it could stop.")


@contextmanager
def _temporary_folder() -> Generator[Path]:
    # Outside the state folder, whose path may be long: socket paths must stay under 108 bytes.
    path = Path(tempfile.mkdtemp(prefix="fa-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
