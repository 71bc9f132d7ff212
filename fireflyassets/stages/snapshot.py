"""Snapshot: what is known of a job that ended by a fault, in one file, for whoever looks into it.

In: ledger rows, sends and results. Out: ``review/…/snapshot.json``. Spends: nothing.

The ledger owes a snapshot from the same write that ends the job; whoever writes it pays that debt
last. So an outage, a missing bucket or a death delays it and loses nothing, and to write it twice
is the same file. It holds no text of the request, no address and none of a vendor's words.
"""

import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from fireflyassets.core import guidance, ids
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.job import JobRow
from fireflyassets.ports.entries import Attempt, History
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.retries import Retries, Spent

_log: Final = logging.getLogger("fireflyassets.snapshot")
_VERSION: Final = 1

Tell = Callable[[JobRow, str, Sequence[Spent]], None]
"""Hears of a job, the key of its snapshot, once that can be read, and what its tries came to."""


def write_owed(
    ledger: JobLedger, objects: ObjectStore, retries: Retries, *, most: int, tell: Tell
) -> int:
    """Write up to *most* snapshots that are owed, and return how many; the others stay owed."""
    count = 0
    for owed in ledger.owed(most=most):
        row = owed.row
        history = ledger.history(row.job_id)
        spent = retries.of(row, history)
        content = of(row, history, spent, since=owed.since)
        key = ids.snapshot_key(row.customer_id, row.campaign_id, row.job_id)
        try:
            objects.put(key, content, media_type="application/json")
        except StoreUnavailable as outage:
            _log.warning("job %s: its snapshot is still owed. %s", row.job_id, outage)
            return count
        tell(row, key, spent)
        count += ledger.snapped(owed)
    return count


def of(row: JobRow, history: History, retries: Sequence[Spent], *, since: datetime) -> bytes:
    """Return the snapshot of a job that ended by a fault at *since*."""
    cost = history.cost
    said = {
        "version": _VERSION,
        "jobId": row.job_id,
        "customer": row.customer_id,
        "campaign": row.campaign_id,
        "idempotencyKey": row.idempotency_key,
        "failedAt": since.isoformat(),
        "status": row.status.value,
        "failureClass": row.failure.value if row.failure else None,
        "reason": row.reason,
        "guidance": guidance.of(row),
        "manifest": {"key": row.input_manifest, "sha256": row.body_hash},
        "campaignVersion": row.campaign_version,
        "rateCard": row.rate_card,
        "credential": row.credential,
        "run": row.run_id,
        "counts": {name: getattr(row, name) for name in ("attempts", "crashes", "replays")},
        "retries": {one.layer: {"spent": one.spent, "limit": one.limit} for one in retries},
        "operations": {"certain": str(cost.certain), "possible": str(cost.possible)},
        "steps": [
            {
                "step": one.step,
                "generation": one.generation,
                "send": one.n,
                "file": one.picture.key,
                "sha256": one.picture.sha256,
                "operations": str(one.operations),
            }
            for one in history.steps.values()
        ],
        "sends": [_send(one) for one in history.attempts],
    }
    return json.dumps(said, indent=2, ensure_ascii=False).encode()


def _send(attempt: Attempt) -> dict[str, object]:
    """Return a send without its addresses, which hold secrets, and without a vendor's words."""
    return {
        "step": attempt.step,
        "generation": attempt.generation,
        "send": attempt.n,
        "replay": attempt.replay,
        "submittedAt": attempt.submitted_at.isoformat(),
        "state": attempt.state.value,
        "countsAsTry": attempt.counts,
        "vendorJob": attempt.vendor_id,
        "error": (attempt.fault or "").partition(": ")[0] or None,
    }
