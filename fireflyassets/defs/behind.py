# pyright: standard
"""What Dagster's own log still owes of a run that ended badly.

Belongs here: queries of the event log, by partition and by check. Does not: the ledger, nor what
is told (``projections.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import dagster as dg
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.storage.asset_check_execution_record import (
    # Not exported; the public API has no bulk query for what the partitions of a check show.
    AssetCheckExecutionRecordStatus as CheckStatus,
)
from dagster._core.storage.asset_check_execution_record import AssetCheckPartitionInfo

from fireflyassets.defs import checks, names, verdict
from fireflyassets.wave.reports import Check


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run that ended badly, with the partitions that it was to materialize."""

    run_id: str
    customer: str
    campaign: str
    assets: tuple[dg.AssetKey, ...]
    jobs: tuple[str, ...]
    """In a fixed order, so that a place among them stays one."""

    @classmethod
    def read(cls, instance: dg.DagsterInstance, run_id: str) -> Self | None:
        """Return the run's plan; None if it planned no partition."""
        planned = instance.event_log_storage.get_asset_partitions_for_run(
            run_id, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
        )
        jobs = {job for keys in planned.values() for job in keys if job is not None}
        if not jobs:
            return None
        customer, campaign, _ = next(iter(planned)).path
        return cls(run_id, customer, campaign, tuple(planned), tuple(sorted(jobs)))

    def unmade(
        self, instance: dg.DagsterInstance, jobs: Sequence[str]
    ) -> set[tuple[dg.AssetKey, str]]:
        """Return the partitions that show a plan with nothing made after it."""
        latest = instance.event_log_storage.get_latest_storage_id_by_partition
        found: set[tuple[dg.AssetKey, str]] = set()
        for asset in self.assets:
            planned = latest(asset, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED, set(jobs))
            made = latest(asset, dg.DagsterEventType.ASSET_MATERIALIZATION, set(jobs))
            found |= {(asset, job) for job, at in planned.items() if made.get(job, 0) < at}
        return found

    def unchecked(
        self, instance: dg.DagsterInstance, jobs: Sequence[str]
    ) -> set[tuple[Check, str]]:
        """Return the checks by partition that say nothing of what is materialized now."""
        keys = {checks.key(self.customer, self.campaign, one): one for one in Check}
        told = instance.event_log_storage.get_asset_check_partition_info(
            list(keys), partition_keys=list(jobs)
        )
        return {
            (keys[one.check_key], one.partition_key)
            for one in told
            if one.partition_key is not None and self._owes(one)
        }

    def owes_summaries(self, instance: dg.DagsterInstance) -> bool:
        """Say whether this run was the last to be asked for a summary, and gave none."""
        keys = [
            dg.AssetCheckKey(asset, name)
            for asset in names.wave_assets(self.customer, self.campaign)
            for name in map(checks.summary_name, Check)
        ]
        latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(
            keys, PartitionKeyFilter(key=None)
        )
        return any(
            one.status is CheckStatus.PLANNED and one.run_id == self.run_id
            for one in latest.values()
        )

    def has_spoken(self, instance: dg.DagsterInstance) -> bool:
        """Say whether the run's page has a sentence of ours on what became of its jobs."""
        found = instance.event_log_storage.get_records_for_run(
            self.run_id,
            of_type={dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.ENGINE_EVENT},
        )
        return any(_is_ours(one.event_log_entry.dagster_event) for one in found.records)

    def _owes(self, told: AssetCheckPartitionInfo) -> bool:
        if told.latest_execution_status is CheckStatus.PLANNED:
            return told.latest_planned_run_id == self.run_id
        return not told.is_current


def _is_ours(event: dg.DagsterEvent | None) -> bool:
    if event is None:
        return False
    if event.is_step_failure:
        return event.step_failure_data.user_failure_data is not None
    return (event.message or "").startswith(verdict.SILENT)
