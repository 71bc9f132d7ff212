"""`make bench-scale`: one campaign of many jobs through the whole stack on Postgres.

Belongs here: the course, the figures in ``out/bench/scale.json`` and their bounds; where one is
missed it exits with 1. Does not: how figures are taken (``scale_meters.py``).

All jobs go in as briefs by HTTP; the real daemon forms and launches the waves. A job is one picture
by a recipe without layouts, small and drawn by the simulated Adobe, whose limits are low enough
that this machine holds the rate: the limiter is the bound, and is judged by that list of calls.
Growth compares the CPU of all processes, ended ones too, for each job of the last thousand with
that of the first (a quarter of all where there are fewer than four thousand).
"""

import argparse
import sys
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

import bench_project
import bench_stack
import dagster as dg
import httpx
from bench_figures import Bounds, concluded
from bench_stack import CAMPAIGN, CUSTOMER, Place
from scale_meters import Processes, disagreements, pages_s, queries_s, runs_of_waves, tick_p95_s

from fireflyassets.local import figures
from fireflyassets.local.books import read_books
from fireflyassets.local.service import pause

BOUNDS: Final[Bounds] = {
    "cpu_growth": ("<=", 1.15),
    "peak_rss_mb": ("<=", 500),
    "tick_p95_s": ("<=", 5.0),
    "disagreements": ("==", 0),
    "graphql_s_at_10k": ("<=", 2.0),
    "ui_page_s_at_10k": ("<=", 3.0),
    "limiter_use": (">=", 0.98),
}
"""What each figure must be."""
WINDOW: Final = 1_000
BRIEF: Final = 2_500
LOOK_SECONDS: Final = 5.0
PICTURE: Final = "1024x1024"
MOST_SECONDS_A_JOB: Final = 6.0


def main() -> int:
    """Run the campaign, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--per-minute", type=int, default=240, help="the organisation's limit")
    asked = parser.parse_args()
    with bench_stack.temporary() as root:
        project = bench_project.sample(
            root / "project", firefly=asked.per_minute, photoshop=asked.per_minute
        )
        _simplify(project)
        wanted = bench_stack.Wanted(project=project, postgres=True)
        with bench_stack.running(root, wanted) as place, bench_stack.instance(place) as instance:
            found = _run(place, instance, asked.jobs, per_minute=asked.per_minute)
    return concluded("scale", found, BOUNDS)


def _simplify(project: Path) -> None:
    """Let the campaign make pictures alone."""
    folder = project / "campaigns" / CUSTOMER / CAMPAIGN
    for path in folder.glob("*.psd"):
        path.unlink()
    (folder / "template.lock.json").unlink(missing_ok=True)
    said = {
        "customer": CUSTOMER,
        "campaign": CAMPAIGN,
        "title": "A large campaign",
        "credential": "acme-main",
        "locales": ["en-GB"],
        "aspects": [PICTURE],
        "templates": {},
        "recipe": {"steps": [{"name": "art", "kind": "generate", "size": PICTURE}]},
    }
    bench_project.put(folder / "campaign.yaml", said)


def _run(
    place: Place, instance: dg.DagsterInstance, jobs: int, *, per_minute: int
) -> dict[str, float]:
    processes = Processes(place)
    with place.door() as client:
        _send(client, jobs)
        marks = _wait(place, client, processes, jobs)
    calls = read_books(place.url("twin")).calls
    paced = Decimal(per_minute) * Decimal("0.8")
    use = figures.limiter_use(calls, paced_per_minute=paced)
    growth = _growth(marks, jobs)
    return {
        "jobs": jobs,
        "cpu_growth": round(growth, 3),
        "cpu_s_per_job": round(marks[-1][1] / jobs, 3),
        "peak_rss_mb": round(processes.peak_mb, 1),
        "tick_p95_s": round(tick_p95_s(place.url("dagster")), 2),
        "limiter_use": float(use or 0),
        "disagreements": disagreements(place, instance),
        "graphql_s_at_10k": round(max(queries_s(place.url("dagster"))), 2),
        "ui_page_s_at_10k": round(max(pages_s(place.url("dagster"))), 2),
        "runs": runs_of_waves(instance),
        "http_429": figures.throttled(calls),
    }


def _send(client: httpx.Client, jobs: int) -> None:
    for first in range(0, jobs, BRIEF):
        rows = "".join(
            f"job-{number},A glass of lemonade on a meadow {number},en-GB,Summer,{PICTURE}\n"
            for number in range(first, min(first + BRIEF, jobs))
        )
        bench_stack.send(client, CAMPAIGN, rows)


def _wait(
    place: Place, client: httpx.Client, processes: Processes, jobs: int
) -> list[tuple[int, float]]:
    """Return (jobs done, CPU seconds since the start) as time went on, until all are done."""
    deadline = time.monotonic() + 600 + jobs * MOST_SECONDS_A_JOB
    began, marks = processes.cpu_s(), list[tuple[int, float]]()
    while time.monotonic() < deadline:
        place.stack.insist()
        processes.look()
        counts: Mapping[str, int] = (
            client.get(f"/v1/campaigns/{CAMPAIGN}").raise_for_status().json()["byStatus"]
        )
        marks.append((counts["succeeded"], processes.cpu_s() - began))
        print(f"{counts['succeeded']} of {jobs}, {processes.peak_mb:.0f} MB", file=sys.stderr)
        if counts["succeeded"] == jobs:
            return marks
        pause(max(LOOK_SECONDS, jobs / 500))
    raise TimeoutError(f"{marks[-1][0]} of {jobs} jobs have ended.")


def _growth(marks: list[tuple[int, float]], jobs: int) -> float:
    window = min(WINDOW, jobs // 4)

    def cpu_at(done: int) -> float:
        """Return the CPU when so many were done, between two looks in proportion."""
        below = max(mark for mark in [(0, marks[0][1]), *marks] if mark[0] <= done)
        above = min(mark for mark in marks if mark[0] >= done)
        if above[0] == below[0]:
            return above[1]
        share = (done - below[0]) / (above[0] - below[0])
        return below[1] + share * (above[1] - below[1])

    return (cpu_at(jobs) - cpu_at(jobs - window)) / (cpu_at(window) - cpu_at(0))


if __name__ == "__main__":
    sys.exit(main())
