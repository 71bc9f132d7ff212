"""Local services that tests start: programs on free loopback ports, ended by their process id.

Here: a process, what a test may do to it, and the services with nothing in them. Not here: services
that a session shares (`conftest`).
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local import database
from fireflyassets.local.access import HOST
from fireflyassets.local.environment import embedded_aws

START_ATTEMPTS = 600  # of 0.1 s: a busy two-core machine needs several seconds.
STOP_SECONDS = 30.0  # Stopping saves state first, which takes seconds when there is much of it.


@dataclass
class Service:
    """A program that serves a port; it keeps the port over a restart, and nothing else."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    port: int
    is_up: Callable[[], bool]
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start it, and wait until it answers."""
        self.process = start(self.command, environment=self.environment, folder=self.folder)
        wait_until_up(self.process, self.is_up)

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End it for good, even if it stands."""
        self.process.send_signal(signal.SIGCONT)
        stop(self.process)


@contextmanager
def own_redis() -> Iterator[Service]:
    """Yield a Redis server without persistence."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("Tests marked `full` need the Debian package redis-server.")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rd") as folder:
        command = [program, "--port", str(port), "--bind", HOST, "--dir", folder]
        command += ["--save", "", "--appendonly", "no"]
        yield from _running(
            Service(command, {"PATH": os.defpath}, folder, port, lambda: accepts(port))
        )


@contextmanager
def own_postgres() -> Iterator[str]:
    """Yield the URL of a Postgres with nothing in it."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        Path(folder).chmod(0o755)  # Its user must get in.
        place, environment = Path(folder, "database"), {"PATH": os.defpath, "TMPDIR": folder}
        try:
            making = database.making(place)
        except UnusableConfiguration as lacking:
            pytest.fail(str(lacking))
        subprocess.run(making, env=environment, cwd=folder, check=True, capture_output=True)  # noqa: S603 - as below.
        command = list(database.serving(place, port))
        service = Service(command, environment, folder, port, database.answers(port))
        try:
            yield database.url(port)
        finally:
            service.signal(signal.SIGINT)  # Else it waits for clients that hold connections.
            service.stop()


@contextmanager
def own_ministack() -> Iterator[Service]:
    """Yield an embedded AWS."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="ms") as folder:
        environment = {
            "PATH": os.defpath,
            "TMPDIR": folder,
            **embedded_aws(port),
        }
        program = str(Path(sys.executable).with_name("ministack"))
        health = f"http://{HOST}:{port}/_ministack/health"
        yield from _running(Service([program], environment, folder, port, lambda: answers(health)))


def _running(service: Service) -> Iterator[Service]:
    try:
        yield service
    finally:
        service.stop()


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def start(
    command: list[str], *, environment: dict[str, str], folder: str
) -> subprocess.Popen[bytes]:
    """Start *command*; its output goes to a file in *folder*, so that a full pipe blocks nobody."""
    with Path(folder, "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 - the command is built above, from our own parts.
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )


def wait_until_up(process: subprocess.Popen[bytes], is_up: Callable[[], bool]) -> None:
    """Return once *is_up*; fail when the process ends or takes a minute."""
    for _ in range(START_ATTEMPTS):
        if is_up():
            return
        try:
            code = process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"{process.args!r} ended with code {code} instead of starting.")
    pytest.fail(f"{process.args!r} did not answer within a minute.")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the process we started, by its id; force it only if it does not follow."""
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    """Say whether *url* answers 200."""
    try:
        with urlopen(url, timeout=1.0) as response:  # noqa: S310 - a loopback URL built here.
            return response.status == 200
    except (URLError, ConnectionError, TimeoutError):
        return False


def accepts(port: int) -> bool:
    """Say whether something listens on the loopback *port*."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
