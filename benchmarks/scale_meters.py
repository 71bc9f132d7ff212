"""How ``make bench-scale`` takes its figures: from processes, from the instance, from the pages.

Belongs here: one function for each figure. Does not: the course of the bench.
"""

import re
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, cast

import dagster as dg
import httpx
import psutil
from bench_figures import FOLDER
from bench_stack import CAMPAIGN, CUSTOMER, Place
from playwright.sync_api import sync_playwright

from fireflyassets.core import ids
from fireflyassets.defs import names
from fireflyassets.local import processes

OTHERS: Final = ("aws", "postgres")
"""Services that are not ours, and whose memory is not judged."""
SERVICES: Final = ("twin", "api", "code", "dagster", "daemon")
SENSORS: Final = ("dispatch", "job_queue", "open_calls")
PICTURES: Final = FOLDER
CHROMIUM: Final = Path("/usr/bin/chromium")
DELIVERIES: Final = names.asset_key(CUSTOMER, CAMPAIGN, "deliveries")
_KEY: Final = {"path": list(DELIVERIES.path)}

_TICKS: Final = """query($sensor: String!) {
  sensorOrError(sensorSelector: {
    repositoryLocationName: "fireflyassets", repositoryName: "__repository__", sensorName: $sensor
  }) { ... on Sensor { sensorState { ticks(limit: 2000) { timestamp endTimestamp status } } } }
}"""
_QUERIES: Final = {
    "statuses": """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) {
      ... on AssetNode { assetPartitionStatuses { ... on DefaultPartitionStatuses {
        materializedPartitions failedPartitions unmaterializedPartitions } } } } }""",
    "counts": """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) {
      ... on AssetNode { partitionStats { numMaterialized numFailed numPartitions } } } }""",
    "keys": """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) {
      ... on AssetNode { partitionKeysByDimension { name partitionKeys } } } }""",
    "checks": """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) {
      ... on AssetNode { assetChecksOrError { ... on AssetChecks { checks {
        name executionForLatestMaterialization { status } } } } } } }""",
}
_ASSET: Final = f"/assets/{'/'.join(DELIVERIES.path)}"
_PAGES: Final = {
    "/overview/timeline": "fireflyassets",
    "/runs": "dispatch",
    f"{_ASSET}?view=overview": "operations_actual",
    f"{_ASSET}?view=partitions": r"Materialized \([1-9]",
    f"{_ASSET}?view=checks": "every_rendition_is_tagged_across_the_wave",
    f"{_ASSET}?view=events": r"\d:\d\d [AP]M|\d:\d\d:\d\d",
    f"{_ASSET}?view=lineage": "renditions",
}
"""Page -> what a person looks for on it, and what it shows last."""


class Processes:
    """The stack's processes: CPU of all, also of those that have ended; memory of ours."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._others = {place.stack.pid(name) for name in OTHERS}
        self.peak_mb = 0.0

    def cpu_s(self) -> float:
        """Return the CPU seconds of all services, Postgres and the embedded AWS included."""
        return self._place.cpu_s(*SERVICES, *OTHERS)

    def look(self) -> None:
        """Note the largest process of ours; a look every few seconds finds what lasts."""
        for each in processes.of_stack(self._place.stack.folder.root):
            try:
                mine = not self._others & {each.pid, each.ppid()}
                if mine:
                    self.peak_mb = max(self.peak_mb, each.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue


def tick_p95_s(webserver: str) -> float:
    """Return how long nineteen of twenty ticks of the sensors that work at most took."""
    lasted: list[float] = []
    for sensor in SENSORS:
        told = _asked(webserver, _TICKS, {"sensor": sensor})
        ticks = told["sensorOrError"]["sensorState"]["ticks"]
        lasted += [one["endTimestamp"] - one["timestamp"] for one in ticks if one["endTimestamp"]]
    return statistics.quantiles(lasted, n=20)[-1]


def runs_of_waves(instance: dg.DagsterInstance) -> int:
    """Return how many runs the instance has."""
    return instance.get_runs_count()


def disagreements(place: Place, instance: dg.DagsterInstance) -> int:
    """Return the jobs whose ledger status and partition say different things; all are compared."""
    partitions = set(instance.get_dynamic_partitions(ids.partitions_name(CUSTOMER, CAMPAIGN)))
    made = set(instance.get_materialized_partitions(DELIVERIES))
    ledger = dict(_ledger(place))
    done = {job for job, status in ledger.items() if status == "succeeded"}
    return len(partitions ^ set(ledger)) + len(made ^ done)


def queries_s(webserver: str) -> list[float]:
    """Return the median time of each query that the pages of an asset ask."""
    found: list[float] = []
    for query in _QUERIES.values():
        times: list[float] = []
        for _ in range(3):
            began = time.perf_counter()
            _asked(webserver, query, {"key": _KEY})
            times.append(time.perf_counter() - began)
        found.append(statistics.median(times))
    return found


def pages_s(webserver: str) -> list[float]:
    """Return how long each page takes in chromium until it shows what is looked for.

    Whatever else a page still loads is not waited for; each is pictured beside the figures.
    """
    found: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(webserver, wait_until="networkidle", timeout=60_000)  # Its code is cached now.
        for number, (path, shown) in enumerate(_PAGES.items()):
            began = time.perf_counter()
            page.goto(f"{webserver}{path}", wait_until="commit", timeout=60_000)
            # Attached, not visible: long names are shown cut, beside a hidden copy of the whole.
            page.get_by_text(re.compile(shown)).first.wait_for(state="attached", timeout=60_000)
            found.append(time.perf_counter() - began)
            page.screenshot(path=PICTURES / f"scale-page-{number}.png")
        browser.close()
    return found


def _asked(webserver: str, query: str, variables: object) -> dict[str, Any]:
    answer = httpx.post(
        f"{webserver}/graphql",
        json={"query": query, "variables": variables},
        timeout=120,
        trust_env=False,
    ).raise_for_status()
    said = answer.json()
    assert "errors" not in said, said["errors"]
    return cast("dict[str, Any]", said["data"])


def _ledger(place: Place) -> Iterable[tuple[str, str]]:
    client = place.aws("dynamodb")
    for page in client.get_paginator("scan").paginate(TableName="fireflyassets-jobs"):
        for item in page["Items"]:
            yield item["jobId"]["S"], item["status"]["S"]
