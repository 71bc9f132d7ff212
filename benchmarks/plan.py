"""`make bench-plan`: a plan beside what became of it, and a large one timed.

Belongs here: the whole stack on a state of its own, 1,000 jobs planned, released and made at the
twin, the command on a CSV of 10,000 rows, and the bounds: where one is missed it exits with 1.
Does not: the project (``plan_project.py``). Figures go to ``out/bench/plan.json``.

The twin's speed shortens remote latency alone; the pace is wall time.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import bench_stack
import httpx
from bench_figures import Bounds, concluded
from bench_stack import Place
from PIL import Image
from plan_project import CAMPAIGN, CUSTOMER, PICTURED, brief, write

from fireflyassets.local.books import read_books
from fireflyassets.local.simulated import SPEED

JOBS, ROWS, REFERENCES = 1_000, 10_000, 100
PATIENCE = timedelta(minutes=40)
LOOK_SECONDS = 5.0
BOUNDS: Bounds = {
    "operations_error": ("<=", 0.05),
    "finish_error": ("<=", 0.20),
    "plan_10k_s": ("<", 10),
    "plan_10k_rss_mb": ("<", 300),
}
"""What each figure must be."""


@dataclass(frozen=True)
class Planner:
    """A running stack, and one customer's client."""

    client: httpx.Client
    place: Place

    @property
    def operations(self) -> Decimal:
        """Return what the vendor has billed."""
        return Decimal(read_books(self.place.url("twin")).operations)


def main() -> int:
    """Measure, write and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="jobs to make (%(default)s)")
    jobs: int = parser.parse_args().jobs
    with opened() as planner:
        figures = {**large(planner), **made(planner, jobs)}
    return concluded("plan", figures, BOUNDS)


@contextmanager
def opened() -> Generator[Planner]:
    """Start the whole stack on a project and a state of their own."""
    with bench_stack.temporary() as root:
        project = root / "project"
        write(project)
        wanted = bench_stack.Wanted(project=project, speed=SPEED)
        with bench_stack.running(root, wanted) as place, place.door(CUSTOMER) as client:
            yield Planner(client, place)


def made(planner: Planner, jobs: int) -> dict[str, float]:
    """Plan a brief, release it at once, and compare what became of it."""
    content = brief(jobs, "made").encode()
    before = planner.operations
    plan = post(planner, f"/v1/plans?campaign={CAMPAIGN}", content)
    print(f"Planned: {plan['operations']} operations, done by {plan['finishes'][0]['likely']}")
    released = planner.client.post(f"/v1/plans/{plan['token']}/release").raise_for_status().json()
    assert released["accepted"] == jobs
    standing = finished(planner)
    billed = planner.operations - before
    assert billed == Decimal(standing["operationsActual"]), (billed, standing)
    begun = at(standing["releasedAt"])
    took = (at(standing["finishActual"]) - begun).total_seconds()
    planned = (at(standing["finishPlanned"]) - begun).total_seconds()
    return {
        "operations_error": round(float(abs(billed - Decimal(plan["operations"])) / billed), 4),
        "finish_error": round(abs(took - planned) / took, 4),
        "jobs": jobs,
        "planned_s": planned,
        "actual_s": took,
        "operations": float(billed),
    }


def finished(planner: Planner) -> dict[str, str]:
    """Return how the plan stands once all of its jobs have ended."""
    until = time.monotonic() + PATIENCE.total_seconds()
    told = 0
    while time.monotonic() < until:
        planner.place.stack.watch()
        answer = planner.client.get(f"/v1/campaigns/{CAMPAIGN}/plan").raise_for_status().json()
        standing = answer["plan"]
        if standing["finishActual"]:
            return standing
        if standing["jobsEnded"] >= told + 100:
            told = standing["jobsEnded"]
            print(f"{told} of {standing['jobs']} jobs have ended", flush=True)
        time.sleep(LOOK_SECONDS)  # noqa: TID251 - real processes work meanwhile.
    raise SystemExit("The jobs did not end in time.")


def large(planner: Planner) -> dict[str, float]:
    """Let the command plan a large brief, and return its time and its most memory."""
    names = [upload(planner, number) for number in range(REFERENCES)]
    path = planner.place.root / "large.csv"
    path.write_text(brief(ROWS, "large", names), encoding="utf-8")
    program = Path(sys.executable).with_name("fireflyassets")
    slug = f"{CUSTOMER}/{PICTURED}"
    command = [str(program), "plan", str(path), "--campaign", slug, "--json"]
    began = time.perf_counter()
    with (planner.place.root / "plan.json").open("wb") as answer:
        child = subprocess.Popen(command, env=dict(planner.place.variables), stdout=answer)
        _, status, used = os.wait4(child.pid, 0)
    took = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    told = json.loads((planner.place.root / "plan.json").read_text(encoding="utf-8"))
    assert (child.returncode, told["jobs"], told["refused"]) == (0, ROWS, 0), told["problems"][:3]
    return {"plan_10k_s": round(took, 2), "plan_10k_rss_mb": round(used.ru_maxrss / 1024, 1)}


def upload(planner: Planner, number: int) -> str:
    """Send a picture of its own and return its name."""
    target = io.BytesIO()
    Image.new("RGB", (640, 640), (number, 255 - number, 90)).save(target, "JPEG")
    answer = planner.client.post(
        "/v1/references", content=target.getvalue(), headers={"Content-Type": "image/jpeg"}
    )
    return str(answer.raise_for_status().json()["reference"])


def post(planner: Planner, path: str, content: bytes) -> dict[str, Any]:
    """Send a CSV and return the answer."""
    headers = {"Content-Type": "text/csv"}
    return planner.client.post(path, content=content, headers=headers).raise_for_status().json()


def at(text: str) -> datetime:
    """Return the instant that an answer names."""
    return datetime.fromisoformat(text)


if __name__ == "__main__":
    sys.exit(main())
