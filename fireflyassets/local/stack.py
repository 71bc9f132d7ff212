"""The stack as a whole: start in order, watch, stop in reverse.

Belongs here: order, supervision and the promise that nothing is left behind. Does not: what the
services are (``services.py``), nor how one of them is started and ended (``service.py``).
"""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

from fireflyassets.core.errors import ServiceDown
from fireflyassets.local import disk, processes
from fireflyassets.local.access import Access
from fireflyassets.local.folder import LEAST_BYTES, StateFolder
from fireflyassets.local.service import Running, Service, last_lines

LEFTOVER_SECONDS: Final = 10.0

Say = Callable[[str], None]


class Interrupted(SystemExit):
    """A person or the system asked the launcher to stop; the code is the shell's for the signal."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that must be done between two groups of services."""

    name: str
    run: Callable[[], None]


Phase = tuple[Service | Task, ...]
"""Services that start side by side; tasks run while they start."""


class Stack:
    """The services that were started, in that order."""

    def __init__(
        self, folder: StateFolder, access: Access, say: Say, *, least_bytes: int = LEAST_BYTES
    ) -> None:
        self.folder = folder
        self.access = access
        self._say = say
        self._least_bytes = least_bytes
        self._running: list[Running] = []

    def start(self, phases: tuple[Phase, ...]) -> None:
        """Start each phase and wait until all of it answers.

        Raises:
            ServiceDown: One did not start; the caller stops the rest.
        """
        _hear_interrupts()
        began = time.monotonic()

        def told(name: str) -> None:
            self._say(f"{time.monotonic() - began:5.0f} s  {name}")

        for phase in phases:
            before = len(self._running)
            told(f"starting {', '.join(item.name for item in phase)}")
            for item in phase:
                if isinstance(item, Service):
                    self._running.append(Running(item))
            for item in phase:
                if isinstance(item, Task):
                    item.run()
            for running in self._running[before:]:
                running.wait_until_ready(meanwhile=self.insist)
                told(f"{running.service.name} is up")

    def insist(self) -> None:
        """Return while all services live and the disk has room; nothing is started again.

        Raises:
            ServiceDown: A service died; the sentence names it and shows the end of its log.
            DiskFull: There is just enough room left to save the state in a stop now.
        """
        for running in self._running:
            running.require_alive()
        self._require_room()

    def watch(self) -> None:
        """Look after the services once: start again what may be, and insist on the rest.

        Raises:
            ServiceDown: A service died; the sentence names it and shows the end of its log.
            DiskFull: There is just enough room left to save the state in a stop now.
        """
        self._require_room()
        for running in self._running:
            if running.is_alive():
                continue
            name = running.service.name
            tail = last_lines(running.service.log)
            if not running.restart():
                running.require_alive()
            self._say(f"{name} died and was started again. Its log ended:\n{tail}")

    def _require_room(self) -> None:
        disk.require_room(
            self.folder.root, self._least_bytes, "to go on; the stack stops while it can be saved."
        )

    def renew(self, name: str) -> None:
        """Replace a service by a new process; what the old one has started goes on.

        Raises:
            ServiceDown: The new one did not start.
        """
        running = self._named(name)
        running.renew()
        running.wait_until_ready(meanwhile=self.insist)

    def pid(self, name: str) -> int:
        """Return the process id of a service."""
        return self._named(name).pid

    def _named(self, name: str) -> Running:
        return next(each for each in self._running if each.service.name == name)

    def stop(self) -> None:
        """End all services, the last one first, and whatever they left behind."""
        while self._running:
            self._running.pop().stop()
        left = processes.of_stack(self.folder.root)
        processes.end(left, patience_seconds=LEFTOVER_SECONDS)


@contextmanager
def stopped_at_the_end(stack: Stack) -> Generator[Stack]:
    """Stop *stack* whatever happens, and let nothing interrupt the stop."""
    try:
        yield stack
    finally:
        with _deaf():
            stack.stop()


@contextmanager
def interruptible() -> Generator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into `Interrupted`, so that everything unwinds.

    A handler, not a blocked signal: children inherit blocked signals and could not be stopped.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        for each in _heard():
            signal.signal(each, _ignore)
        raise Interrupted(128 + number)

    with _handled(leave):
        yield


def run_to_its_end(name: str, service: Service) -> None:
    """Run a program that ends by itself, with its output in its log.

    Raises:
        ServiceDown: It failed.
    """
    with service.log.open("wb") as log:
        answer = subprocess.run(
            service.command,
            env=service.environment,
            cwd=service.cwd,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=service.start_within.total_seconds(),
            check=False,
        )
    if answer.returncode != 0:
        raise ServiceDown(
            f"{name} failed (exit code {answer.returncode}). Its log {service.log} ends:\n"
            f"{last_lines(service.log)}"
        )


def _hear_interrupts() -> None:
    """Undo an ignored SIGINT (a job in a shell's background has one): children inherit it.

    Dagster's code server then copies it to SIGTERM and can't be stopped but by force.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _ignore)


@contextmanager
def _deaf() -> Generator[None]:
    with _handled(_ignore):
        yield


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Generator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread may set handlers, and only it is interrupted by them.
        return
    before = {number: signal.signal(number, handler) for number in _heard()}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _heard() -> tuple[signal.Signals, ...]:
    """Return the signals that stop the stack; a closed terminal does, except under nohup."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return (signal.SIGINT, signal.SIGTERM)
    return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the stop that runs is what was asked for."""
