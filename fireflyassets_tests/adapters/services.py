"""Local services of one test's own, to be stopped, killed and started again.

Here: a process on a loopback port and what a test may do to it. Not here: services that a session
shares (`conftest`).
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fireflyassets_tests.conftest import (
    HOST,
    accepts,
    answers,
    free_port,
    start,
    stop,
    wait_until_up,
)


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
def own_ministack() -> Iterator[Service]:
    """Yield an embedded AWS."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="ms") as folder:
        environment = {
            "PATH": os.defpath,
            "TMPDIR": folder,
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "GATEWAY_PORT": str(port),
            "BIND_HOST": HOST,
            "LOG_LEVEL": "WARNING",
        }
        program = str(Path(sys.executable).with_name("ministack"))
        health = f"http://{HOST}:{port}/_ministack/health"
        yield from _running(Service([program], environment, folder, port, lambda: answers(health)))


def _running(service: Service) -> Iterator[Service]:
    try:
        yield service
    finally:
        service.stop()
