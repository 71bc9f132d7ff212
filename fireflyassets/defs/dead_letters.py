# pyright: standard
"""The sensor that looks after what ended by a fault: snapshots, and the dead-letter queue.

Belongs here: its tick, and what Dagster is told. Does not: what a snapshot holds
(``stages/snapshot.py``), what becomes of a letter (``stages/letters.py``).
"""

from functools import partial
from typing import Final

import dagster as dg

from fireflyassets.core import guidance
from fireflyassets.core.job import JobRow
from fireflyassets.core.stage import DELIVERIES
from fireflyassets.defs import names, resources
from fireflyassets.stages.snapshot import write_owed

_TICK: Final = 30
_SLICE: Final = 50
"""Snapshots, and letters, of one tick."""


@dg.sensor(
    name="dead_letters",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={*resources.WAVE_PORTS, "job_queue", "guardrail"},
    description="Writes snapshots of failed jobs; matches dead letters to the ledger.",
)
def dead_letters_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Write what is owed, then sort a slice of the dead-letter queue."""
    given = context.resources
    tell = partial(_tell, context.instance, given.settings.bucket, given.settings.api_url)
    written = write_owed(given.ledger, given.objects, most=_SLICE, tell=tell)
    told = resources.letters(given).sort(most=_SLICE)
    letters = f"{told.known} of known jobs, {told.put_aside} put aside"
    return dg.SkipReason(f"{written} snapshots; dead letters: {letters}.")


def _tell(instance: dg.DagsterInstance, bucket: str, api_url: str, row: JobRow, key: str) -> None:
    """Link the snapshot in the metadata of the job's partition."""
    metadata: dict[str, dg.MetadataValue] = {
        "snapshot": dg.MetadataValue.path(f"s3://{bucket}/{key}"),
        "failure": dg.MetadataValue.text(row.failure.value if row.failure else "not classed"),
        "reason": dg.MetadataValue.text(row.reason or ""),
        "guidance": dg.MetadataValue.text(guidance.of(row) or ""),
        "page": dg.MetadataValue.url(f"{api_url}/pages/jobs/{row.job_id}"),
    }
    deliveries = names.asset_key(row.customer_id, row.campaign_id, DELIVERIES)
    instance.report_runless_asset_event(
        dg.AssetObservation(deliveries, partition=row.job_id, metadata=metadata)
    )
