"""The whole: reverse order, nothing left behind, and the dead are named."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fireflyassets.core.errors import ServiceDown
from fireflyassets.local import processes
from fireflyassets.local.access import Access
from fireflyassets.local.disk import DiskFull
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.stack import Stack, Task, run_to_its_end, stopped_at_the_end
from fireflyassets_tests.local.programs import (
    DYING,
    DYING_LATER,
    SLEEPER,
    WITH_RUNAWAY,
    kill,
    says,
    service,
)

LOUD = (
    "import signal, sys\n"
    "def leave(*_):\n"
    "    open('order', 'a').write(sys.argv[-1] + ' '); sys.exit(0)\n"
    "signal.signal(signal.SIGTERM, leave); print('up', flush=True); signal.pause()\n"
)
LAUNCHER = """
import signal, sys
from pathlib import Path
from fireflyassets.local.access import Access
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.service import pause
from fireflyassets.local.stack import Stack, interruptible, stopped_at_the_end
from fireflyassets_tests.local.programs import WITH_RUNAWAY, says, service
folder = Path(sys.argv[1])
if sys.argv[2:] != ["nohup"]:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # Whoever runs the tests may ignore it.
stack = Stack(StateFolder(folder), Access({}, {}), lambda _: None)
with interruptible(), stopped_at_the_end(stack) as it:
    it.start(((service(folder, WITH_RUNAWAY, ready=says(folder / "one.log", "ran away")),),))
    print("up", flush=True)
    while True:
        it.watch()
        pause(0.1)
"""


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(StateFolder(tmp_path), Access({}, {}), lambda _: None)


def test_services_stop_in_the_reverse_of_their_start(stack: Stack, tmp_path: Path) -> None:
    """What others need stops last: a run worker can still give its jobs back."""
    code = {name: LOUD.replace("sys.argv[-1]", repr(name)) for name in ("aws", "api", "daemon")}
    phases = tuple(
        (service(tmp_path, text, name=name, ready=says(tmp_path / f"{name}.log", "up")),)
        for name, text in code.items()
    )
    with stopped_at_the_end(stack):
        stack.start(phases)

    assert (tmp_path / "order").read_text().split() == ["daemon", "api", "aws"]


def test_nothing_is_left_even_of_children_that_ran_away(stack: Stack, tmp_path: Path) -> None:
    with stopped_at_the_end(stack):
        stack.start(
            ((service(tmp_path, WITH_RUNAWAY, ready=says(tmp_path / "one.log", "ran away")),),)
        )
        during = len(processes.of_stack(tmp_path))

    assert during == 2
    assert processes.of_stack(tmp_path) == []


def test_failed_start_stops_what_had_started(stack: Stack, tmp_path: Path) -> None:
    phases = (
        (service(tmp_path, SLEEPER, name="aws"),),
        (service(tmp_path, DYING, name="twin", ready=lambda: False),),
    )
    with stopped_at_the_end(stack), pytest.raises(ServiceDown, match="twin died"):
        stack.start(phases)

    assert processes.of_stack(tmp_path) == []


def test_service_that_dies_later_is_named(stack: Stack, tmp_path: Path) -> None:
    with stopped_at_the_end(stack):
        stack.start(((service(tmp_path, SLEEPER, name="api"),),))
        stack.watch()
        kill(stack.pid("api"))

        with pytest.raises(ServiceDown, match=r"api died \(signal SIGKILL\)"):
            stack.watch()


def test_service_that_dies_while_another_starts_is_the_one_named(
    stack: Stack, tmp_path: Path
) -> None:
    """The webserver would wait for the code server for ever, and be blamed for it."""
    phases = (
        (service(tmp_path, DYING_LATER, name="code"),),
        (service(tmp_path, SLEEPER, name="dagster", ready=lambda: False),),
    )
    with stopped_at_the_end(stack), pytest.raises(ServiceDown, match=r"^code died \(exit code 3"):
        stack.start(phases)


def test_insisting_starts_nothing_again(tmp_path: Path) -> None:
    """In a demo even a service that may be started again has died, and is named."""
    said: list[str] = []
    stack = Stack(StateFolder(tmp_path), Access({}, {}), said.append)
    with stopped_at_the_end(stack):
        stack.start(((service(tmp_path, SLEEPER, name="code", restarts=1),),))
        stack.insist()
        kill(stack.pid("code"))

        with pytest.raises(ServiceDown, match=r"code died \(signal SIGKILL\)"):
            stack.insist()


@pytest.mark.parametrize("look", [Stack.watch, Stack.insist])
def test_disk_that_fills_up_stops_the_stack_in_time(
    tmp_path: Path, look: Callable[[Stack], None]
) -> None:
    """While the state can still be saved; nobody waits for jobs that can't be written."""
    stack = Stack(StateFolder(tmp_path), Access({}, {}), lambda _: None, least_bytes=10**18)

    with pytest.raises(DiskFull, match=r"^The disk at /.* MB free, and .* are needed to go on"):
        look(stack)


def test_each_step_of_a_start_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    stack = Stack(StateFolder(tmp_path), Access({}, {}), said.append)
    phases = (
        (service(tmp_path, SLEEPER, name="aws"), Task("migration", lambda: None)),
        (service(tmp_path, SLEEPER, name="api"),),
    )
    with stopped_at_the_end(stack):
        stack.start(phases)

    assert [line.partition(" s  ")[2] for line in said] == [
        "starting aws, migration",
        "aws is up",
        "starting api",
        "api is up",
    ]


def test_code_server_that_dies_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    stack = Stack(StateFolder(tmp_path), Access({}, {}), said.append)
    with stopped_at_the_end(stack):
        stack.start(((service(tmp_path, SLEEPER, name="code", restarts=1),),))
        first = stack.pid("code")
        kill(first)
        stack.watch()
        second = stack.pid("code")

    assert first != second
    assert said[-1].startswith("code died and was started again.")


def test_tasks_run_between_start_and_readiness(stack: Stack, tmp_path: Path) -> None:
    done: list[int] = []
    phase = (service(tmp_path, SLEEPER), Task("note", lambda: done.append(stack.pid("one"))))
    with stopped_at_the_end(stack):
        stack.start((phase,))

    assert len(done) == 1


def test_task_that_fails_is_named_with_its_log(tmp_path: Path) -> None:
    with pytest.raises(ServiceDown, match=r"(?s)migration failed \(exit code 3\).*the last words"):
        run_to_its_end("migration", service(tmp_path, DYING, name="migration"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_to_the_launcher_stops_everything(tmp_path: Path, number: signal.Signals) -> None:
    """Also a closed terminal, and where the shell had made SIGINT ignored as for its jobs."""
    launcher = _launcher(tmp_path)
    during = processes.of_stack(tmp_path)
    launcher.send_signal(number)

    assert launcher.wait(timeout=60) == 128 + number
    assert len(during) == 2
    assert processes.of_stack(tmp_path) == []


def test_closed_terminal_does_not_stop_a_launcher_under_nohup(tmp_path: Path) -> None:
    launcher = _launcher(tmp_path, "nohup", ignored="INT HUP")
    launcher.send_signal(signal.SIGHUP)
    launcher.send_signal(signal.SIGTERM)

    assert launcher.wait(timeout=60) == 128 + signal.SIGTERM


def test_killed_launcher_leaves_marked_processes_that_can_be_ended(tmp_path: Path) -> None:
    launcher = _launcher(tmp_path)
    launcher.kill()
    launcher.wait()
    left = processes.of_stack(tmp_path)

    assert processes.end(left, patience_seconds=30) == 2
    assert processes.of_stack(tmp_path) == []


def test_memory_counts_each_process(stack: Stack, tmp_path: Path) -> None:
    with stopped_at_the_end(stack):
        stack.start(((service(tmp_path, WITH_RUNAWAY, ready=says(tmp_path / "one.log", "ran")),),))
        found = processes.of_stack(tmp_path)
        alone = [processes.memory_bytes([each]) for each in found]

        assert min(alone) > 1_000_000
        assert processes.memory_bytes(found) >= max(alone)


def _launcher(folder: Path, *words: str, ignored: str = "INT") -> "subprocess.Popen[str]":
    # As a background job of a shell: with SIGINT ignored.
    command = f'trap "" {ignored}; exec "$0" "$@"'
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and text.
        ["/bin/sh", "-c", command, sys.executable, "-c", LAUNCHER, str(folder), *words],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},  # noqa: TID251 - the child needs this test's environment.
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.stdout.close()
    return process
