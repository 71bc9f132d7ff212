"""`make bench-fence`: kill the process that holds the sockets 200 times, then compare two books.

Belongs here: the order of things and the figures in ``out/bench/fence.json``. Does not: killing
(``fence_kills.py``), judging (``fence_judge.py``), what the workers do (``fence_worker.py``).

``--mutant`` runs a smaller bench against a copy of the package with a planted fault; the judge
must find it, so that the exit code is 0 only if it did.
"""

import argparse
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bench_figures
from bench_mutants import planted
from bench_place import Place, running
from fence_books import Books, when
from fence_judge import WINDOWS, Judge, Verdict
from fence_kills import Hunter, Nest, at_work, kill_runs, see_the_dead
from fence_project import TENANTS, TOKENS, Tenant, calls, set_faults, settings
from fence_worker import prompt

FIGURES = bench_figures.FOLDER / "fence.json"
LEAST_KILLS, LEAST_JOBS, LEAST_IN_WINDOW = 200, 300, 20
ROUND_SECONDS, REST_SECONDS, MUTANT_REST_SECONDS, LOOK_SECONDS = 180.0, 1800.0, 240.0, 3.0
RESTING = timedelta(minutes=20)
FIRST = 2
"""Phases that bare processes need: AWS with its tables, and the simulated Adobe."""
MUTANTS = {
    # The vendor's id is written only as long as the lease covers another submit.
    "lease": (
        "fence/protocol.py",
        "        await self.offload(\n            self.ledger.accept_attempt,",
        (
            "        if not self.lease.covers(self.submit_timeout, now=self.clock.now()):\n"
            "            return attempt\n"
            "        await self.offload(\n            self.ledger.accept_attempt,"
        ),
    ),
    # A lost answer is taken for a refusal.
    "resubmit": (
        "fence/protocol.py",
        "return await self.collector.close(attempt, AttemptState.LOST, call.heard(fault))",
        "return await self.collector.close(attempt, AttemptState.REFUSED, call.heard(fault))",
    ),
}


@dataclass(frozen=True)
class Plan:
    """How large a bench is."""

    tenants: tuple[Tenant, ...]
    jobs: int  # Of each tenant.
    bare_kills: int
    daemon_kills: int
    rest_seconds: float = REST_SECONDS
    evidence: Path | None = None
    """Where both books are kept as the judge read them."""


def main() -> int:
    """Run the bench, or a mutant's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutant", choices=sorted(MUTANTS))
    parser.add_argument("--bare-kills", type=int, default=172)
    parser.add_argument("--daemon-kills", type=int, default=32)
    parser.add_argument("--jobs", type=int, default=190, help="of each of the tenants")
    parser.add_argument("--evidence", type=Path, help="file to keep both books in")
    said = parser.parse_args()
    if said.mutant:
        return _mutant(said.mutant)
    plan = Plan(TENANTS, said.jobs, said.bare_kills, said.daemon_kills, evidence=said.evidence)
    verdict = _bench(plan, {})
    bench_figures.write(FIGURES, verdict.figures)
    broken = [*_broken(verdict), *_too_little(verdict.figures)]
    _tell(verdict, broken)
    return 1 if broken else 0


def _mutant(name: str) -> int:
    """Return 0 if the judge finds the planted fault."""
    with planted(name, MUTANTS[name]) as root:
        verdict = _bench(Plan(TENANTS[:4], 40, 24, 0, MUTANT_REST_SECONDS), {"PYTHONPATH": root})
    # Jobs that a mutant leaves unfinished do not tell it; what is paid and not named does.
    found = ("silent_double_payments", "unexplained_billed")
    broken = [sentence for sentence in _broken(verdict) if sentence.endswith(found)]
    _tell(verdict, broken)
    print(f"Mutant {name}: {'found' if broken else 'NOT FOUND'}.")
    return 0 if broken else 1


def _bench(plan: Plan, more: Mapping[str, str]) -> Verdict:
    said = {**settings(), **more}
    with running(plan.tenants, said, TOKENS, first=FIRST, kills=plan.bare_kills) as place:
        twin = place.ground.twin
        begun = time.monotonic()
        for tenant in plan.tenants:
            _load(place, tenant, plan.jobs)
        _say(begun, f"{plan.jobs * len(plan.tenants)} jobs recorded")
        set_faults(twin)
        _hunt_bare(place, plan)
        _say(begun, f"{len(place.ground.kills)} bare processes killed")
        if plan.daemon_kills:
            place.stack.start(place.waiting)
            _hunt_runs(place, plan)
            _say(begun, f"{len(place.ground.kills)} killed, runs of the daemon included")
        rested = _rest(place, plan)
        _say(begun, "everything rests" if rested else "NOT everything rests: time is over")
        billed = calls(twin)
        _pause(LOOK_SECONDS)  # What was answered by then is written down by now.
        judge = Judge(place.ground.books, billed, place.ground.kills, prompt)
        if plan.evidence is not None:
            plan.evidence.write_bytes(pickle.dumps(judge))
        return judge.judge()


def _load(place: Place, tenant: Tenant, jobs: int) -> None:
    worker = Path(__file__).with_name("fence_worker.py")
    command = [sys.executable, str(worker), "load", tenant.name, "--jobs", str(jobs)]
    subprocess.run(command, env=dict(place.variables), check=True)


def _hunt_bare(place: Place, plan: Plan) -> None:
    place.ground.wanted = plan.bare_kills
    hunters = [
        Hunter(place.ground, tenant, lease_only=not seed % 2, seed=seed)
        for seed, tenant in enumerate(plan.tenants)
    ]
    for hunter in hunters:
        hunter.start()
    for hunter in hunters:
        while hunter.is_alive():
            hunter.join(30)
            print(f"          {len(place.ground.kills)} killed so far", flush=True)
        if hunter.failure is not None:
            raise hunter.failure


def _hunt_runs(place: Place, plan: Plan) -> None:
    tenants = {tenant.name: tenant for tenant in plan.tenants}
    ground, killed = place.ground, 0
    while killed < plan.daemon_kills:
        until = time.monotonic() + ROUND_SECONDS
        while not at_work(ground):
            if time.monotonic() > until:
                print("No run came to work in time: the jobs are used up.", flush=True)
                return
            _pause(0.3)
        _pause(len(ground.kills) % 5 * 0.4)
        killed += kill_runs(ground, tenants, place.stack.folder.root)
        print(f"          {killed} runs killed so far", flush=True)


def _rest(place: Place, plan: Plan) -> bool:
    """Let everything go on until nothing is left that it could do; say whether it came to that.

    Bare workers help: jobs that were killed often go one by one, and a run takes long to start.
    """
    until = time.monotonic() + plan.rest_seconds
    with ExitStack() as nests:
        for tenant in plan.tenants:
            nests.enter_context(Nest(place.ground, tenant, lease_only=True)).start()
        while not (rested := _rests(place.ground.books)) and time.monotonic() < until:
            place.stack.watch()
            _pause(LOOK_SECONDS)
    see_the_dead(place.ground, {tenant.name: tenant for tenant in plan.tenants}, by_daemon=False)
    return rested


def _rests(books: Books) -> bool:
    """Say whether each job has ended, is held, or waits for its own key; and no id is open."""
    later = datetime.now(UTC) + RESTING  # noqa: TID251 - the bench's own clock.
    for row in books.all("jobs"):
        waits = "hold" in row or ("notBefore" in row and when(row["notBefore"]) > later)
        if row["status"] == "running" or (row["status"] == "queued" and not waits):
            return False
    return not any(one.get("state") == "accepted" and "open" in one for one in books.all("work"))


def _broken(verdict: Verdict) -> list[str]:
    names = ("jobs_lost", "silent_double_payments", "unexplained_billed")
    broken = [f"{verdict.figures[name]} {name}" for name in names if verdict.figures[name]]
    return [*broken, *([f"{verdict.misstated} misstated"] if verdict.misstated else [])]


def _too_little(figures: Mapping[str, int]) -> list[str]:
    least = {"kills": LEAST_KILLS, "jobs": LEAST_JOBS}
    least |= {f"kills_{name}": LEAST_IN_WINDOW for name in WINDOWS}
    return [
        f"only {figures[name]} {name}" for name, count in least.items() if figures[name] < count
    ]


def _tell(verdict: Verdict, broken: list[str]) -> None:
    for name, value in verdict.figures.items():
        print(f"{name:24}{value}")
    print(f"operation rows by cause: {verdict.causes}")
    print(f"jobs by end: {verdict.ends}")
    for sentence in [*verdict.faults[:10], *broken]:
        print(f"Not as promised: {sentence}", file=sys.stderr)


def _pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251 - real processes work meanwhile.


def _say(begun: float, sentence: str) -> None:
    print(f"{time.monotonic() - begun:6.0f} s  {sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
