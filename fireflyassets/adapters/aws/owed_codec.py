"""What a job's item says while the snapshot of its last fault is owed.

Belongs here: those attributes, there and back. Does not: the rest of the item (``codec.py``).
"""

from dataclasses import replace
from typing import Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.ledger_rules import FAULTS
from fireflyassets.core.failure import class_named
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Ending

OWED: Final = "snapshot"
"""What such jobs are found under."""
NAMES: Final = ("owedKey", "owedAt", "owedFault")


def owing(ending: Ending) -> Item:
    """Return what a job is found under until the snapshot of its fault is written.

    The fault stands beside it: a replay may take the row's own before that.
    """
    if ending.status not in FAULTS:
        return {}
    said = (ending.status, ending.failure or "", ending.reason or "")
    return {
        "owedKey": to.text(OWED),
        "owedAt": to.instant(ending.ended_at),
        "owedFault": to.texts(said),
    }


def as_ended(item: Item) -> JobRow:
    """Return a row as the fault left it, wherever the job has gone since."""
    row, reader = codec.job_row(item), Reader(item)
    if not reader.has("owedFault"):
        return row  # Of before the fault stood beside it.
    status, failure, reason = reader.texts("owedFault")
    return replace(
        row, status=Status(status), failure=class_named(failure or None), reason=reason or None
    )
