"""The chaos bench's harm: what befalls processes, the vendor and AWS, and when.

Belongs here: scripted faults, the storm, kills by id, the proxy's bad time, the watch that dies
with the daemon. Does not: customers and operators (``chaos_crowd.py``).
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Self

import httpx
from bench_place import Place
from chaos_alarms import PERIOD, is_storm
from chaos_plan import BURST, FAULTS, STORMY, TENANTS, Plan
from chaos_proxy import PEACE, Harm, Proxy
from fence_books import when
from fence_kills import at_work, kill_runs
from fence_project import calls

BAD_TIME = Harm(throttled=0.03, conflict=0.03, unheard=0.01, slow=0.05, busy=0.03)
STORM = timedelta(seconds=120)
"""How long the storm lasts at most; it ends once somebody has to be called for it."""
BLIND = 8 * PERIOD
"""How long daemon and watch stay dead."""
_WATCH = Path(__file__).with_name("chaos_watch.py")


class Harms:
    """Does it all, a step with each tick."""

    def __init__(self, place: Place, plan: Plan, proxy: Proxy, *, kills: bool) -> None:
        self._place = place
        self._proxy = proxy
        self._does_kill = kills
        self._dice = random.Random(plan.seed + 1)  # noqa: S311 - times of death are no secret.
        self._tenants = {tenant.name: tenant for tenant in TENANTS}
        self._stormy = [self._tenants[name].organisation for name in STORMY]
        self._watch: subprocess.Popen[bytes] | None = None
        self._storm: list[str] = []
        self._first_refusal = 0.0
        self._todo: list[tuple[float, Callable[[], bool]]] = []
        """At which part of the jobs at rest something is done."""
        self._progress = 0.0
        self._kills = {"runs": 0, "code": 0, "daemon": 0}

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._open_eyes()
        return self

    def __exit__(self, *_: object) -> None:
        """End the watch."""
        self._close_eyes()

    def begin_storm(self) -> None:
        """Let the vendor tell some organisations to come again, whatever they ask."""
        twin = self._place.ground.twin
        storm = [
            {
                "when": {"endpoint": "generate", "organisation": one},
                "then": {"kind": "storm", "retry_after": "1"},
            }
            for one in self._stormy
        ]
        told = httpx.post(f"{twin}/_twin/faults", json=storm, trust_env=False).raise_for_status()
        self._storm = [one["id"] for one in told.json()["faults"]]
        self._todo = [(0.0, self._calm_down)]

    def begin(self) -> None:
        """Script the vendor's other faults, and set when all else is due."""
        twin = self._place.ground.twin
        scripted = [one for fault in (*FAULTS, BURST) if (one := fault.scripted())]
        httpx.post(f"{twin}/_twin/faults", json=scripted, trust_env=False).raise_for_status()
        draw = self._dice.uniform
        if not self._does_kill:
            return
        self._todo = [
            (draw(0.0, 0.02), self._bad_time),
            (draw(0.04, 0.10), self._kill_runs),
            (draw(0.25, 0.30), self._kill_code),
            (draw(0.45, 0.50), self._kill_daemon),
            (draw(0.65, 0.70), self._kill_runs),
            (draw(0.80, 0.85), self._good_time),
        ]

    def tick(self, progress: float) -> None:
        """Do what is due once that part of the jobs has ended; what can't be done waits.

        By progress and not by the clock: a busy machine is not killed faster than it works.
        """
        self._progress = progress
        for one in list(self._todo):
            due, act = one
            if progress >= due and act():
                self._todo.remove(one)

    def are_done(self) -> bool:
        """Say whether all harm was done."""
        return not self._todo

    def end(self) -> None:
        """Lift everything."""
        self._proxy.harm = PEACE
        url = f"{self._place.ground.twin}/_twin/faults"
        httpx.delete(url, trust_env=False).raise_for_status()

    def figures(self) -> dict[str, float]:
        """Return how much harm was done."""
        return {
            **{f"kills_{name}": count for name, count in self._kills.items()},
            **{f"aws_{name}": count for name, count in sorted(self._proxy.done.items())},
        }

    def _bad_time(self) -> bool:
        self._proxy.harm = BAD_TIME
        return True

    def _good_time(self) -> bool:
        self._proxy.harm = PEACE
        return True

    def _calm_down(self) -> bool:
        """End the storm once somebody has to be called for it, or it was too long for anybody."""
        refused = [
            when(str(one["at"]))
            for one in calls(self._place.ground.twin)
            if one["organisation"] in self._stormy and one["status"] == 429
        ]
        if not refused:
            return False
        self._first_refusal = self._first_refusal or time.monotonic()
        lasted = time.monotonic() - self._first_refusal
        if not is_storm(refused) and lasted < STORM.total_seconds():
            return False
        for one in self._storm:
            url = f"{self._place.ground.twin}/_twin/faults/{one}"
            httpx.delete(url, trust_env=False).raise_for_status()
        return True

    def _kill_runs(self) -> bool:
        """Kill every run once one is at work."""
        ground = self._place.ground
        if not at_work(ground):
            return self._progress >= 1  # None is left to kill.
        self._kills["runs"] += kill_runs(ground, self._tenants, self._place.stack.folder.root)
        return True

    def _kill_code(self) -> bool:
        self._kill("code")
        return True

    def _kill_daemon(self) -> bool:
        """Kill the daemon, and with it whoever measures; nobody is there for a while."""
        self._close_eyes()
        self._kill("daemon")
        time.sleep(BLIND.total_seconds())  # noqa: TID251 - that is the point.
        self._place.stack.watch()
        self._open_eyes()
        return True

    def _kill(self, name: str) -> None:
        os.kill(self._place.stack.pid(name), signal.SIGKILL)
        self._kills[name] += 1

    def _open_eyes(self) -> None:
        with (self._place.ground.logs / "watch.log").open("ab") as log:
            self._watch = subprocess.Popen(
                [sys.executable, str(_WATCH)],
                env=dict(self._place.variables),
                stdout=log,
                stderr=log,
            )

    def _close_eyes(self) -> None:
        if self._watch is not None:
            self._watch.kill()
            self._watch.wait()
            self._watch = None
