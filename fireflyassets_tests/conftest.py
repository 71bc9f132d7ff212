"""Real local services that tests of several folders share.

Here: fixtures that start a program on a free loopback port and stop it by its process id. Not here:
fakes of our ports, which ship with the package, and fixtures that only one folder needs.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

HOST = "127.0.0.1"
START_ATTEMPTS = 600  # of 0.1 s: a busy two-core machine needs several seconds.
STOP_SECONDS = 30.0  # Stopping saves state first, which takes seconds when there is much of it.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest: a worker that came to them last would leave the other one idle."""
    items.sort(key=lambda item: item.get_closest_marker("whole") is None)


@pytest.fixture(scope="session")
def ministack() -> Iterator[str]:
    """Yield the endpoint URL of an embedded AWS, started once for the session.

    The state is shared by all tests: name tables, queues and buckets uniquely, or reset it with
    ``POST /_ministack/reset``.
    """
    port = free_port()
    # Short: the service puts sockets here, and a socket's path must stay under 108 bytes.
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
        program = Path(sys.executable).with_name("ministack")
        url = f"http://{HOST}:{port}"
        process = start([str(program)], environment=environment, folder=folder)
        try:
            wait_until_up(process, lambda: answers(f"{url}/_ministack/health"))
            yield url
        finally:
            stop(process)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Yield the URL of a real Redis server, started once for the session, without persistence."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("Tests marked `full` need the Debian package redis-server.")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rd") as folder:
        command = [program, "--port", str(port), "--bind", HOST, "--dir", folder]
        command += ["--save", "", "--appendonly", "no"]
        process = start(command, environment={"PATH": os.defpath}, folder=folder)
        try:
            wait_until_up(process, lambda: accepts(port))
            yield f"redis://{HOST}:{port}/0"
        finally:
            stop(process)


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
