"""`make bench-aws-calls`: what a job of three aspects asks of AWS, and what that costs.

Belongs here: a batch through the whole stack, the figures in ``out/bench/aws-calls.json`` and their
bounds; where one is missed it exits with 1. Does not: counting (``metered_aws.py``), which is done
at the embedded AWS and so for every process, retries included.

The stack asks AWS for something with no job there, too: sensors tick, metrics are gathered. That is
measured first, for a while, printed as what an hour costs, and taken off by time. Costs are those
of requests, at list prices that are dated data; storage and transfer are not in them.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

import bench_project
import bench_stack
from bench_figures import Bounds, concluded
from bench_stack import CAMPAIGN, Place

from fireflyassets.local.service import pause

PRICES = Path(__file__).with_name("aws_prices.json")
ASPECTS = "1080x1080|1080x1920|1920x1080"
PATIENCE_SECONDS: Final = 1_500.0
BOUNDS: Final[Bounds] = {
    "dynamodb_requests_per_job": ("<=", 22.0),
    "dynamodb_write_units_per_job": ("<=", 60.0),
    "sqs_requests_per_job": ("<=", 1.0),
}
"""What each figure must be."""
LINES: Final = 40


class Door:
    """The customer's side of the stack, and the meter's file."""

    def __init__(self, place: Place, meter: Path) -> None:
        self._place = place
        self._meter = meter
        self._client = place.door()

    def counts(self) -> Counter[str]:
        """Return what has been counted up to a second ago."""
        pause(1.0)
        return Counter(json.loads(self._meter.read_text(encoding="utf-8")))

    def send(self, jobs: int) -> None:
        """Send a brief of so many jobs."""
        rows = "".join(
            f"job-{number},A glass of lemonade on a meadow,en-GB,Summer,{ASPECTS}\n"
            for number in range(jobs)
        )
        bench_stack.send(self._client, CAMPAIGN, rows)

    def wait(self, jobs: int) -> None:
        """Return once all jobs have succeeded."""
        done, deadline = 0, time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self._place.stack.insist()
            answer = self._client.get(f"/v1/campaigns/{CAMPAIGN}").raise_for_status().json()
            done = answer["byStatus"]["succeeded"]
            print(f"{done} of {jobs}: {answer['byStatus']}", file=sys.stderr, flush=True)
            if done == jobs:
                return
            pause(20.0)
        raise TimeoutError(f"{done} of {jobs} jobs have ended.")


def main() -> int:
    """Measure, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=120)
    parser.add_argument("--idle", type=float, default=60.0, help="seconds without a job")
    asked = parser.parse_args()
    with bench_stack.temporary() as root:
        meter = root / "meter.json"
        wanted = bench_stack.Wanted(
            project=bench_project.sample(root / "project", firefly=600, photoshop=1_200),
            change=bench_stack.metered(meter),
        )
        with bench_stack.running(root, wanted) as place:
            door = Door(place, meter)
            pause(15.0)
            began, before = time.monotonic(), door.counts()
            pause(asked.idle)
            idle, idle_s = door.counts() - before, time.monotonic() - began
            began, before = time.monotonic(), door.counts()
            door.send(asked.jobs)
            door.wait(asked.jobs)
            # What nobody hears of is passed over half a minute later, and belongs to the jobs.
            pause(40.0)
            spent, spent_s = door.counts() - before, time.monotonic() - began
    share = spent_s / idle_s
    each = {
        name: max(0.0, count - idle[name] * share) / asked.jobs for name, count in spent.items()
    }
    standing = {name: count * 3_600 / idle_s for name, count in idle.items()}
    figures = {
        "dynamodb_requests_per_job": _sum(each, "requests dynamodb"),
        "dynamodb_write_units_per_job": _sum(each, "write_units") + _sum(each, "index_units"),
        "sqs_requests_per_job": _sum(each, "requests sqs"),
        "s3_requests_per_job": _sum(each, "requests s3"),
        "usd_per_1000_jobs": 1_000 * _usd(each),
        "usd_per_idle_hour": _usd(standing),
    }
    figures = {name: round(value, 3) for name, value in figures.items()} | {"jobs": asked.jobs}
    _table(each)
    return concluded("aws-calls", figures, BOUNDS)


def _sum(counts: Mapping[str, float], prefix: str) -> float:
    return sum(count for name, count in counts.items() if name.startswith(f"{prefix} "))


def _usd(counts: Mapping[str, float]) -> float:
    said = json.loads(PRICES.read_text(encoding="utf-8"))["usd_per_million"]
    price = {name: float(Decimal(usd)) / 1e6 for name, usd in said.items()}
    puts = ("requests s3 PUT", "requests s3 POST", "requests s3 LIST")
    written = sum(counts.get(name, 0.0) for name in puts)
    return (
        (_sum(counts, "write_units") + _sum(counts, "index_units")) * price["dynamodb_write_unit"]
        + _sum(counts, "read_units") * price["dynamodb_read_unit"]
        + _sum(counts, "requests sqs") * price["sqs_request"]
        + written * price["s3_put"]
        + (_sum(counts, "requests s3") - written) * price["s3_get"]
    )


def _table(each: Mapping[str, float]) -> None:
    """Print where it goes, the largest first, each line for one job."""
    names = [name for name in each if name.startswith("requests ")]
    rows: list[tuple[float, str]] = []
    for name in names:
        label = name.removeprefix("requests ").removeprefix("dynamodb ")
        parts = [f"{kind} {label}" for kind in ("write_units", "index_units", "read_units")]
        found = [each.get(part, 0.0) for part in parts]
        mine = {name: each[name], **dict(zip(parts, found, strict=True))}
        usd = 1_000 * _usd(mine)
        line = f"{each[name]:>9.2f}{found[0]:>8.2f}{found[1]:>8.2f}{found[2]:>8.2f}{usd:>9.4f}"
        rows.append((usd, f"{line}  {label}"))
    print(f"{'requests':>9}{'write':>8}{'index':>8}{'read':>8}{'$/1000':>9}")
    for usd, line in sorted(rows, reverse=True)[:LINES]:
        if usd > 0:
            print(line)


if __name__ == "__main__":
    sys.exit(main())
