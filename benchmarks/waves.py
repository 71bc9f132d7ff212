"""`make bench-waves`: what a job costs in a wave and as a run of its own, in one run of the bench.

Belongs here: the figures in ``out/bench/waves.json`` and their bounds; where one is missed it exits
with 1. Does not: the location that is driven (``waves_location.py``).

Both kinds of run go the same way: a sensor of the location asks, Dagster's daemon makes, queues and
launches the run, its process works under ``in_process_executor`` and writes to the same Postgres.
Counted is the CPU of all of that: daemon, webserver, code server and the runs' processes with their
imports, from the request to the end, divided by the jobs. Taken off are what the same processes use
in the same time with nothing to do, and what a run needs to make the ledger in memory that stands
in for ours. Postgres's own CPU is printed beside it. The stages are the product's, over ports in
memory: their part is counted, that of HTTP, AWS and large pictures is not there.
"""

import argparse
import json
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import bench_stack
import dagster as dg
import psycopg2
from bench_figures import Bounds, concluded
from bench_project import PROJECT
from bench_stack import Place
from waves_location import (
    COUNT_TAG,
    FIRST_TAG,
    FOLDER,
    PARTITIONED_TAG,
    new_floor,
    ordered,
)

from fireflyassets.core import ids
from fireflyassets.defs import names
from fireflyassets.local import database
from fireflyassets.local.service import pause
from fireflyassets_tests.defs.location import CAMPAIGN, CUSTOMER

NEEDED = {"database", "postgres", "migration", "code", "dagster", "daemon"}
DAGSTERS = ("code", "dagster", "daemon")
BOUNDS: Bounds = {
    "cpu_ms_per_job": ("<=", 15.0),
    "cpu_ratio_to_run_per_job": (">=", 300.0),
    "event_rows_per_job": ("<=", 10.0),
}
"""What each figure must be."""
PATIENCE_SECONDS = 900.0


@dataclass(frozen=True)
class Cost:
    """What some runs took."""

    jobs: int
    runs: int
    cpu_s: float
    postgres_cpu_s: float
    wall_s: float
    rows: int

    @property
    def cpu_ms(self) -> float:
        """Return the CPU of a job."""
        return 1_000 * self.cpu_s / self.jobs

    def line(self, name: str) -> str:
        """Return a row of the table."""
        return (
            f"{name:28}{self.runs:>6}{self.jobs:>7}{self.cpu_ms:>14.1f}"
            f"{1_000 * self.postgres_cpu_s / self.jobs:>16.1f}{self.rows / self.jobs:>14.2f}"
            f"{self.wall_s:>9.1f}"
        )


class Bench:
    """A part of the stack that runs, and its meters."""

    def __init__(self, place: Place, instance: dg.DagsterInstance, files: Path) -> None:
        self._place = place
        self._instance = instance
        self._files = files
        self._idle = 0.0
        self._asked = 0

    def settle(self, seconds: float) -> float:
        """Return the CPU that the processes use in a second without work; later costs lack it."""
        began, used = time.monotonic(), self._place.cpu_s(*DAGSTERS)
        pause(seconds)
        self._idle = (self._place.cpu_s(*DAGSTERS) - used) / (time.monotonic() - began)
        return self._idle

    def run(self, ranges: Sequence[tuple[int, int]], *, partitioned: bool = False) -> Cost:
        """Let one run work on each (first, count) of jobs; return what all of them took."""
        self._asked += 1
        waves = [self._tags(first, count, partitioned=partitioned) for first, count in ranges]
        began = time.monotonic()
        used, by_postgres = self._place.cpu_s(*DAGSTERS), self._place.cpu_s("postgres")
        fresh = self._files / "fresh.json"
        fresh.write_text(json.dumps(waves), encoding="utf-8")
        fresh.rename(self._files / "wanted.json")
        done = self._wait([tags[names.WAVE_TAG] for tags in waves])
        pause(2.0)  # The processes have ended, and are counted with who started them.
        wall = time.monotonic() - began
        used = self._place.cpu_s(*DAGSTERS) - used - self._idle * wall
        told = [json.loads((self._files / f"{run}.json").read_text()) for run in done]
        return Cost(
            jobs=sum(count for _, count in ranges),
            runs=len(done),
            cpu_s=used - sum(float(one["setup_s"]) for one in told),
            postgres_cpu_s=self._place.cpu_s("postgres") - by_postgres,
            wall_s=wall,
            rows=self._rows(done),
        )

    def _tags(self, first: int, count: int, *, partitioned: bool) -> dict[str, str]:
        """Add the jobs' partitions, as the dispatcher does, and return the tags of their run."""
        jobs = ordered(new_floor(), first, count)
        self._instance.add_dynamic_partitions(ids.partitions_name(CUSTOMER, CAMPAIGN), jobs)
        return {
            names.WAVE_TAG: f"w-{self._asked}-{first}",
            names.CUSTOMER_TAG: CUSTOMER,
            names.CAMPAIGN_TAG: CAMPAIGN,
            names.JOBS_TAG: str(count),
            names.RANGE_START_TAG: jobs[0],
            names.RANGE_END_TAG: jobs[-1],
            FIRST_TAG: str(first),
            COUNT_TAG: str(count),
            PARTITIONED_TAG: "yes" if partitioned else "no",
        }

    def _wait(self, waves: Sequence[str]) -> list[str]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self._place.stack.insist()
            runs = [
                run
                for wave in waves
                for run in self._instance.get_runs(dg.RunsFilter(tags={names.WAVE_TAG: wave}))
            ]
            if len(runs) == len(waves) and all(run.is_finished for run in runs):
                assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}, runs
                return [run.run_id for run in runs]
            pause(1.0)
        raise TimeoutError(f"{waves[:3]} and so on did not end.")

    def _rows(self, runs: Sequence[str]) -> int:
        with psycopg2.connect(
            database.url(self._place.stack.access.ports["postgres"])
        ) as connection:
            cursor = connection.cursor()
            cursor.execute("select count(*) from event_logs where run_id = any(%s)", (list(runs),))
            (events,) = cast("tuple[int]", cursor.fetchone())
            cursor.execute(
                "select count(*) from asset_check_executions where run_id = any(%s)", (list(runs),)
            )
            (checks,) = cast("tuple[int]", cursor.fetchone())
        connection.close()
        return events + checks


@contextmanager
def opened(module: str) -> Generator[Bench]:
    """Start Postgres and Dagster on a state of their own."""
    with bench_stack.temporary() as root:
        files = root / "files"
        files.mkdir()
        settings = {
            FOLDER: str(files),
            "PYTHONPATH": f"{PROJECT / 'benchmarks'}:{PROJECT}",
            "FIREFLYASSETS_METRICS_NAMESPACE": "",
        }
        wanted = bench_stack.Wanted(module=module, only=NEEDED, postgres=True, settings=settings)
        with bench_stack.running(root, wanted) as place, bench_stack.instance(place) as instance:
            yield Bench(place, instance, files)


def main() -> int:
    """Measure, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="jobs of a wave")
    parser.add_argument("--singles", type=int, default=8, help="runs of one job")
    asked = parser.parse_args()
    half = asked.singles // 2
    with opened("waves_location") as bench:
        bench.run([(0, 1)])  # Everything is imported and compiled once.
        idle = bench.settle(30.0)
        one = [(first, 1) for first in range(1, asked.singles + 1)]
        before = bench.run(one[:half])
        wave = bench.run([(0, asked.jobs)])
        partitioned = bench.run([(0, asked.jobs)], partitioned=True)
        after = bench.run(one[half:])
    single_ms = (before.cpu_s + after.cpu_s) / (before.jobs + after.jobs) * 1_000
    figures = {
        "cpu_ms_per_job": round(wave.cpu_ms, 2),
        "cpu_ratio_to_run_per_job": round(single_ms / wave.cpu_ms, 1),
        "event_rows_per_job": round(wave.rows / wave.jobs, 3),
        "run_per_job_cpu_ms": round(single_ms, 1),
        "partitioned_cpu_ms_per_job": round(partitioned.cpu_ms, 2),
        "partitioned_event_rows_per_job": round(partitioned.rows / partitioned.jobs, 3),
        "jobs": wave.jobs,
    }
    head = f"{'':28}{'runs':>6}{'jobs':>7}{'CPU ms/job':>14}{'Postgres ms/job':>16}"
    print(f"{head}{'rows/job':>14}{'wall s':>9}")
    print(before.line("one run per job"))
    print(wave.line("wave, summary checks"))
    print(partitioned.line("wave, partitioned checks"))
    print(after.line("one run per job, again"))
    print(f"Idle, and taken off: {1_000 * idle:.0f} CPU ms a second.")
    return concluded("waves", figures, BOUNDS)


if __name__ == "__main__":
    sys.exit(main())
