"""The real services, started as a person starts them. Slow: each start takes many seconds."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import httpx
import psutil
import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.local import processes

pytestmark = [pytest.mark.stack, pytest.mark.whole]

PROJECT = Path(__file__).parents[2]
STOP_SECONDS = 120
URL = re.compile(r"http://127\.0\.0\.1:\d+")


def command(state: Path, name: str, *words: str) -> list[str | Path]:
    """Return the command line of `fireflyassets NAME` on *state*."""
    program = Path(sys.executable).with_name("fireflyassets")
    return [program, name, "--project", PROJECT, "--state", state, *words]


@contextmanager
def started(state: Path, name: str, *words: str) -> "Iterator[subprocess.Popen[str]]":
    """Run a command on *state*; whatever the test does, nothing of it is left at the end."""
    process = subprocess.Popen(  # noqa: S603 - our own program.
        command(state, name, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        processes.end(processes.of_stack(state), patience_seconds=STOP_SECONDS)


def lines_until(process: "subprocess.Popen[str]", last: str) -> list[str]:
    """Return what the process says up to the line that starts with *last*."""
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line.strip())
        if said[-1].startswith(last):
            return said
    pytest.fail("\n".join([*said, process.stderr.read() if process.stderr else ""]))


def urls(said: list[str]) -> list[str]:
    """Return the URLs in what a stack says of itself: pages, Dagster, API, twin, AWS."""
    return URL.findall("\n".join(said))


def foreign_doors(state: Path) -> list[str]:
    """Return where the stack listens beside this machine's own address."""
    return [
        f"{each.name()} {door.laddr.ip}:{door.laddr.port}"
        for each in processes.of_stack(state)
        for door in each.net_connections("tcp")
        if door.status == psutil.CONN_LISTEN
        and door.laddr.ip.removeprefix("::ffff:") != "127.0.0.1"
    ]


def signed_in(pages: str) -> str:
    """Click through the sign-in of the stack, and return the page that one comes to."""
    with httpx.Client(follow_redirects=True) as browser:
        asked = browser.get(f"{pages}{PREFIX}/")
        (query,) = re.findall(r'href="(\?[^"]*customer=acme&amp;role=Operator)"', asked.text)
        return browser.get(f"{asked.url.copy_with(query=None)}{unescape(query)}").text


def kill_service(state: Path, word: str) -> None:
    """Kill the process whose command line holds *word*, as the kernel does when memory is out."""
    (found,) = [
        each for each in processes.of_stack(state) if word in each.cmdline() and each.ppid() != 1
    ]
    found.send_signal(signal.SIGKILL)


def test_stack_starts_refuses_a_second_stops_and_comes_back(tmp_path: Path) -> None:
    """Ctrl-C leaves no process, the ports stay, and a service that dies in a demo is named.

    Even the code server, which `up` would start again. The demo does not wait for jobs that nobody
    works on any more.
    """
    state = tmp_path / "state"
    with started(state, "up") as up:
        first = urls(lines_until(up, "Logs"))
        foreign = foreign_doors(state)
        answers = [httpx.get(f"{first[0]}/health"), httpx.get(f"{first[1]}/server_info")]
        shown = signed_in(first[0])
        second = subprocess.run(  # noqa: S603 - our own program.
            command(state, "up"), capture_output=True, text=True, check=False
        )
        up.send_signal(signal.SIGINT)
        said, complaint = up.communicate(timeout=STOP_SECONDS)
        left = processes.of_stack(state)
    with started(state, "demo", "--output", str(tmp_path / "out")) as demo:
        lines_until(demo, "Sent ")
        after = json.loads((state / "lock").read_bytes())
        kill_service(state, "grpc")
        death = demo.communicate(timeout=STOP_SECONDS)[1]

    assert foreign == []
    assert [answer.status_code for answer in answers] == [200, 200]
    assert "<h1>Campaigns</h1>" in shown
    assert "Spring launch" in shown
    assert second.returncode == 1
    assert re.fullmatch(
        f"A stack is already running on {state} \\(process {up.pid}, {first[1]}\\); .*\n",
        second.stderr,
    )
    assert (up.returncode, complaint) == (0, "")
    assert said.strip() == f"Stopped; the state is kept in {state}."
    assert left == []
    assert after == {"process": demo.pid, "url": first[1]}
    assert demo.returncode == 1
    assert death.startswith("code died (signal SIGKILL). Its log ")
    assert processes.of_stack(state) == []
    assert not (tmp_path / "out" / "index.html").exists()
