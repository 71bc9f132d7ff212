"""SIGKILLs from outside at drawn times, and what is to be seen of each.

Belongs here: the victims' life and death. Does not: judging; the victims' own code.
"""

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import psutil
from fence_books import Books, Kill, Row, Send, kind, name_of
from fence_project import Tenant, calls, end_tokens

WORKER = Path(__file__).with_name("fence_worker.py")
LONGEST_LIFE = 2.0
BUSY_SHARE, BUSY_WITHIN_SECONDS = 0.85, 15.0
TOKENS_END_SHARE = 0.1
WAVE_WITHIN_SECONDS = 60.0


@dataclass
class Ground:
    """Where the victims work, and the list of the dead."""

    books: Books
    twin: str
    environment: Mapping[str, str]
    logs: Path
    wanted: int
    kills: list[Kill] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_enough(self) -> bool:
        """Say whether as many have been killed as were wanted."""
        with self.lock:
            return len(self.kills) >= self.wanted


def see(ground: Ground, tenant: Tenant, run_id: str, *, by_daemon: bool, after: str = "") -> Kill:
    """Return what is to be seen of a process that was killed just now.

    The vendor's list is asked first, and only for what is behind the call *after*: what it accepts
    later, it accepted after the kill.
    """
    at = datetime.now(UTC)  # noqa: TID251 - the bench's own clock, here and below.
    arrived = {
        str(call["id"]): bool(call["accepted"])
        for call in calls(ground.twin, after=after)
        if call["organisation"] in {None, tenant.organisation}
    }
    jobs: list[tuple[Row, list[Row]]] = []
    died: set[Send] = set()
    for wave in ground.books.waves():
        if wave.get("runId") != run_id:
            continue
        for job in wave["jobs"]:
            row, work = ground.books.job(job, tenant.name), ground.books.work(job)
            died |= {name_of(one) for one in work if _is_in_flight(one, wave, row)}
            if row.get("wave") == wave["waveId"] and row["status"] == "running":
                jobs.append((row, work))
    return Kill(at, run_id, tenant.name, by_daemon, tenant.steps, jobs, arrived, died)


def _is_in_flight(one: Row, wave: Row, job: Row) -> bool:
    """Say whether a send had no answer; whoever gives its job back by itself has had one."""
    if kind(one) != "attempt" or one["wave"] != wave["waveId"] or one["state"] != "submitting":
        return False
    return job["status"] == "running" or job["epoch"] != one["epoch"]


class Hunter(threading.Thread):
    """Starts a bare worker for one tenant, kills it, looks, and starts the next."""

    def __init__(self, ground: Ground, tenant: Tenant, *, lease_only: bool, seed: int) -> None:
        super().__init__(name=tenant.name, daemon=True)
        self.ground = ground
        self.tenant = tenant
        self.lease_only = lease_only
        self.dice = random.Random(seed)  # noqa: S311 - times of death are no secret.
        self.failure: BaseException | None = None
        self.last = ""
        """The last call that had arrived when the last worker died."""

    def run(self) -> None:
        """Kill until enough are dead."""
        try:
            with Nest(self.ground, self.tenant, lease_only=self.lease_only) as nest:
                while not self.ground.is_enough():
                    self._one(nest)
        except BaseException as error:  # noqa: BLE001 - a thread's failure must reach the bench.
            self.failure = error

    def _one(self, nest: "Nest") -> None:
        run_id = nest.hatch()
        if run_id is None:
            nest.kill()
            return
        if self.dice.random() < BUSY_SHARE:
            self._wait_for_a_call()
        life = self.dice.uniform(0.0, LONGEST_LIFE)
        if self.dice.random() < TOKENS_END_SHARE:
            time.sleep(life)  # noqa: TID251 - real processes work meanwhile, here and below.
            end_tokens(self.ground.twin)
            life = self.dice.uniform(0.1, 1.0)
        time.sleep(life)  # noqa: TID251
        nest.kill()
        seen = see(self.ground, self.tenant, run_id, by_daemon=False, after=self.last)
        self.last = max(seen.arrived, default=self.last)
        with self.ground.lock:
            self.ground.kills.append(seen)

    def _wait_for_a_call(self) -> None:
        """Return once the worker's first submit has arrived at the vendor, or a while has passed.

        A slow machine spends a drawn life on starting; what is drawn then is a moment of work.
        """
        known = calls(self.ground.twin, after=self.last)
        last = str(known[-1]["id"]) if known else self.last
        until = time.monotonic() + BUSY_WITHIN_SECONDS
        while time.monotonic() < until:
            fresh = calls(self.ground.twin, after=last)
            if any(call["organisation"] == self.tenant.organisation for call in fresh):
                return
            time.sleep(0.1)  # noqa: TID251


class Nest:
    """Hatches one tenant's workers, one after the other."""

    def __init__(self, ground: Ground, tenant: Tenant, *, lease_only: bool) -> None:
        command = [sys.executable, str(WORKER), "nest", tenant.name]
        with (ground.logs / f"worker-{tenant.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *(["--lease-only"] if lease_only else [])],
                env=dict(ground.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._worker: psutil.Process | None = None

    def __enter__(self) -> Self:
        """Return the nest."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the worker, if one lives, and end the nest."""
        self.kill()
        self._process.communicate()

    def hatch(self) -> str | None:
        """Start a worker and return its run id once it works on a wave; None if none comes."""
        self._say("hatch")
        self._worker = psutil.Process(int(self._heard("worker")))
        timer = threading.Timer(WAVE_WITHIN_SECONDS, self.kill)
        timer.start()
        try:
            return self._heard("wave", until_death=True).split(" ")[-1] or None
        finally:
            timer.cancel()

    def start(self) -> None:
        """Start a worker that nobody kills."""
        self._say("hatch")
        self._worker = psutil.Process(int(self._heard("worker")))

    def kill(self) -> None:
        """SIGKILL the worker, and return when it is gone."""
        if self._worker is None:
            return
        with suppress(psutil.NoSuchProcess):
            self._worker.kill()
            self._worker.wait(timeout=10)

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def _heard(self, word: str, *, until_death: bool = False) -> str:
        """Return what follows *word* in a line; empty if the worker dies before it says so."""
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            ready, _, _ = select.select([stdout], [], [], 0.5)
            if ready:
                said, _, rest = stdout.readline().strip().partition(" ")
                if said == word:
                    return rest
            elif until_death and not (self._worker and self._worker.is_running()):
                return ""


def kill_runs(ground: Ground, tenants: Mapping[str, Tenant], state: Path) -> int:
    """SIGKILL every run worker of the daemon's stack; return how many were at work on a wave."""
    victims = [one for one in psutil.process_iter() if _is_run(one, state)]
    for victim in victims:
        os.kill(victim.pid, signal.SIGKILL)
    count = see_the_dead(ground, tenants, by_daemon=True) if victims else 0
    psutil.wait_procs(victims, timeout=10)
    return count


def see_the_dead(ground: Ground, tenants: Mapping[str, Tenant], *, by_daemon: bool) -> int:
    """Look at what was killed just now, when nothing is left alive that works on a wave.

    Whichever wave runs by its row and was not seen before has just died. There is no time to lose:
    what a victim held is somebody else's as soon as its lease is over.
    """
    known = {kill.run_id for kill in ground.kills}
    waves = [one for one in ground.books.waves() if one["state"] == "running"]
    fresh = [one for one in waves if one["runId"] not in known]
    for wave in fresh:
        seen = see(ground, tenants[wave["customer"]], wave["runId"], by_daemon=by_daemon)
        with ground.lock:
            ground.kills.append(seen)
    return len(fresh)


def _beats(wave: Mapping[str, object]) -> bool:
    return datetime.fromisoformat(str(wave["leaseUntil"])) > datetime.now(UTC)  # noqa: TID251


def _is_run(process: psutil.Process, state: Path) -> bool:
    """Say whether it is what the code server spawned for a run."""
    try:
        if process.environ().get("FIREFLYASSETS_STACK") != str(state):
            return False
        parent = process.parent()
        line = " ".join(process.cmdline())
        return (
            "spawn_main" in line
            and parent is not None
            and " api grpc" in " ".join(parent.cmdline())
        )
    except (psutil.Error, OSError):
        return False


def at_work(ground: Ground) -> int:
    """Return how many waves have sent something and beat."""
    known = {kill.run_id for kill in ground.kills}
    count = 0
    for wave in ground.books.waves():
        if wave["state"] == "running" and _beats(wave) and wave["runId"] not in known:
            work = [one for job in wave["jobs"][:2] for one in ground.books.work(job)]
            count += any(kind(one) == "attempt" for one in work)
    return count
