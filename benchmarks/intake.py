"""`make bench-intake`: the front door on the embedded AWS; figures in ``out/bench/intake.json``.

Belongs here: the API as a process of its own, briefs, single jobs and claims that race, and their
bounds: where one is missed it exits with 1. A row counts when the API says that it is durable, and
the campaign's sum shows it. Does not: budgets.
"""

import sys
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import bench_stack
import httpx
import intake_budgets
import psutil
from bench_figures import Bounds, concluded
from bench_stack import CAMPAIGN

NEEDED = {"aws", "provisioning", "api"}
ROWS = 5_000
SINGLES = 300
ONE_IN = 100
"""Every hundredth key is known already: 1 % duplicates."""
RIVALS = 20
BOUNDS: Bounds = {
    "api_cpu_ms_per_row": ("<=", 1),
    "batch_over_single": (">=", 5),
    "concurrent_claims_jobs": ("==", 1),
    "concurrent_reservations_granted": ("==", intake_budgets.ROOM),
}
"""What each figure must be."""


class Door:
    """One customer's client, and the CPU time of the API process behind it."""

    def __init__(
        self, client: httpx.Client, api: psutil.Process, variables: Mapping[str, str]
    ) -> None:
        self.client = client
        self.variables = variables
        self._api = api

    def cpu_s(self) -> float:
        """Return the CPU seconds that the API has used."""
        used = self._api.cpu_times()
        return used.user + used.system

    def post(self, key: str, prompt: str = "A glass on a meadow") -> httpx.Response:
        """Send one job."""
        return self.client.post(
            "/v1/jobs",
            json={
                "campaign": CAMPAIGN,
                "idempotencyKey": key,
                "prompt": prompt,
                "locale": "en-GB",
                "headline": "Spring",
                "aspects": ["1080x1080"],
            },
        )

    def jobs(self) -> int:
        """Return how many jobs stand in the ledger."""
        return intake_budgets.rows(self.variables)


def main() -> int:
    """Measure, write and print the figures."""
    with opened() as door:
        figures = {
            **batch_and_singles(door),
            "concurrent_claims_jobs": claims(door),
            "concurrent_reservations_granted": intake_budgets.granted(door.variables),
        }
    return concluded("intake", figures, BOUNDS)


@contextmanager
def opened() -> Generator[Door]:
    """Start the embedded AWS and the API on a state of their own."""
    with (
        bench_stack.temporary() as root,
        bench_stack.running(root, bench_stack.Wanted(only=NEEDED)) as place,
        place.door() as client,
    ):
        yield Door(client, psutil.Process(place.stack.pid("api")), place.variables)


def batch_and_singles(door: Door) -> dict[str, float]:
    """Send a brief and single jobs, each with 1 % known keys; compare the rows a second."""
    door.post("warm-up").raise_for_status()
    for number in range(0, ROWS, ONE_IN):
        door.post(f"batch-{number}").raise_for_status()
    rows = "".join(
        f"batch-{number},A glass on a meadow,en-GB,Spring,1080x1080\n" for number in range(ROWS)
    )
    before, cpu, began = door.jobs(), door.cpu_s(), time.perf_counter()
    answer = bench_stack.send(door.client, CAMPAIGN, rows)
    batch_s, cpu_s = time.perf_counter() - began, door.cpu_s() - cpu
    new = answer.json()["accepted"]
    assert door.jobs() - before == new == ROWS - ROWS // ONE_IN

    began = time.perf_counter()
    for number in range(SINGLES):
        # Every hundredth is the key of the one before.
        door.post(f"single-{number - (number % ONE_IN == ONE_IN - 1)}").raise_for_status()
    singles_s = time.perf_counter() - began
    return {
        "api_cpu_ms_per_row": round(1_000 * cpu_s / ROWS, 3),
        "batch_rows_per_s": round(ROWS / batch_s, 1),
        "single_rows_per_s": round(SINGLES / singles_s, 1),
        "batch_over_single": round((ROWS / batch_s) / (SINGLES / singles_s), 2),
    }


def claims(door: Door) -> int:
    """Return how many jobs become of one key that twenty callers claim at once."""
    before = door.jobs()
    with ThreadPoolExecutor(RIVALS) as rivals:
        answers = list(rivals.map(door.post, ["contested"] * RIVALS))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["jobId"] for answer in answers}) == 1
    return door.jobs() - before


if __name__ == "__main__":
    sys.exit(main())
