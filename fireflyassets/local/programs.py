"""What `fireflyassets up` and `fireflyassets demo` do.

Belongs here: from arguments to a running stack, what the person is told, and the exit code.
Does not: the parts themselves. This is the composition root of the launcher's process.
"""

import argparse
import errno
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core.errors import FactoryError, ServiceDown, UnusableConfiguration
from fireflyassets.local import demo as course
from fireflyassets.local import disk, report, sample
from fireflyassets.local.access import LISTENERS
from fireflyassets.local.books import require_ledger
from fireflyassets.local.commands import STATE
from fireflyassets.local.keeping import StateLost
from fireflyassets.local.launching import Options, launched, require_project
from fireflyassets.local.outcome import Outcome, broken_promises
from fireflyassets.local.reloading import Reloading
from fireflyassets.local.service import pause
from fireflyassets.local.simulated import Simulated, simulate
from fireflyassets.local.stack import Interrupted, Stack, interruptible
from fireflyassets.settings import Settings

WATCH_EVERY_SECONDS: Final = 0.5
SUMMARY: Final = "summary.json"
PAGE: Final = "index.html"
LAST_PORT: Final = 65_535
PICTURES_BYTES: Final = 150_000_000
"""Room for a demo's results; they take about a third of it."""
NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def up(arguments: argparse.Namespace) -> int:
    """Start the stack, say where it is, and keep it until a signal."""
    return _told(lambda: _up(arguments), arguments.state or Path())


def demo(arguments: argparse.Namespace) -> int:
    """Run the demo and stop the stack; 0 only if every promise was kept."""
    return _told(lambda: _demo(arguments), Path(arguments.project or "", arguments.output))


def _up(arguments: argparse.Namespace) -> int:
    project = _project(arguments)
    simulated = simulate(project)
    options = _options(arguments, project, simulated, state=_state(arguments, project))
    try:
        with _going_on(options.state), interruptible(), _started(options) as stack:
            say(_welcome(stack))
            for bad in simulated.out_of_service:
                say(f"Out of service: {bad}")
            reloading = Reloading(stack, project, SystemClock(), say)
            while True:
                stack.watch()
                reloading.look()
                pause(WATCH_EVERY_SECONDS)
    except Interrupted:
        say(f"Stopped; the state is kept in {options.state}.")
        return 0


def _demo(arguments: argparse.Namespace) -> int:
    project = _project(arguments)
    brief = sample.load(project)
    simulated = simulate(project)
    slug = f"{sample.CUSTOMER}/{sample.CAMPAIGN}"
    if slug not in simulated.paced_per_minute:
        reasons = "; ".join(simulated.out_of_service)
        raise UnusableConfiguration(f"The demo's campaign {slug} is out of service. {reasons}")
    output: Path = project / arguments.output
    plan = course.Plan(
        sample=brief,
        output=output,
        queue=Settings().queue,
        paced_per_minute=simulated.paced_per_minute[slug],
    )
    _announce_results(output)
    with interruptible(), _state_for(arguments, project) as state:
        options = _options(arguments, project, simulated, state=state.path)
        with _started(options) as stack:
            _clear_results(output)
            say(f"To watch it in the browser: {_pages(stack)}")
            outcome = course.run(stack, plan, say)
        kept = _tell(outcome, output)
        state.needed = not kept
    return 0 if kept else 1


@contextmanager
def _started(options: Options) -> Generator[Stack]:
    """Run a stack whose ledger holds what its Adobe has billed."""
    say("Starting the local stack.")
    with launched(options, say) as stack:
        require_ledger(stack.access, table_prefix=Settings().table_prefix)
        yield stack


@contextmanager
def _going_on(state: Path) -> Generator[None]:
    """Say after a service's death how to go on; a state that was lost says so itself."""
    try:
        yield
    except ServiceDown as down:
        raise ServiceDown(
            f"{down}\nThe rest was stopped, and the state is kept in {state}: run the same command "
            "again to go on with it."
        ) from down


def _announce_results(output: Path) -> None:
    """Take the last summary away, which could pass for this demo's, and see that there is room."""
    output.mkdir(parents=True, exist_ok=True)
    (output / SUMMARY).unlink(missing_ok=True)
    disk.require_room(output, PICTURES_BYTES, "for the pictures; name another folder: --output.")


def _clear_results(output: Path) -> None:
    """Remove the last demo's pictures, now that there will be new ones."""
    (output / PAGE).unlink(missing_ok=True)
    for name in ("renditions", "thumbnails"):
        shutil.rmtree(output / name, ignore_errors=True)


def _tell(outcome: Outcome, output: Path) -> bool:
    """Tell what was found, and return whether every promise was kept."""
    broken = broken_promises(outcome)
    report.write_summary(output / SUMMARY, outcome, broken)
    report.write_contact_sheet(output / PAGE, outcome)
    say(report.text(report.table(outcome)))
    if not outcome.worked_on:
        say("Nothing was paid: the ledger knew all jobs from an earlier demo.")
    elif not outcome.paid_again:
        say("The same brief, sent a second time, cost nothing.")
    say(f"Pictures: {output / PAGE}")
    for sentence in broken:
        print(f"Not as promised: {sentence}", file=sys.stderr, flush=True)
    return not broken


def say(sentence: str) -> None:
    """Tell the person at once, even through a pipe."""
    print(sentence, flush=True)


def _told(program: Callable[[], int], written: Path) -> int:
    """Run a program that writes to the folder *written*, and tell what stopped it."""
    try:
        return program()
    except FactoryError as error:
        cause = error.__context__
        if isinstance(error, StateLost) and isinstance(cause, FactoryError):
            print(cause, file=sys.stderr, flush=True)
        print(error, file=sys.stderr, flush=True)
        return 1
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        print(f"{written}: {error.strerror}. {disk.described(written)}.", file=sys.stderr)
        return 1


def _welcome(stack: Stack) -> str:
    url = stack.access.url
    return "\n".join(
        [
            "The local stack is up; Ctrl-C stops it.",
            f"  Pages      {_pages(stack)}",
            f"  Dagster    {url('dagster')}",
            f"  API docs   {url('api')}/openapi.json",
            f"  Twin       {url('twin')}/_twin/summary",
            f"  AWS        {url('aws')}",
            f"  Commands   . {shlex.quote(str(stack.folder.commands))}",
            f"  Tokens     {stack.folder.tokens}/<customer>",
            f"  Logs       {stack.folder.logs}",
        ]
    )


def _pages(stack: Stack) -> str:
    return f"{stack.access.url('api')}{PREFIX}/"


def _options(
    arguments: argparse.Namespace, project: Path, simulated: Simulated, *, state: Path
) -> Options:
    return Options(
        project=project,
        state=state,
        base=_environment(),
        ports=_ports(arguments.port),
        twin_options=simulated.twin_options,
        secrets=simulated.secrets,
        reset=arguments.reset,
        postgres=getattr(arguments, "postgres", False),
    )


def _environment() -> Mapping[str, str]:
    return dict(os.environ)  # noqa: TID251 - children inherit paths and locale from this process.


def _project(arguments: argparse.Namespace) -> Path:
    project = Path(arguments.project or Settings().project).resolve()
    require_project(project)
    return project


def _state(arguments: argparse.Namespace, project: Path) -> Path:
    return Path(arguments.state) if arguments.state else project / STATE


@dataclass(slots=True)
class _State:
    path: Path
    needed: bool = True
    """Until all went well: somebody has to read the logs."""


@contextmanager
def _state_for(arguments: argparse.Namespace, project: Path) -> Generator[_State]:
    """Yield the state folder; one that is used once is removed if it is not needed any more."""
    if not arguments.fresh:
        yield _State(_state(arguments, project))
        return
    state = _State(Path(tempfile.mkdtemp(prefix="fireflyassets-")))
    try:
        yield state
    finally:
        if state.needed:
            say(f"The logs are kept in {state.path / 'logs'}.")
        else:
            shutil.rmtree(state.path, ignore_errors=True)


def _ports(asked: Sequence[str]) -> dict[str, int]:
    ports: dict[str, int] = {}
    for each in asked:
        name, _, number = each.partition("=")
        if name not in LISTENERS or not number.isdecimal() or not 0 < int(number) <= LAST_PORT:
            raise UnusableConfiguration(
                f"--port {each} is not NAME=PORT with a name of {', '.join(LISTENERS)} and a port "
                f"from 1 to {LAST_PORT}."
            )
        ports[name] = int(number)
    return ports
