# pyright: standard
"""A wave's reports as Dagster events: what people see of a job.

Belongs here: metadata, chosen for people; a preview first, few numbers, no secrets, no signed
URLs. Does not: what happened.
"""

from collections.abc import Iterator

import dagster as dg

from fireflyassets.core import ids
from fireflyassets.core.job import StepResult
from fireflyassets.core.stage import ASSET_OF_STAGE, DELIVERIES
from fireflyassets.defs import names
from fireflyassets.stages.deliver import Delivered
from fireflyassets.wave.reports import Handed, Made, Subject

Metadata = dict[str, dg.MetadataValue]


def made(report: Made, *, api_url: str) -> dg.AssetMaterialization:
    """Return the materialization of a job's base images or renditions."""
    row = report.subject.row
    name = ASSET_OF_STAGE[report.stage]
    operations = sum(float(one.operations) for one in report.results)
    files = [_file_line(one) for one in report.results]
    preview = [_aspect(one.step) for one in report.results]
    metadata: Metadata = {
        "preview": _previews(report.subject, preview, api_url),
        "files": dg.MetadataValue.md("\n".join([_HEADER, *files])),
        "operations": dg.MetadataValue.float(operations),
        **_about(report.subject),
    }
    seeds = [str(one.seed) for one in report.results if one.seed is not None]
    if seeds:
        metadata["seed"] = dg.MetadataValue.text(", ".join(seeds))
        metadata["model"] = dg.MetadataValue.text(report.results[0].model or "")
    seconds = [float(one.facts.get("seconds", "0")) for one in report.results]
    metadata["remote_seconds"] = dg.MetadataValue.float(max(seconds, default=0.0))
    key = names.asset_key(row.customer_id, row.campaign_id, name)
    return dg.AssetMaterialization(key, partition=row.job_id, metadata=metadata)


def handed(report: Handed, *, api_url: str) -> dg.AssetMaterialization:
    """Return the materialization of a job's deliveries."""
    row = report.subject.row
    files = [_delivery_line(one) for one in report.deliveries]
    metadata: Metadata = {
        "preview": _previews(report.subject, [one.aspect for one in report.deliveries], api_url),
        "files": dg.MetadataValue.md("\n".join([_DELIVERY_HEADER, *files])),
        "renditions": dg.MetadataValue.int(len(report.deliveries)),
        "operations_estimate": dg.MetadataValue.float(float(row.cost_estimate)),
        "operations_actual": dg.MetadataValue.float(float(report.cost.certain)),
        "operations_possible": dg.MetadataValue.float(float(report.cost.possible)),
        "status": dg.MetadataValue.url(f"{api_url}/v1/jobs/{row.job_id}"),
        **_about(report.subject),
    }
    key = names.asset_key(row.customer_id, row.campaign_id, DELIVERIES)
    return dg.AssetMaterialization(key, partition=row.job_id, metadata=metadata)


def _about(subject: Subject) -> Metadata:
    metadata: Metadata = {
        "key": dg.MetadataValue.text(subject.request.key),
        "locale": dg.MetadataValue.text(subject.request.locale),
        "campaign_version": dg.MetadataValue.text(subject.row.campaign_version),
    }
    if subject.reused:
        metadata["reused"] = dg.MetadataValue.bool(True)
    return metadata


_HEADER = "| file | size | bytes | sha256 |\n| --- | --- | --- | --- |"
_DELIVERY_HEADER = "| aspect | file | bytes | tags |\n| --- | --- | --- | --- |"


def _file_line(one: StepResult) -> str:
    picture = one.picture
    size = f"{picture.width}x{picture.height}"
    return f"| {one.step} | {size} | {picture.size_bytes} | {picture.sha256[:12]} |"


def _delivery_line(one: Delivered) -> str:
    tags = ", ".join(f"{name}={value}" for name, value in sorted(one.found.items()))
    name = one.key.rsplit("/", 1)[-1]
    return f"| {one.aspect} | {name} | {one.picture.size_bytes} | {tags} |"


def _previews(subject: Subject, aspects: list[str], api_url: str) -> dg.MetadataValue:
    row = subject.row
    base = f"{api_url}/assets/{row.customer_id}/{row.campaign_id}/{row.job_id}"
    return dg.MetadataValue.md(" ".join(f"![{one}]({base}/{one})" for one in aspects))


def _aspect(step: str) -> str:
    """Return the aspect of a fanned-out step, or the step itself for a base image."""
    found = step.rsplit(".", 1)[-1]
    return found if ids.ASPECT.fullmatch(found) else step


def failures(reasons: dict[str, str]) -> Iterator[dg.TableRecord]:
    """Yield a table row for each failed job."""
    for job_id, reason in reasons.items():
        yield dg.TableRecord({"job": job_id, "reason": reason})
