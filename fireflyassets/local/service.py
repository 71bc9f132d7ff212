"""One program of the stack: how it starts, when it is ready, how it ends.

Belongs here: a service as data, and the one process it has at a time. Does not: which services
there are (``services.py``), nor their order and supervision (``stack.py``).
"""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from fireflyassets.core.errors import ServiceDown

TAIL_LINES: Final = 15
TAIL_BYTES: Final = 16_384
LOOK_EVERY_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What to run, and how to see that it is up."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    log: Path
    ready: Callable[[], bool]
    start_within: timedelta = timedelta(seconds=90)
    stop_within: timedelta = timedelta(seconds=30)
    restarts: int = 0
    """How often it may be started again within ten minutes after it died."""
    stop_signal: signal.Signals = signal.SIGTERM
    whole_group: bool = False
    """Whether its children are asked to end with it, instead of being ended by it."""


class Running:
    """A service that was started."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._restarted: deque[float] = deque()
        keep_last(service.log)
        self._process = self._launch()

    @property
    def pid(self) -> int:
        """Return the process id, which is also the id of its process group."""
        return self._process.pid

    def wait_until_ready(self, *, meanwhile: Callable[[], None] | None = None) -> None:
        """Return once the service answers; *meanwhile* may find that others are gone and raise.

        Raises:
            ServiceDown: It ended, or did not answer in time.
        """
        limit = self.service.start_within.total_seconds()
        deadline = time.monotonic() + limit
        while not self.service.ready():
            (meanwhile or self.require_alive)()
            if time.monotonic() > deadline:
                raise ServiceDown(
                    f"{self.service.name} did not answer in {limit:.0f} s.{self._tail()}"
                )
            pause(LOOK_EVERY_SECONDS)

    def is_alive(self) -> bool:
        """Say whether the process runs."""
        return self._process.poll() is None

    def require_alive(self) -> None:
        """Return while the process runs.

        Raises:
            ServiceDown: It ended; the sentence names it and shows the end of its log.
        """
        code = self._process.poll()
        if code is not None:
            raise ServiceDown(f"{self.service.name} died ({_ending(code)}).{self._tail()}")

    def restart(self) -> bool:
        """Start a dead service again and return True; False when it died too often."""
        now = time.monotonic()
        while self._restarted and self._restarted[0] < now - 600:
            self._restarted.popleft()
        if len(self._restarted) >= self.service.restarts:
            return False
        self._restarted.append(now)
        self._process.wait()  # It is dead; this takes its entry out of the process table.
        self._process = self._launch()
        return True

    def renew(self) -> None:
        """End the process at once, but for its children, and start another in its place."""
        self._process.kill()
        self._process.wait()
        self._process = self._launch()

    def stop(self) -> None:
        """End the process and what is left of its group; force it only after its time."""
        self._ask()
        try:
            self._process.wait(timeout=self.service.stop_within.total_seconds())
        except subprocess.TimeoutExpired:
            _signal_group(self.pid, signal.SIGKILL)
            self._process.wait()

    def _ask(self) -> None:
        if self.service.whole_group:
            _signal_group(self.pid, self.service.stop_signal)
        elif self.is_alive():
            self._process.send_signal(self.service.stop_signal)

    def _launch(self) -> "subprocess.Popen[bytes]":
        with self.service.log.open("ab") as log:
            return subprocess.Popen(
                self.service.command,
                env=self.service.environment,
                cwd=self.service.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C reaches the launcher alone, which stops all in order.
                start_new_session=True,
            )

    def _tail(self) -> str:
        return f" Its log {self.service.log} ends:\n{last_lines(self.service.log)}"


def pause(seconds: float) -> None:
    """Wait in this thread; a signal's handler still runs in between."""
    threading.Event().wait(seconds)


def keep_last(log: Path) -> None:
    """Keep the log of the start before, so that a crash can still be read after a restart."""
    if log.exists():
        log.replace(log.with_suffix(".log.1"))


_WELL: Final = ('"level": "INFO"', '"level": "DEBUG"', "INFO:", " - INFO - ")


def last_lines(log: Path) -> str:
    """Return the end of a log, indented, without what only says that all went well."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"    (not readable: {error.strerror})"
    told = [line for line in text.splitlines() if not any(word in line for word in _WELL)]
    lines = told[-TAIL_LINES:] or ["(nothing that went wrong)"]
    return "\n".join(f"    {line}" for line in lines)


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return
