"""The code location over a factory floor in memory, and runs of it in this process.

Belongs here: what the tests of assets, checks and sensors share. Time is real and short here,
since a wave runs in a thread of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob  # A re-execution has no public call.
from dagster._core.execution.api import execute_run_iterator
from dagster._core.storage.tags import RUN_KEY_TAG

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.memory.backlog import MemoryBacklog
from fireflyassets.core.failure import Family
from fireflyassets.definitions import build_definitions
from fireflyassets.defs import checks, names
from fireflyassets.defs.dispatcher import Dispatcher
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.limiter.limits import Limits
from fireflyassets.stages.outlook import Outlook
from fireflyassets.wave.beginning import begin
from fireflyassets.wave.reports import Check
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.floor import Floor, floor

CUSTOMER, CAMPAIGN = "acme", "spring-launch"
DELIVERIES = names.asset_key(CUSTOMER, CAMPAIGN, "deliveries")
RENDITIONS = names.asset_key(CUSTOMER, CAMPAIGN, "renditions")
BASE_IMAGES = names.asset_key(CUSTOMER, CAMPAIGN, "base_images")

WAVE = (BASE_IMAGES, RENDITIONS, DELIVERIES)


def span(jobs: Sequence[str]) -> dict[str, str]:
    """Return the tags of a run on a range of partitions."""
    return {names.RANGE_START_TAG: jobs[0], names.RANGE_END_TAG: jobs[-1]}


def ports(here: Floor) -> dict[str, object]:
    """Return what a location over a floor is built from, by Dagster's names."""
    shop, backlog = here.shop, MemoryBacklog(here.ledger)
    looked = (here.ledger, backlog, shop.catalogue, shop.limiter, shop.limits, here.clock)
    return {
        **{name: getattr(shop, name) for name in WAVE_PORTS},
        "job_queue": here.intake.queue,
        "guardrail": here.intake.guardrail,
        "outlook": Outlook(*looked),
        "backlog": backlog,
    }


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
        self,
        request: dg.RunRequest | None = None,
        *,
        tags: dict[str, str] | None = None,
        assets: Sequence[dg.AssetKey] = WAVE,
    ) -> dg.ExecuteInProcessResult:
        """Run what a sensor asked for, or what a person would start with *tags* on *assets*."""
        said = dict(request.tags) if request else (tags or {})
        asked = request.asset_check_keys if request else None
        job = self.defs.resolve_implicit_global_asset_job_def().get_subset(
            asset_selection=set(assets),
            asset_check_selection=None if asked is None else set(asked),
        )
        return job.execute_in_process(instance=self.instance, tags=said, raise_on_error=False)

    def by_hand(
        self, jobs: Sequence[str], *, assets: Sequence[dg.AssetKey] = WAVE
    ) -> dg.ExecuteInProcessResult:
        """Run a range of partitions as a person does in the UI: without a wave's tag."""
        return self.run(tags=span(jobs), assets=assets)

    def again(self, first: dg.ExecuteInProcessResult) -> list[str]:
        """Re-execute a run as a person does on its page; return why jobs were left alone."""
        job = self.defs.resolve_implicit_global_asset_job_def()
        job = job.get_subset(asset_selection=set(WAVE))
        parent = self.instance.get_run_by_id(first.run_id)
        assert parent is not None
        run = self.instance.create_run_for_job(
            job,
            tags={name: text for name, text in parent.tags.items() if name != RUN_KEY_TAG},
            asset_selection=frozenset(WAVE),
            parent_run_id=parent.run_id,
            root_run_id=parent.run_id,
        )
        events = list(execute_run_iterator(InMemoryJob(job), run, self.instance))
        failures = [one.step_failure_data for one in events if one.is_step_failure]
        said = [one.user_failure_data for one in failures]
        tables = [one.metadata["jobs"].value for one in said if one]
        assert len(tables) == len(failures)
        return [str(row.data["reason"]) for table in tables for row in table.records]

    def killed(self, tags: dict[str, str]) -> str:
        """Let a run work to its end and die before it says anything; return its id."""
        job = self.defs.resolve_implicit_global_asset_job_def()
        run = self.instance.create_run_for_job(
            job.get_subset(asset_selection=set(WAVE)), tags=tags, asset_selection=frozenset(WAVE)
        )
        here = self.here
        if names.WAVE_TAG in tags:
            wave_id, now = tags[names.WAVE_TAG], here.clock.now()
            wave = begin(here.ledger, wave_id, run.run_id, settings=here.shop.settings, now=now)
            assert wave is not None
            list(WaveThread(here.shop, wave, run.run_id).reports())
        self.instance.report_run_failed(run)
        return run.run_id

    def checks(self, check: Check) -> dict[str, str]:
        """Return partition -> what the UI shows of a check, where it counts."""
        key = checks.key(CUSTOMER, CAMPAIGN, check)
        return {
            one.partition_key or "": one.latest_execution_status.value
            for one in self.instance.event_log_storage.get_asset_check_partition_info([key])
            if one.is_current and one.partition_key
        }

    def summary(self, check: Check) -> dg.AssetCheckEvaluation | None:
        """Return the latest summary of a check; None if its run died over it."""
        asset = names.asset_key(CUSTOMER, CAMPAIGN, checks.ASSET_OF[check])
        key = dg.AssetCheckKey(asset, checks.summary_name(check))
        found = self.instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
        event = found[key].event
        assert event is not None
        said = event.dagster_event.event_specific_data if event.dagster_event else None
        return said if isinstance(said, dg.AssetCheckEvaluation) else None

    def said(self, run_id: str) -> list[str]:
        """Return the sentences that were added to a run's log after it."""
        found = self.instance.get_records_for_run(
            run_id, of_type=dg.DagsterEventType.ENGINE_EVENT, limit=100
        )
        lines = [one.event_log_entry.message for one in found.records]
        return [line for line in lines if "what became of its jobs" in line]

    def told(self, key: dg.AssetKey, job_id: str) -> list[dict[str, object]]:
        """Return the metadata of each event of a partition, the newest first."""
        of_job = dg.AssetRecordsFilter(key, asset_partitions=[job_id])
        records = self.instance.fetch_materializations(of_job, limit=100).records
        return [
            {name: one.value for name, one in record.asset_materialization.metadata.items()}
            for record in records
            if record.asset_materialization
        ]

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
    defs = build_definitions(here.shop.catalogue.campaigns(), ports(here))
    with dg.DagsterInstance.ephemeral() as instance:
        yield Location(here, defs, instance)
