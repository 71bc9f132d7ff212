# pyright: standard
"""The code location of ``make bench-waves``: the product's own wave asset over ports in memory.

Belongs here: what each run finds behind the ports, and the sensor that asks for the runs that the
bench wrote down. Does not: measuring. A run's process makes its own ledger with exactly its jobs in
it, queued and then formed into the wave that its tag names, as the dispatcher would have; what that
takes is written down, so that it can be taken off. Adobe answers at once, with small pictures.
"""

import json
import os
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import dagster as dg

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.defs import assets, checks, names
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.stages.forming import form
from fireflyassets.wave.beginning import asked_for
from fireflyassets_tests.defs.location import CAMPAIGN, CUSTOMER, fast
from fireflyassets_tests.floor import Floor, floor

FOLDER = "FIREFLYASSETS_BENCH_FOLDER"
"""Names the folder in which bench, sensor and runs leave each other files."""
FIRST_TAG, COUNT_TAG = "bench/first", "bench/count"
PARTITIONED_TAG = "bench/partitioned"


def folder() -> Path:
    """Return where the files are."""
    return Path(os.environ[FOLDER])  # noqa: TID251 - a bench's own variable.


def ordered(here: Floor, first: int, count: int) -> list[str]:
    """Record jobs by their numbers; the same number is the same job in every process."""
    found = here.order(first + count) if first else here.order(count)
    return found[first:]


def new_floor(*, partitioned: bool = False) -> Floor:
    """Return an empty floor without waiting: calls cost no time and no limit paces them."""
    up_to = 1_000_000 if partitioned else 0
    here = floor(clock=SystemClock(), partitioned_checks_up_to=up_to)
    here.shop = replace(here.shop, limits=fast)
    here.images.vendor.seconds = here.documents.vendor.seconds = 0.0
    return here


@cache
def _behind(run_id: str, wave_id: str, first: int, count: int, *, partitioned: bool) -> Floor:
    began = time.process_time()
    here = new_floor(partitioned=partitioned)
    jobs = ordered(here, first, count)
    asked = asked_for(here.ledger, CUSTOMER, jobs)
    form(here.ledger, asked.batches[0], wave_id=wave_id, now=here.clock.now())
    here.ledger.launched(wave_id)
    said = {"setup_s": time.process_time() - began}
    (folder() / f"{run_id}.json").write_text(json.dumps(said), encoding="utf-8")
    return here


def _port(name: str) -> dg.ResourceDefinition:
    def made(context: dg.InitResourceContext) -> object:
        run = context.run
        assert run is not None
        tags = run.tags
        here = _behind(
            run.run_id,
            tags[names.WAVE_TAG],
            int(tags[FIRST_TAG]),
            int(tags[COUNT_TAG]),
            partitioned=tags[PARTITIONED_TAG] == "yes",
        )
        return getattr(here.shop, name)

    return dg.ResourceDefinition(made)


@dg.sensor(
    name="asked",
    minimum_interval_seconds=5,
    default_status=dg.DefaultSensorStatus.RUNNING,
    asset_selection=dg.AssetSelection.all(),
)
def asked_sensor(_context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """Ask for the runs that the bench wants, once each."""
    wanted = folder() / "wanted.json"
    if not wanted.exists():
        return dg.SensorResult(run_requests=[])
    said = cast("list[dict[str, str]]", json.loads(wanted.read_text(encoding="utf-8")))
    wanted.unlink()
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=tags[names.WAVE_TAG],
                asset_selection=names.wave_assets(CUSTOMER, CAMPAIGN),
                asset_check_keys=checks.keys(
                    CUSTOMER, CAMPAIGN, partitioned=tags[PARTITIONED_TAG] == "yes"
                ),
                tags=tags,
            )
            for tags in said
        ]
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the location: one campaign, one sensor."""
    (campaign,) = floor(clock=SystemClock()).shop.catalogue.campaigns().values()
    return dg.Definitions(
        assets=[*assets.upstreams(campaign), assets.wave_asset(campaign)],
        sensors=[asked_sensor],
        resources={name: _port(name) for name in WAVE_PORTS},
        executor=dg.in_process_executor,
    )
