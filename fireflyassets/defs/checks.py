# pyright: standard
"""Checks: three for each job, and one summary of each kind for the wave.

Belongs here: their specs and the evaluations made from a wave's reports. Does not: judging; the
stages judged already, and stopped the job where a check must block.

A partitioned check counts in the UI only with the materialization it is about. It is read from
the event log, so checks come after the materializations of the same keys. Open pages recompute
partitioned checks from all rows: above a number of jobs the campaign has summaries alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    # Not exported; without it every partition of a check shows as missing (dagster 1.13.27).
    AssetCheckEvaluationTargetMaterializationData as Target,
)

from fireflyassets.core import ids
from fireflyassets.core.stage import DELIVERIES, RENDITIONS
from fireflyassets.defs import names
from fireflyassets.settings import Settings
from fireflyassets.wave.reports import Check, Checked

ASSET_OF: Final[dict[Check, str]] = {
    Check.TAGGING: DELIVERIES,
    Check.COST: RENDITIONS,
    Check.REVIEW: DELIVERIES,
}
_WHY: Final[dict[Check, str]] = {
    Check.TAGGING: "Lifecycle, legal hold and reporting find files by their tags alone.",
    Check.COST: "A job that costs more than was promised must not pass unseen.",
    Check.REVIEW: "A rendition that a person has not approved is not published.",
}
_WHAT_TO_DO: Final[dict[Check, str]] = {
    Check.TAGGING: "Run them again once the bucket keeps tags: their files are written anew.",
    Check.COST: "They are in review and were not delivered; the table shows what was spent.",
    Check.REVIEW: "They are delivered and not handed out until a person approves them.",
}
_ACROSS: Final = "_across_the_wave"


def specs(customer: str, campaign: str) -> list[dg.AssetCheckSpec]:
    """Return the six checks of a campaign: each kind for a job and across a wave."""
    partitions = names.partitions(customer, campaign)
    found: list[dg.AssetCheckSpec] = []
    for check, asset in ASSET_OF.items():
        key = names.asset_key(customer, campaign, asset)
        found.append(
            dg.AssetCheckSpec(
                check.value, asset=key, description=_WHY[check], partitions_def=partitions
            )
        )
        found.append(
            dg.AssetCheckSpec(
                summary_name(check),
                asset=key,
                description=f"{_WHY[check]} All jobs of the last wave.",
            )
        )
    return found


def key(customer: str, campaign: str, check: Check) -> dg.AssetCheckKey:
    """Return the key of a check of a campaign, by partition."""
    return dg.AssetCheckKey(names.asset_key(customer, campaign, ASSET_OF[check]), check.value)


def keys(customer: str, campaign: str, *, partitioned: bool) -> list[dg.AssetCheckKey]:
    """Return the keys of a campaign's summaries, and of the checks by partition where wanted."""
    found: list[dg.AssetCheckKey] = []
    for check, asset in ASSET_OF.items():
        said = names.asset_key(customer, campaign, asset)
        found.append(dg.AssetCheckKey(said, summary_name(check)))
        if partitioned:
            found.append(key(customer, campaign, check))
    return found


def by_partition(
    instance: dg.DagsterInstance, customer: str, campaign: str, settings: Settings
) -> bool:
    """Say whether a campaign has few enough jobs for checks by partition."""
    keys = instance.get_dynamic_partitions(ids.partitions_name(customer, campaign))
    return len(keys) <= settings.partitioned_checks_up_to


def about(asset: dg.AssetKey) -> list[Check]:
    """Return the checks of an asset."""
    return [check for check, name in ASSET_OF.items() if name == asset.path[-1]]


def every_name() -> frozenset[str]:
    """Return the names of all six."""
    return frozenset(name for check in Check for name in (check.value, summary_name(check)))


def summary_name(check: Check) -> str:
    """Return the name of the check that sums *check* up across a wave."""
    return f"{check.value}{_ACROSS}"


@dataclass(slots=True)
class CheckBook:
    """Collects a wave's checks and turns them into evaluations."""

    customer: str
    campaign: str
    run_id: str
    wanted: frozenset[str]
    """Names of the checks that are told."""
    partitioned: bool
    waiting: list[Checked] = field(default_factory=list[Checked])
    seen: list[Checked] = field(default_factory=list[Checked])

    def note(self, checked: Checked) -> None:
        """Keep a check until its materialization is in the log."""
        self.waiting.append(checked)
        self.seen.append(checked)

    def evaluate(
        self, instance: dg.DagsterInstance, *, now: float
    ) -> Iterator[dg.AssetCheckEvaluation]:
        """Yield the waiting evaluations, one log query for each asset."""
        waiting, self.waiting = self.waiting, []
        if not self.partitioned:
            return
        for asset in dict.fromkeys(ASSET_OF.values()):
            mine = [one for one in waiting if ASSET_OF[one.check] == asset]
            mine = [one for one in mine if one.check.value in self.wanted]
            if not mine:
                continue
            key = names.asset_key(self.customer, self.campaign, asset)
            stored = _storage_ids(instance, key, {one.job_id for one in mine})
            for one in mine:
                yield self._evaluation(one, key, stored, now)

    def not_passed(self) -> set[str]:
        """Return the jobs that a summary will name."""
        return {one.job_id for one in self.seen if not one.passed}

    def summaries(
        self, keys: Mapping[str, str], *, asked: int
    ) -> Iterator[dg.AssetCheckEvaluation]:
        """Yield one evaluation of each kind over the whole wave, which had *asked* jobs.

        *keys* are the customer's own names of the jobs that are not passed.
        """
        for check, asset in ASSET_OF.items():
            name = summary_name(check)
            mine = {one.job_id: one for one in self.seen if one.check is check}
            if name not in self.wanted or not asked:
                continue
            bad = [one for one in mine.values() if not one.passed]
            yield dg.AssetCheckEvaluation(
                asset_key=names.asset_key(self.customer, self.campaign, asset),
                check_name=name,
                passed=bool(mine) and not bad,
                severity=_severity(bad),
                description=_sentence(check, jobs=len(mine), bad=len(bad), asked=asked),
                metadata={
                    "jobs_of_wave": asked,
                    "checked": len(mine),
                    "not_passed": len(bad),
                    **_operations(mine.values()),
                    **({"jobs_not_passed": _table(bad, keys)} if bad else {}),
                },
            )

    def _evaluation(
        self, one: Checked, key: dg.AssetKey, stored: Mapping[str, int], now: float
    ) -> dg.AssetCheckEvaluation:
        storage_id = stored.get(one.job_id)
        target = (
            None
            if storage_id is None
            else Target(storage_id=storage_id, run_id=self.run_id, timestamp=now)
        )
        return dg.AssetCheckEvaluation(
            asset_key=key,
            check_name=one.check.value,
            passed=one.passed,
            severity=_severity([] if one.passed else [one]),
            metadata=dict(one.facts),
            target_materialization_data=target,
            partition=one.job_id,
        )


def _severity(bad: Iterable[Checked]) -> dg.AssetCheckSeverity:
    """Blocking checks are errors; a pending review only warns."""
    blocking = any(one.blocks for one in bad)
    return dg.AssetCheckSeverity.ERROR if blocking else dg.AssetCheckSeverity.WARN


def _operations(checks: Iterable[Checked]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for one in checks:
        for name, value in one.facts.items():
            if name.startswith("operations_"):
                totals[name] = totals.get(name, 0.0) + float(value)
    return totals


def _table(bad: Iterable[Checked], keys: Mapping[str, str]) -> dg.MetadataValue:
    rows = [
        dg.TableRecord({"key": keys.get(one.job_id, ""), "job": one.job_id, **one.facts})
        for one in bad
    ]
    return dg.MetadataValue.table(rows)


def _sentence(check: Check, *, jobs: int, bad: int, asked: int) -> str:
    if not jobs:
        return f"None of the wave's {asked} jobs came so far: the run says why."
    missing = f" {asked - jobs} more did not come so far: the run says why." if asked > jobs else ""
    if not bad:
        return f"{jobs} of {jobs} jobs pass.{missing}"
    return f"{bad} of {jobs} jobs do not pass. {_WHAT_TO_DO[check]}{missing}"


def _storage_ids(
    instance: dg.DagsterInstance, key: dg.AssetKey, jobs: set[str]
) -> Mapping[str, int]:
    return instance.event_log_storage.get_latest_storage_id_by_partition(
        key, dg.DagsterEventType.ASSET_MATERIALIZATION, jobs
    )
