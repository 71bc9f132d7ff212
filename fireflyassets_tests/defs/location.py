"""The code location over a factory floor in memory, and runs of it in this process.

Belongs here: what the tests of assets, checks and sensors share. Time is real and short here,
since a wave runs in a thread of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date

import dagster as dg

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.failure import Family
from fireflyassets.definitions import build_definitions
from fireflyassets.defs import names
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.defs.sensors import Dispatcher
from fireflyassets.limiter.port import Limits
from fireflyassets_tests.floor import Floor, floor

CUSTOMER, CAMPAIGN = "acme", "spring-launch"
DELIVERIES = names.asset_key(CUSTOMER, CAMPAIGN, "deliveries")
RENDITIONS = names.asset_key(CUSTOMER, CAMPAIGN, "renditions")
BASE_IMAGES = names.asset_key(CUSTOMER, CAMPAIGN, "base_images")


def fast(_organisation: str, _family: Family) -> Limits:
    """Return limits that never make a test wait."""
    return Limits(per_minute=60_000, source="a test", as_of=date(2026, 1, 1))


@dataclass
class Location:
    """A location with an instance of its own, and the floor behind it."""

    here: Floor
    defs: dg.Definitions
    instance: dg.DagsterInstance

    def dispatch(self) -> list[dg.RunRequest]:
        """Let the dispatcher tick once."""
        return Dispatcher(self.instance, self.here.shop).tick(self.here.clock.now())

    def run(
        self, request: dg.RunRequest | None = None, *, tags: dict[str, str] | None = None
    ) -> dg.ExecuteInProcessResult:
        """Run what a sensor asked for, or what a person would start with *tags*."""
        said = dict(request.tags) if request else (tags or {})
        return self.defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            tags=said,
            raise_on_error=False,
            asset_selection=names.wave_assets(CUSTOMER, CAMPAIGN),
        )

    def by_hand(self, jobs: Sequence[str]) -> dg.ExecuteInProcessResult:
        """Run a range of partitions as a person does in the UI: without a wave's tag."""
        return self.run(tags={names.RANGE_START_TAG: jobs[0], names.RANGE_END_TAG: jobs[-1]})

    def failed(self, key: dg.AssetKey) -> set[str]:
        """Return the partitions that the UI shows as failed."""
        from dagster._core.storage.partition_status_cache import (  # noqa: PLC0415 - not exported.
            get_and_update_asset_status_cache_value,
        )

        partitions = names.partitions(CUSTOMER, CAMPAIGN)
        cached = get_and_update_asset_status_cache_value(self.instance, key, partitions)
        if cached is None:
            return set()
        subset = cached.deserialize_failed_partition_subsets(partitions)
        return set(subset.get_partition_keys())

    def materialized(self, key: dg.AssetKey) -> set[str]:
        """Return the partitions that have been materialized."""
        return set(self.instance.get_materialized_partitions(key))


@contextmanager
def location(here: Floor | None = None) -> Iterator[Location]:
    """Yield the location of the floor's campaigns."""
    here = here or floor(clock=SystemClock())
    here.shop = replace(here.shop, limits=fast)
    here.images.vendor.seconds = here.documents.vendor.seconds = 0.0
    ports: dict[str, object] = {name: getattr(here.shop, name) for name in WAVE_PORTS}
    ports["job_queue"] = here.intake.queue
    defs = build_definitions(here.shop.catalogue.campaigns(), ports)
    with dg.DagsterInstance.ephemeral() as instance:
        yield Location(here, defs, instance)
