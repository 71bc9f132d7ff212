# pyright: standard
"""A wave's reports as Dagster events: what people see of a job.

Belongs here: metadata, chosen for people; a preview first, few numbers, no secrets, no signed
URLs. Does not: what happened.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import dagster as dg

from fireflyassets.core import ids
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.origin import model_of
from fireflyassets.core.stage import ASSET_OF_STAGE, DELIVERIES
from fireflyassets.core.why import Facts, why
from fireflyassets.defs import names
from fireflyassets.stages import retries
from fireflyassets.stages.deliver import Delivered
from fireflyassets.wave.reports import Handed, Made, Subject

Metadata = dict[str, dg.MetadataValue]
_TOTAL: Final = "operations_in_all"
_TOLD_LATE: Final = "The run that made it was interrupted; this was read from the ledger."
_GENERATION: Final = "generation"


def key_of(report: Made | Handed) -> dg.AssetKey:
    """Return which asset a report is about."""
    name = ASSET_OF_STAGE[report.stage] if isinstance(report, Made) else DELIVERIES
    row = report.subject.row
    return names.asset_key(row.customer_id, row.campaign_id, name)


def of(
    report: Made | Handed, instance: dg.DagsterInstance, *, api_url: str, late: bool = False
) -> dg.AssetMaterialization:
    """Return the materialization that a report is shown as; *late*: after its run has ended."""
    shown = (
        _handed(report, api_url=api_url)
        if isinstance(report, Handed)
        else _made(report, api_url=api_url, told=_operations_told(report, instance))
    )
    if late:
        return shown.with_metadata({**shown.metadata, "told_late": _TOLD_LATE})
    if report.subject.reused:
        return shown.with_metadata({**shown.metadata, "reused": True})
    return shown


def waiting(rows: Iterable[JobRow], now: datetime) -> Iterator[dg.AssetObservation]:
    """Yield what partitions show of jobs that a run has not delivered: what holds each."""
    for row in rows:
        cause = why(Facts(row, now)).cause
        metadata: Metadata = {
            "held_by": dg.MetadataValue.text(cause.held_by.value),
            "reason": dg.MetadataValue.text(cause.sentence),
            "since": dg.MetadataValue.timestamp(cause.since),
            "lifted_by": dg.MetadataValue.text(cause.lifted_by),
            "key": dg.MetadataValue.text(row.idempotency_key),
        }
        if row.not_before is not None:
            metadata["due_again"] = dg.MetadataValue.timestamp(row.not_before)
        key = names.asset_key(row.customer_id, row.campaign_id, DELIVERIES)
        yield dg.AssetObservation(key, partition=row.job_id, metadata=metadata)


def _made(report: Made, *, api_url: str, told: float) -> dg.AssetMaterialization:
    """Return the materialization of a job's base images or renditions."""
    row = report.subject.row
    operations = sum(float(one.operations) for one in report.results)
    files = [_file_line(one) for one in report.results]
    pictures = [one for one in report.results if one.picture.media_type.startswith("image/")]
    preview = list(dict.fromkeys(_aspect(one.step) for one in pictures))
    seeds = [str(one.seed) for one in report.results if one.seed is not None]
    made_by: Metadata = {}
    if seeds:
        made_by["model"] = dg.MetadataValue.text(model_of(report.results) or "")
        made_by["seed"] = dg.MetadataValue.text(", ".join(seeds))
    seconds = [float(one.facts.get("seconds", "0")) for one in report.results]
    metadata: Metadata = {
        "preview": _previews(report.subject, preview, api_url),
        **_about(report.subject),
        **made_by,
        "operations": dg.MetadataValue.float(operations - told),
        _TOTAL: dg.MetadataValue.float(operations),
        "files": dg.MetadataValue.md("\n".join([_HEADER, *files])),
        "remote_seconds": dg.MetadataValue.float(max(seconds, default=0.0)),
        **_versions(row),
    }
    return dg.AssetMaterialization(key_of(report), partition=row.job_id, metadata=metadata)


def _operations_told(report: Made, instance: dg.DagsterInstance) -> float:
    """Return the operations that earlier events of the partition have told.

    So the sum over all events is what was paid for what is shown, however often it is told again.
    """
    row = report.subject.row
    if row.epoch <= 1 and not report.subject.reused:
        return 0.0  # Its first wave: nothing was told before, and the query is saved.
    of_job = dg.AssetRecordsFilter(key_of(report), asset_partitions=[row.job_id])
    for record in instance.fetch_materializations(of_job, limit=1).records:
        last = record.asset_materialization
        total = last.metadata.get(_TOTAL) if last else None
        if last and isinstance(total, dg.FloatMetadataValue):
            same = last.metadata[_GENERATION].value == row.generation
            return float(total.value or 0) if same else 0.0
    return 0.0


def _handed(report: Handed, *, api_url: str) -> dg.AssetMaterialization:
    """Return the materialization of a job's deliveries."""
    row = report.subject.row
    files = [_delivery_line(one) for one in report.deliveries]
    metadata: Metadata = {
        "preview": _previews(report.subject, [one.aspect for one in report.deliveries], api_url),
        **_about(report.subject),
        "renditions": dg.MetadataValue.int(len(report.deliveries)),
        "operations_estimate": dg.MetadataValue.float(float(row.cost_estimate)),
        "operations_actual": dg.MetadataValue.float(float(report.cost.certain)),
        "operations_possible": dg.MetadataValue.float(float(report.cost.possible)),
        "retries": dg.MetadataValue.text(retries.sentence(report.retries)),
        "files": dg.MetadataValue.md("\n".join([_DELIVERY_HEADER, *files])),
        "api_address_wants_token": dg.MetadataValue.text(f"{api_url}/v1/jobs/{row.job_id}"),
        **_versions(row),
    }
    return dg.AssetMaterialization(key_of(report), partition=row.job_id, metadata=metadata)


def _about(subject: Subject) -> Metadata:
    return {
        "key": dg.MetadataValue.text(subject.request.key),
        "headline": dg.MetadataValue.text(subject.request.headline),
        "locale": dg.MetadataValue.text(subject.request.locale),
    }


def _versions(row: JobRow) -> Metadata:
    return {
        _GENERATION: dg.MetadataValue.int(row.generation),
        "campaign_version": dg.MetadataValue.text(row.campaign_version),
    }


_HEADER = "| file | size | bytes | sha256 |\n| --- | --- | --- | --- |"
_DELIVERY_HEADER = "| aspect | file | tags |\n| --- | --- | --- |"


def _file_line(one: StepResult) -> str:
    picture = one.picture
    size = f"{picture.width}x{picture.height}"
    return f"| {one.step} | {size} | {picture.size_bytes} | {picture.sha256[:12]} |"


def _delivery_line(one: Delivered) -> str:
    tags = ", ".join(f"{name}={value}" for name, value in sorted(one.found.items()))
    name = one.key.rsplit("/", 1)[-1]
    return f"| {one.aspect} | {name} | {tags} |"


def _previews(subject: Subject, aspects: list[str], api_url: str) -> dg.MetadataValue:
    row = subject.row
    base = f"{api_url}/assets/{row.customer_id}/{row.campaign_id}/{row.job_id}"
    return dg.MetadataValue.md(" ".join(f"![{one}]({base}/{one})" for one in aspects))


def _aspect(step: str) -> str:
    """Return the aspect of a fanned-out step, or the step itself for a base image."""
    found = step.rsplit(".", 1)[-1]
    return found if ids.ASPECT.fullmatch(found) else step
