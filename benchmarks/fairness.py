"""`make bench-fairness`: one tenant with 5,000 jobs beside nine with 20, on the real local stack.

Belongs here: its project, the order of things, the figures in ``out/bench/fairness.json`` and
their bounds: where one is missed it exits with 1. Does not: deciding whose turn it is, which is
the stack's own sensors, daemon, runs and limiter. Figures are the ended times of the ledger.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import bench_project
import bench_stack
import psutil
import yaml
from bench_figures import Bounds, concluded
from bench_stack import Place, Wanted

from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.core.status import Status
from fireflyassets.local.simulated import SPEED
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HEAVY, LIGHT = "heavy", tuple(f"light-{n}" for n in range(1, 10))
CAMPAIGN, CREDENTIAL, ORGANISATION = "bench", "shared", "SHARED@AdobeOrg"
HEAVY_JOBS, LIGHT_JOBS = 5_000, 20
PACED_PER_MINUTE = 40
NOMINAL_PER_MINUTE = 50
"""Calls are paced to 80 % of it."""
IDEAL_S = 60 * (LIGHT_JOBS * (len(LIGHT) + 1)) / PACED_PER_MINUTE
"""The nine and a fair tenth for the heavy one."""
BOUNDS: Bounds = {"light_tenants_ratio": ("<=", 1.2), "last_ratio": ("<=", 1.4)}
RUNS, RUN_BYTES, REST_BYTES = 12, 250_000_000, 2_000_000_000
GIVE_UP_AFTER_S = 4 * IDEAL_S
LOOK_EVERY_S = 5.0
PICTURE = "1024x1024"


@dataclass(frozen=True)
class Finish:
    """How a tenant fared."""

    tenant: str
    queued: int
    done: int
    last_s: float | None
    """When its last job ended, after all were queued."""


def main() -> int:
    """Measure, write and print the figures."""
    runs = max(1, min(RUNS, int((psutil.virtual_memory().available - REST_BYTES) / RUN_BYTES)))
    with bench_stack.temporary() as root:
        project = root / "project"
        write_project(project, runs=runs)
        with bench_stack.running(root, Wanted(project=project, speed=SPEED)) as place:
            began = queue_all(place)
            finishes = watched(place, began)
    figures = {**judged(finishes), "runs_at_once": runs, "ideal_s": IDEAL_S}
    print(table(finishes))
    return concluded("fairness", figures, BOUNDS)


def write_project(folder: Path, *, runs: int) -> None:
    """Write ten tenants with a campaign each, under one credential of one organisation."""
    bench_project.bare(folder)
    instance = yaml.safe_load((folder / "dagster.yaml").read_text(encoding="utf-8"))
    instance["concurrency"]["runs"]["max_concurrent_runs"] = runs
    bench_project.put(folder / "dagster.yaml", instance)
    for tenant in (HEAVY, *LIGHT):
        bench_project.put(
            folder / "campaigns" / tenant / CAMPAIGN / "campaign.yaml",
            {
                "customer": tenant,
                "campaign": CAMPAIGN,
                "title": f"Bench of {tenant}",
                "credential": CREDENTIAL,
                "locales": ["en-GB"],
                "aspects": [PICTURE],
                "recipe": {"steps": [{"name": "art", "kind": "generate", "size": PICTURE}]},
            },
        )
    bench_project.credential(folder, CREDENTIAL, ORGANISATION, [HEAVY, *LIGHT])
    bench_project.limits(
        folder,
        CREDENTIAL,
        ORGANISATION,
        firefly=NOMINAL_PER_MINUTE,
        photoshop=NOMINAL_PER_MINUTE,
    )


def queue_all(place: Place) -> datetime:
    """Send the heavy tenant's jobs, then the others'; return when all are durable."""
    for tenant in (HEAVY, *LIGHT):
        count = HEAVY_JOBS if tenant == HEAVY else LIGHT_JOBS
        rows = "".join(
            f'job-{n},"A glass on a meadow, {n}",en-GB,Spring,{PICTURE}\n' for n in range(count)
        )
        with place.door(tenant) as client:
            answer = bench_stack.send(client, CAMPAIGN, rows)
        assert answer.json()["accepted"] == count, answer.text[:500]
    print(f"Queued {HEAVY_JOBS} jobs of one tenant, {LIGHT_JOBS} of each of {len(LIGHT)}.")
    return datetime.now(UTC)  # noqa: TID251 - a bench measures real time.


def watched(place: Place, began: datetime) -> list[Finish]:
    """Wait until the light tenants are done; return how everybody stands then."""
    ledger = DynamoLedger(
        cast("DynamoDBClient", place.aws("dynamodb")), prefix=Settings().table_prefix
    )
    until = time.monotonic() + GIVE_UP_AFTER_S
    while True:
        place.stack.watch()
        light = [finish(ledger, tenant, LIGHT_JOBS, began) for tenant in LIGHT]
        if all(one.done == one.queued for one in light) or time.monotonic() > until:
            return [finish(ledger, HEAVY, HEAVY_JOBS, began), *light]
        time.sleep(LOOK_EVERY_S)  # noqa: TID251 - a bench measures real time.


def finish(ledger: JobLedger, tenant: str, queued: int, began: datetime) -> Finish:
    """Return how a tenant fares, by its rows."""
    rows = ledger.campaign_page(tenant, CAMPAIGN, after=None, status=Status.SUCCEEDED, most=queued)
    ended = [row.ended_at for row in ledger.jobs(tenant, [one.job_id for one in rows]).values()]
    seconds = [(at - began).total_seconds() for at in ended if at]
    return Finish(tenant, queued, len(seconds), max(seconds, default=None))


def judged(finishes: list[Finish]) -> Mapping[str, float]:
    """Return the ratios to the ideal; a tenant that is not done counts as never."""
    light = [
        one.last_s if one.last_s is not None and one.done == one.queued else float("inf")
        for one in finishes
        if one.tenant != HEAVY
    ]
    return {
        "light_tenants_ratio": round(sum(light) / len(light) / IDEAL_S, 3),
        "last_ratio": round(max(light) / IDEAL_S, 3),
        "heavy_done": next(one.done for one in finishes if one.tenant == HEAVY),
    }


def table(finishes: list[Finish]) -> str:
    """Return the table by tenant."""
    lines = [f"{'TENANT':<10} {'QUEUED':>7} {'DONE':>6} {'LAST ENDED':>11} {'OF IDEAL':>9}"]
    for one in finishes:
        last = "-" if one.last_s is None else f"{one.last_s:.0f} s"
        ratio = "-" if one.last_s is None else f"{one.last_s / IDEAL_S:.2f}"
        lines.append(f"{one.tenant:<10} {one.queued:>7} {one.done:>6} {last:>11} {ratio:>9}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
