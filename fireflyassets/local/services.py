"""What the stack consists of: each service's command, and how one sees that it is up.

Belongs here: commands, readiness, phases. Does not: starting and watching (``stack.py``).
"""

import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Final

from fireflyassets.local import database, environment, keeping, readiness
from fireflyassets.local.access import HOST, Access
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.service import Service
from fireflyassets.local.stack import Phase, Task, run_to_its_end
from fireflyassets.settings import LogFormat

RESTARTS: Final = 5
"""Of what holds no state of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What the services are made from."""

    folder: StateFolder
    access: Access
    environment: Mapping[str, str]
    project: Path
    module: str
    """Dagster code location."""
    twin_options: tuple[str, ...] = ()
    postgres: bool = False
    """Whether Dagster's storage is a Postgres of the stack's own."""


def phases(composition: Composition) -> tuple[Phase, ...]:
    """Return the services in start order; they stop in the reverse one."""
    make = _Maker(composition)
    first: tuple[Phase, ...] = ()
    if composition.postgres:
        first = ((Task("database", make.database),), (make.postgres(),))
    return (
        *first,
        (make.aws(), make.twin(), Task("migration", make.migrate)),
        (Task("provisioning", make.provision),),
        (make.api(), make.code(), make.webhooks()),
        (make.webserver(), make.daemon()),
    )


class _Maker:
    def __init__(self, composition: Composition) -> None:
        self._made_of = composition
        self._ports = composition.access.ports

    def database(self) -> None:
        folder = self._made_of.folder.postgres
        if not database.is_made(folder):
            command = database.making(folder)
            run_to_its_end("database", self._service("database", command))

    def postgres(self) -> Service:
        port = self._ports["postgres"]
        command = database.serving(self._made_of.folder.postgres, port)
        made = self._service("postgres", command, database.answers(port))
        # By SIGTERM it would wait until all its clients have gone.
        return replace(made, stop_signal=signal.SIGINT)

    def aws(self) -> Service:
        folder = self._made_of.folder.aws
        return self._service(
            "aws",
            (_script("ministack"),),
            readiness.answers(f"{self._url('aws')}/_ministack/health"),
            # Saving seconds' worth of state is part of its stop.
            stop_within=timedelta(seconds=60),
            more={
                **environment.embedded_aws(self._ports["aws"]),
                "PERSIST_STATE": "1",
                "STATE_DIR": str(folder / "state"),
                "S3_PERSIST": "1",
                "S3_DATA_DIR": str(folder / "s3"),
            },
        )

    def twin(self) -> Service:
        return self._service(
            "twin",
            (
                *_python("fireflyassets.twin"),
                *("--host", HOST, "--port", str(self._ports["twin"])),
                *("--state", str(self._made_of.folder.twin / "journal.jsonl")),
                *self._made_of.twin_options,
            ),
            readiness.answers(f"{self._url('twin')}/_twin/health"),
        )

    def api(self) -> Service:
        return self._service(
            "api",
            (*_python("fireflyassets.api"), "--host", HOST, "--port", str(self._ports["api"])),
            readiness.answers(f"{self._url('api')}/health"),
        )

    def webhooks(self) -> Service:
        return self._service(
            "webhooks",
            (_script("fireflyassets"), "webhooks", "deliver"),
            restarts=RESTARTS,
        )

    def code(self) -> Service:
        port = self._ports["code"]
        return self._service(
            "code",
            (
                *(_script("dagster"), "api", "grpc", *self._logs(), "-h", HOST, "-p", str(port)),
                *("-m", self._made_of.module),
            ),
            readiness.accepts(port),
            restarts=RESTARTS,
            # Run workers are its children, and give their jobs back when they are asked to end.
            whole_group=True,
        )

    def webserver(self) -> Service:
        url = self._url("dagster")
        return self._service(
            "dagster",
            (
                *(_script("dagster-webserver"), *self._logs()),
                *("-h", HOST, "-p", str(self._ports["dagster"])),
                *("-w", str(self._made_of.project / "workspace.yaml")),
            ),
            readiness.has_loaded(url),
        )

    def daemon(self) -> Service:
        url = self._url("dagster")
        return self._service(
            "daemon",
            (
                *(_script("dagster-daemon"), "run", *self._logs()),
                *("-w", str(self._made_of.project / "workspace.yaml")),
            ),
            readiness.daemons_beat(url),
        )

    def migrate(self) -> None:
        """Write the instance's configuration and open its databases, alone.

        Two processes that open a fresh home together damage it: both migrate it.
        """
        home = self._made_of.folder.dagster_home
        shutil.copyfile(self._made_of.project / "dagster.yaml", home / "dagster.yaml")
        where = "-postgres" if environment.PG_URL in self._made_of.environment else ""
        done = home / f".migrated-{version('dagster')}{where}"
        if done.exists():
            name = "abandoned"  # Runs of a stack that was killed: no process carries them now.
            run_to_its_end(name, self._service(name, _python("fireflyassets.defs.runs")))
            return
        name = "migration"
        run_to_its_end(name, self._service(name, (_script("dagster"), "instance", "migrate")))
        done.touch()

    def provision(self) -> None:
        """Make tables, queues and the bucket once the embedded AWS answers.

        From then on it holds what only its stop will save.
        """
        name = "provisioning"
        run_to_its_end(name, self._service(name, _python("fireflyassets.local.provisioning")))
        keeping.mark(self._made_of.folder)

    def _logs(self) -> tuple[str, ...]:
        """Return the option that lets Dagster's lines look like ours; JSON has one line each."""
        form = self._made_of.environment.get("FIREFLYASSETS_LOG_FORMAT", LogFormat.JSON)
        return ("--log-format", "json") if form == LogFormat.JSON else ()

    def _url(self, name: str) -> str:
        return self._made_of.access.url(name)

    def _service(
        self,
        name: str,
        command: tuple[str, ...],
        ready: Callable[[], bool] = lambda: True,
        *,
        stop_within: timedelta = timedelta(seconds=30),
        restarts: int = 0,
        whole_group: bool = False,
        more: Mapping[str, str] | None = None,
    ) -> Service:
        return Service(
            name=name,
            command=command,
            environment={**self._made_of.environment, **(more or {})},
            cwd=self._made_of.folder.root,
            log=self._made_of.folder.logs / f"{name}.log",
            ready=ready,
            stop_within=stop_within,
            restarts=restarts,
            whole_group=whole_group,
        )


def _python(module: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module)


def _script(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
