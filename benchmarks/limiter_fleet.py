"""Four processes of sixteen threads that call as often as a limiter lets them.

Here: starting the stores, the processes and their threads, and reading their logs. Not here: the
limiters (`limiter_rivals`) and the report (`limiter`).
"""

import json
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fireflyassets.local.access import HOST
from fireflyassets.local.environment import embedded_aws

PROCESSES, THREADS = 4, 16
PACED_PER_MINUTE = 480  # 600 a minute less the headroom of 20 %.


class Contender(Protocol):
    """One process's limiter; threads call `acquire`."""

    @property
    def writes(self) -> int:
        """Conditional writes so far; zero where the store is not ours to count."""
        ...

    @property
    def reads(self) -> int:
        """Reads so far."""
        ...

    def acquire(self, stop: threading.Event) -> int | None:
        """Wait for the right to call; return the ticket's number if there is one, else -1.

        Returns None when *stop* was set first.
        """
        ...

    def close(self) -> None:
        """Let go of threads and connections."""
        ...


class MakeContender(Protocol):
    """Makes a process's limiter; must be importable by name in a new process."""

    def __call__(self, run: "Run") -> Contender:
        """Make it."""
        ...


@dataclass(frozen=True)
class Run:
    """One run of the fleet; *starts_at* is an instant in ns, *folder* gets one log per process."""

    make: MakeContender
    dynamodb: str
    redis_port: int
    item: str
    weight: int
    seconds: float
    starts_at: int
    folder: str


@dataclass(frozen=True)
class Outcome:
    """What a run did; counts of calls, operations on the store, and lost ticket numbers."""

    calls: int
    utilisation: float
    duplicate_tickets: int
    missing_tickets: int
    max_per_second: int
    max_per_minute: int
    writes_per_grant: float
    reads_per_grant: float


@contextmanager
def stores() -> Generator[tuple[str, int]]:
    """Start ministack and Redis on free ports; yield the endpoint and the port."""
    with tempfile.TemporaryDirectory(prefix="lb") as folder:
        port, redis_port = free_port(), free_port()
        environment = {
            "PATH": os.defpath,
            "TMPDIR": folder,
            **embedded_aws(port),
            "LOG_LEVEL": "ERROR",  # The table stands alone.
        }
        program = Path(sys.executable).with_name("ministack")
        redis = shutil.which("redis-server") or "redis-server"
        commands = [
            [str(program)],
            [redis, "--port", str(redis_port), "--bind", HOST, "--dir", folder, "--save", ""],
        ]
        started = [
            subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
            for command in commands
        ]
        try:
            for each in (port, redis_port):
                wait_for(each)
            yield f"http://{HOST}:{port}", redis_port
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(timeout=30)


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    """Wait until something listens on *port*."""
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        threading.Event().wait(0.1)
    raise TimeoutError(f"Nothing listens on port {port}.")


def fly(run: Run, *, kill_after: float | None = None) -> Outcome:
    """Run the fleet; *kill_after* seconds one process dies without a word."""
    context = multiprocessing.get_context("spawn")
    fleet = [context.Process(target=work, args=(run, n)) for n in range(PROCESSES)]
    for process in fleet:
        process.start()
    if kill_after is not None:
        wait_until(run.starts_at + int(kill_after * 1e9), threading.Event())
        fleet[0].kill()
    for process in fleet:
        process.join()
    return read_logs(run)


def work(run: Run, number: int) -> None:
    """Be one process: sixteen threads, one limiter, one log line for each call."""
    limiter = run.make(run)
    stop, lock = threading.Event(), threading.Lock()
    with Path(run.folder, f"{number}.jsonl").open("w", buffering=1) as log:

        def call() -> None:
            wait_until(run.starts_at, stop)
            while not stop.is_set():
                ticket = limiter.acquire(stop)
                if ticket is None:
                    return
                with lock:
                    log.write(json.dumps([time.time_ns(), ticket]) + "\n")

        threads = [threading.Thread(target=call) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        wait_until(run.starts_at + int(run.seconds * 1e9), threading.Event())
        stop.set()
        for thread in threads:
            thread.join()
        log.write(json.dumps({"writes": limiter.writes, "reads": limiter.reads}) + "\n")
    limiter.close()


def wait_until(at: int, stop: threading.Event) -> None:
    """Wait until the instant *at* in ns, or until *stop*."""
    stop.wait(max(0.0, (at - time.time_ns()) / 1e9))


def read_logs(run: Run) -> Outcome:
    """Sum up what the processes wrote; a killed one leaves no counts."""
    calls: list[list[int]] = []
    counts: list[dict[str, int]] = []
    for log in sorted(Path(run.folder).glob("*.jsonl")):
        for line in log.read_text().splitlines():
            (calls if line.startswith("[") else counts).append(json.loads(line))
    calls.sort()
    times = [at / 1e9 for at, _ in calls]
    tickets = [ticket for _, ticket in calls if ticket >= 0]
    within = [at for at in times if at <= run.starts_at / 1e9 + run.seconds]
    # The first second is the start: processes race for the first tickets.
    settled = [ticket for at, ticket in calls if at > run.starts_at + 1e9 and ticket >= 0]
    span = set(range(min(settled), max(settled) + 1)) if settled else set[int]()
    return Outcome(
        calls=len(calls),
        utilisation=round(len(within) / (run.seconds * PACED_PER_MINUTE / 60), 4),
        duplicate_tickets=len(tickets) - len(set(tickets)),
        missing_tickets=len(span - set(tickets)),
        max_per_second=most_within(times, 1.0),
        max_per_minute=most_within(times, 60.0),
        writes_per_grant=round(sum(each["writes"] for each in counts) / len(calls), 3),
        reads_per_grant=round(sum(each["reads"] for each in counts) / len(calls), 3),
    )


def most_within(times: Sequence[float], window: float) -> int:
    """Return the most of the sorted *times* that any *window* holds."""
    return max((bisect_right(times, at + window) - n for n, at in enumerate(times)), default=0)
