"""`make bench-review`: a sheet of 1,000 renditions, a decision on 500; ``out/bench/review.json``.

Belongs here: jobs that wait in the ledger and bucket of the embedded AWS, the API as a process of
its own, chromium in front of it, the sensor's work on Dagster's SQLite, and the bounds: where one
is missed it exits with 1. Does not: making pictures.

A page is interactive once the first box of a sheet can be ticked. A decision counts when its answer
has come, by when every tag says it. The view's lag goes from that answer to the last check in
Dagster, with the five seconds that a tick may wait.
"""

import io
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import axe_playwright_python
import bench_stack
import dagster as dg
from bench_figures import Bounds, concluded
from bench_project import PROJECT
from bench_stack import CAMPAIGN, CUSTOMER, Place
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from fireflyassets import composition
from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.defs import resources
from fireflyassets.defs.reviews import Follower
from fireflyassets.local.launching import doorway
from fireflyassets.ports.entries import Claim, Ending
from fireflyassets.ports.reviews import View
from fireflyassets.settings import Settings
from fireflyassets.stages.showing import Showing

NEEDED = {"aws", "provisioning", "api"}
CHROMIUM = "/usr/bin/chromium"
RENDITIONS, DECIDED, LOOKS = 1_000, 500, 20
ASPECT = "1080x1080"
TICK_S = 5.0
BOUNDS: Bounds = {
    "renditions": (">=", RENDITIONS),
    "page_interactive_s": ("<", 1.5),
    "bulk_decision_s": ("<", 5),
    "view_lag_s": ("<", 60),
    "serious_accessibility_faults": ("==", 0),
}
_AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"


def main() -> int:
    """Measure, write and print the figures."""
    with (
        bench_stack.temporary() as root,
        bench_stack.running(root, bench_stack.Wanted(only=NEEDED)) as place,
        doorway(place.stack.access, PROJECT),
    ):
        os.environ.update(place.variables)  # noqa: TID251 - the ports are wired by it.
        factory = composition.build(Settings())
        seed(factory)
        return concluded("review", {**seen(place), **decided(place, factory, root)}, BOUNDS)


def seed(factory: composition.Factory) -> None:
    """Let jobs of one rendition each be made, and wait for their review."""
    now = factory.clock.now()
    rows = [
        _row(number, now=now + number * timedelta(milliseconds=1)) for number in range(RENDITIONS)
    ]
    factory.ledger.record(rows)
    files = [_picture(look) for look in range(LOOKS)]
    looks = [factory.pictures.perceptual(file) for file in files]

    def make(number: int) -> None:
        row = rows[number]
        claim = factory.ledger.claim(row.job_id, CUSTOMER, "w-bench", now=now)
        assert isinstance(claim, Claim)
        name = f"{row.idempotency_key}.jpg"
        key = ids.delivery_key(CUSTOMER, CAMPAIGN, row.job_id, ASPECT, name)
        tags = {"customer": CUSTOMER, "campaign": CAMPAIGN, "human-reviewed": "pending"}
        factory.objects.put(key, files[number % LOOKS], media_type="image/jpeg", tags=tags)
        cost = Cost(Decimal(1), Decimal(0))
        end = Ending(
            Status.SUCCEEDED, None, (key,), cost, now, None, looks=(looks[number % LOOKS],)
        )
        factory.ledger.finish(claim, end)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(RENDITIONS)))


def seen(place: Place) -> dict[str, float]:
    """Open the sheet in a browser, as a person who has just signed in."""
    where = f"{place.url('api')}/pages/campaigns/{CAMPAIGN}/review"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(where)
        page.get_by_role("link", name=f"Reviewer of {CUSTOMER}").click()
        times = [_interactive_s(page, where) for _ in range(3)]
        shown = page.locator(".tile").count()
        page.evaluate(_AXE.read_text(encoding="utf-8"))
        told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        browser.close()
    grave = [one for one in told["violations"] if one["impact"] in {"serious", "critical"}]
    return {
        "renditions": shown,
        "page_interactive_s": round(sorted(times)[1], 3),
        "serious_accessibility_faults": len(grave),
    }


def decided(place: Place, factory: composition.Factory, root: Path) -> dict[str, float]:
    """Approve half of them by one request, and let Dagster follow."""
    where = f"/v1/campaigns/{CAMPAIGN}/reviews"
    with place.door() as client:
        listed = client.get(where, params={"limit": DECIDED}).raise_for_status().json()["jobs"]
        picks = [{"jobId": one["jobId"], "version": one["version"]} for one in listed]
        began = time.perf_counter()
        told = client.post(where, json={"decision": "approve", "jobs": picks}).raise_for_status()
        bulk_s = time.perf_counter() - began
    assert len(told.json()["decided"]) == DECIDED
    rows = factory.ledger.jobs(CUSTOMER, [one["jobId"] for one in picks]).values()
    tags = [factory.objects.tags(row.outputs[0]) or {} for row in rows]
    assert {one["human-reviewed"] for one in tags} == {"approved"}
    return {"bulk_decision_s": round(bulk_s, 3), "view_lag_s": round(_lag_s(factory, root), 3)}


def _lag_s(factory: composition.Factory, root: Path) -> float:
    """Return how long the sensor's work takes until Dagster shows every decision."""
    names = resources.WAVE_PORTS
    shop = resources.shop(SimpleNamespace(**{name: _port(factory, name) for name in names}))
    (root / "dagster").mkdir()
    began = time.perf_counter()
    with dg.DagsterInstance.local_temp(str(root / "dagster")) as instance:
        while factory.ledger.unshown(View.OBJECTS, most=1) or factory.ledger.unshown(
            View.DAGSTER, most=1
        ):
            Showing(composition.holding(factory)).show_due(most=200)
            Follower(instance, shop).tick()
    return TICK_S + time.perf_counter() - began


def _port(factory: composition.Factory, name: str) -> object:
    return factory.catalogue.limits_for if name == "limits" else getattr(factory, name)


def _interactive_s(page: Page, where: str) -> float:
    began = time.perf_counter()
    page.goto(where, wait_until="domcontentloaded")
    page.locator(".tile input").first.check()
    return time.perf_counter() - began


def _row(number: int, *, now: datetime) -> JobRow:
    key = f"rendition-{number:04}"
    return JobRow(
        job_id=ids.job_id(CUSTOMER, key),
        customer_id=CUSTOMER,
        campaign_id=CAMPAIGN,
        status=Status.QUEUED,
        run_id=None,
        input_manifest="",
        outputs=(),
        cost_estimate=Decimal(1),
        cost_actual=None,
        created_at=now,
        updated_at=now,
        ttl=None,
        body_hash="0" * 64,
        idempotency_key=key,
        credential="local",
        campaign_version="bench",
        rate_card="",
        human_reviewed=HumanReview.PENDING,
    )


def _picture(look: int) -> bytes:
    target = io.BytesIO()
    noise = Image.effect_noise((9, 8), 90 + look).resize((540, 540), Image.Resampling.BOX)
    noise.save(target, "JPEG")
    return target.getvalue()


if __name__ == "__main__":
    sys.exit(main())
