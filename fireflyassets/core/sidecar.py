"""The sidecar: what is known of a delivered file, as JSON beside it.

Belongs here: its one form. Does not: where it lies (``core/ids.py``), its schema as a document
(``core/schemas.py``). Prompts and headlines are not told: sidecars leave the house with files.
"""

import json
from typing import Any, Final

from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRequest, JobRow, Picture, StepResult
from fireflyassets.core.origin import Origin
from fireflyassets.core.tags import generated_by

MEDIA_TYPE: Final = "application/json"
VERSION: Final = 1


def dump(
    campaign: Campaign,
    row: JobRow,
    request: JobRequest,
    aspect: str,
    creative: str,
    file: Picture,
    origin: Origin,
) -> bytes:
    """Return the sidecar of one file; the same file gives the same bytes."""
    said = {
        "version": VERSION,
        "creativeId": creative,
        "file": _file(file),
        "customer": row.customer_id,
        "campaign": row.campaign_id,
        "campaignVersion": campaign.version,
        "jobId": row.job_id,
        "concept": row.idempotency_key,
        "generation": row.generation,
        "locale": request.locale,
        "aspect": aspect,
        "templateSha256": campaign.templates.get(aspect),
        "digitalSourceType": origin.source and origin.source.value,
        "generatedBy": generated_by(origin.model),
        "modelId": origin.custom_model,
        "originals": [_original(one) for one in origin.originals],
    }
    return json.dumps(said, ensure_ascii=False, indent=1).encode() + b"\n"


def _file(file: Picture) -> dict[str, Any]:
    return {
        "name": file.key.rsplit("/", 1)[-1],
        "mediaType": file.media_type,
        "width": file.width,
        "height": file.height,
        "bytes": file.size_bytes,
        "sha256": file.sha256,
    }


def _original(made: StepResult) -> dict[str, Any]:
    return {
        "step": made.step,
        "key": made.picture.key,
        "sha256": made.picture.sha256,
        "model": made.model,
        "seed": made.seed,
    }
