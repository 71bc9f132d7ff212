"""`make bench-webhooks`: from real transitions to receivers; see ``out/bench/webhooks.json``.

Belongs here: jobs that end in the ledger of the embedded AWS, the process that delivers on one
core, fifty endpoints over real sockets of which five hang and five fail, a SIGKILL in the middle,
and the bounds: where one is missed it exits with 1. Does not: the receivers.

A delivery counts when a receiver has verified it. Latency is from just before the transaction that
ends the job. Lost is what a healthy endpoint never got of what it is owed.
"""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from statistics import quantiles
from typing import Any

import bench_stack
import psutil
from bench_figures import Bounds, concluded

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.aws.webhooks import DynamoWebhooks
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.core import ids
from fireflyassets.core.endpoint import Endpoint, Kind
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Claim, Ending
from fireflyassets.settings import Settings

NEEDED = {"aws", "provisioning"}
CUSTOMERS = [f"customer-{n}" for n in range(10)]
EACH = 5
"""Endpoints of a customer, the first of which hangs or fails."""
CAMPAIGN, WAVE = "spring", "w-1"
RATE = 22.0
"""Jobs that end in a second; each is told to five endpoints."""
STEADY_S, MORE_S = 70, 25
WARM_S = 5
ENOUGH_S = 90
"""Without a receipt: longer than what a killed process had is its own, which is half a minute."""
BOUNDS: Bounds = {
    "deliveries_per_minute": (">=", 5_000),
    "healthy_p95_s": ("<", 2),
    "slowest_endpoint_p95_s": ("<", 2),
    "lost": ("==", 0),
    "duplicates_with_other_id": ("==", 0),
    "unverified": ("==", 0),
}
"""What each figure must be."""


@dataclass
class Plant:
    """What is measured, and with what."""

    ledger: DynamoLedger
    claims: list[Claim]
    variables: Mapping[str, str]
    log: Path
    folder: Path
    ended: dict[str, float] = field(default_factory=dict[str, float])
    """Job -> seconds since 1970, just before the transaction that ended it."""
    worker: "subprocess.Popen[bytes] | None" = None

    def start(self) -> psutil.Process:
        """Start the process that delivers, on one core."""
        core = max(os.sched_getaffinity(0))
        with (self.folder / "worker.log").open("ab") as told:
            self.worker = subprocess.Popen(
                [str(Path(sys.executable).with_name("fireflyassets")), "webhooks", "deliver"],
                env=dict(self.variables),
                stdout=told,
                stderr=told,
                cwd=self.folder,
            )
        os.sched_setaffinity(self.worker.pid, {core})
        return psutil.Process(self.worker.pid)

    def end_jobs(self, seconds: float) -> None:
        """End jobs at the rate, for so long."""
        began = time.perf_counter()
        with ThreadPoolExecutor(4) as pool:
            for number in range(int(seconds * RATE)):
                wait = began + number / RATE - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)  # noqa: TID251 - the load's own pace.
                pool.submit(self._end, self.claims.pop()).add_done_callback(_insist)

    def _end(self, claim: Claim) -> None:
        self.ended[claim.job_id] = _now()
        ending = Ending(
            status=Status.SUCCEEDED,
            reason=None,
            outputs=(
                ids.delivery_key(claim.customer, CAMPAIGN, claim.job_id, "1080x1080", "a.jpg"),
            ),
            cost=Cost(Decimal("3.5"), Decimal(0)),
            ended_at=SystemClock().now(),
            ttl=None,
        )
        self.ledger.finish(claim, ending)

    def received(self) -> list[tuple[str, str, str, float]]:
        """Return what receivers have verified: endpoint, id, job, time."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [(a, b, c, float(d)) for a, b, c, d in (line.split() for line in lines)]


def main() -> int:
    """Measure, write and print the figures."""
    with opened() as plant:
        figures = measured(plant)
    return concluded("webhooks", figures, BOUNDS)


def measured(plant: Plant) -> dict[str, float]:
    """Deliver steadily, then through a kill; return the figures."""
    began = _now()
    process = plant.start()
    plant.end_jobs(STEADY_S)
    until = _now()
    used = process.cpu_times()
    cpu_s, steady = used.user + used.system, dict(plant.ended)
    kill_at = MORE_S / 2
    with ThreadPoolExecutor(1) as load:
        more = load.submit(plant.end_jobs, MORE_S)
        time.sleep(kill_at)  # noqa: TID251 - in the middle of the load.
        assert plant.worker is not None
        plant.worker.kill()
        plant.worker.wait()
        plant.start()
        more.result()
    owed = {(f"{_customer(job)}-{n}", job) for job in plant.ended for n in range(1, EACH)}
    while came := plant.received():
        is_over = not owed - {(to, job) for to, _, job, _ in came}
        if is_over or _now() - max(at for _, _, _, at in came) > ENOUGH_S:
            break
        time.sleep(1)  # noqa: TID251 - a real process is waited for.
    return figures_of(plant, steady, owed, window=(began + WARM_S, until), cpu_s=cpu_s)


def figures_of(
    plant: Plant,
    steady: Mapping[str, float],
    owed: set[tuple[str, str]],
    *,
    window: tuple[float, float],
    cpu_s: float,
) -> dict[str, float]:
    """Return what came of what was owed."""
    came = plant.received()
    first: dict[tuple[str, str], float] = {}
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for to, name, job, at in came:
        first.setdefault((to, job), at)
        names[to, job].add(name)
    took: defaultdict[str, list[float]] = defaultdict(list)
    for (to, job), at in first.items():
        if steady.get(job, 0) >= window[0]:
            took[to].append(at - steady[job])
    within = sum(window[0] <= at < window[1] for at in first.values())
    every = [one for each in took.values() for one in each]
    return {
        "deliveries_per_minute": round(60 * within / (window[1] - window[0])),
        "healthy_p50_s": round(quantiles(every, n=100)[49], 3),
        "healthy_p95_s": round(quantiles(every, n=100)[94], 3),
        "healthy_max_s": round(max(every), 3),
        "slowest_endpoint_p95_s": round(max(quantiles(x, n=100)[94] for x in took.values()), 3),
        "healthy_endpoints": len(took),
        "owed": len(owed),
        "lost": len(owed - set(first)),
        "duplicates": len(came) - len(first),
        "duplicates_with_other_id": sum(len(one) > 1 for one in names.values()),
        "unverified": sum(name == "unverified" for _, name, _, _ in came),
        "worker_cpu_ms_per_delivery": round(
            1000 * cpu_s / sum(x < window[1] for x in first.values()), 2
        ),
        "worker_cores": round(cpu_s / (window[1] - window[0] + WARM_S), 3),
    }


@contextmanager
def opened() -> Generator[Plant]:
    """Start the embedded AWS and the receivers; add the endpoints, and the jobs that will end."""
    trusted = {"FIREFLYASSETS_WEBHOOK_TRUSTED_HOSTS": '["127.0.0.1"]'}
    wanted = bench_stack.Wanted(only=NEEDED, settings=trusted)
    with bench_stack.temporary() as root, bench_stack.running(root, wanted) as place:
        aws = {name: said for name, said in place.variables.items() if name.startswith("AWS_")}
        os.environ.update(aws)  # noqa: TID251 - this process asks the same AWS.
        with planted(place.variables, root) as plant:
            yield plant


@contextmanager
def planted(variables: Mapping[str, str], folder: Path) -> Generator[Plant]:
    """Listen with fifty receivers, and write what the measurement begins with."""
    prefix = Settings().table_prefix
    secrets = WebhookSecrets(
        EnvironmentSecrets(variables), variables["FIREFLYASSETS_WEBHOOK_SECRET"], SystemClock()
    )
    endpoints = [_endpoint(customer, n) for customer in CUSTOMERS for n in range(EACH)]
    bad = ["hangs" if n % 2 else "fails" for n in range(len(CUSTOMERS))]
    plans: list[dict[str, Any]] = [
        {
            "endpoint": one.endpoint_id,
            "behaves": "well" if number % EACH else bad[number // EACH],
            "secrets": [secrets.newest(one)],
        }
        for number, one in enumerate(endpoints)
    ]
    plan, log = folder / "plan.json", folder / "received.log"
    plan.write_text(json.dumps(plans), encoding="utf-8")
    command = [sys.executable, str(Path(__file__).with_name("webhooks_receiver.py"))]
    receivers = subprocess.Popen(
        [*command, str(plan), str(log)], stdout=subprocess.PIPE, env=dict(variables)
    )
    dynamodb = clients.dynamodb()
    plant = Plant(DynamoLedger(dynamodb, prefix=prefix), [], variables, log, folder)
    try:
        assert receivers.stdout is not None
        ports: list[int] = json.loads(receivers.stdout.readline())
        store = DynamoWebhooks(dynamodb, prefix=prefix)
        for one, port in zip(endpoints, ports, strict=True):
            store.add_endpoint(_endpoint(one.customer, int(one.endpoint_id[-1]), port=port))
        plant.claims = claimed(plant.ledger)
        yield plant
    finally:
        for process in (plant.worker, receivers):
            if process is not None:
                process.kill()
                process.wait()
        print((folder / "worker.log").read_text(encoding="utf-8")[-3000:], file=sys.stderr)


def claimed(ledger: DynamoLedger) -> list[Claim]:
    """Record the jobs, and let a wave have them; customers take turns."""
    total = int((STEADY_S + MORE_S) * RATE) + 10
    rows = [_row(CUSTOMERS[n % len(CUSTOMERS)], f"job-{n}") for n in range(total)]
    print(f"Recording {total} jobs.")
    for customer in CUSTOMERS:
        ledger.record([row for row in rows if row.customer_id == customer])
    now = SystemClock().now()

    def claim(row: JobRow) -> Claim | None:
        return ledger.claim(row.job_id, row.customer_id, WAVE, now=now)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(claim, rows))
    return [one for one in found if one is not None][::-1]


def _row(customer: str, key: str) -> JobRow:
    now = SystemClock().now()
    return JobRow(
        job_id=ids.job_id(customer, key),
        customer_id=customer,
        campaign_id=CAMPAIGN,
        status=Status.QUEUED,
        run_id=None,
        input_manifest=f"{ids.manifests_key(customer, CAMPAIGN, 'd' * 64)}#0-99",
        outputs=(),
        cost_estimate=Decimal("3.5"),
        cost_actual=None,
        created_at=now,
        updated_at=now,
        ttl=None,
        body_hash="h" * 64,
        idempotency_key=key,
        credential="main",
        campaign_version="v1",
        rate_card="",
    )


def _endpoint(customer: str, number: int, *, port: int = 0) -> Endpoint:
    return Endpoint(
        customer=customer,
        endpoint_id=f"{customer}-{number}",
        kind=Kind.WEBHOOK,
        url=f"http://127.0.0.1:{port}/hook",
        types=frozenset(),
        created_at=SystemClock().now() - timedelta(days=1),
    )


_OWNERS: dict[str, str] = {}


def _customer(job_id: str) -> str:
    if not _OWNERS:
        total = int((STEADY_S + MORE_S) * RATE) + 10
        for n in range(total):
            customer = CUSTOMERS[n % len(CUSTOMERS)]
            _OWNERS[ids.job_id(customer, f"job-{n}")] = customer
    return _OWNERS[job_id]


def _insist(done: "Future[None]") -> None:
    done.result()


def _now() -> float:
    return time.time()  # noqa: TID251 - what is measured.


if __name__ == "__main__":
    sys.exit(main())
