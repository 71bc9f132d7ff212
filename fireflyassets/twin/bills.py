"""The list of calls on paid endpoints, and what each was billed.

Belongs here: one row per call in order of arrival, its price in operations, corrections when a
job ends otherwise than asked, and counters of polls and token mints. Prompts and URLs never
enter: only hashes do. Does not belong here: totals over rows (`summary.py`).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from fireflyassets.twin.endpoints import Endpoint, Family


@dataclass(kw_only=True)
class CallRow:
    """One call as it was received and answered."""

    id: str
    at: datetime
    family: str
    endpoint: str
    body_sha256: str
    organisation: str | None = None
    client: str | None = None
    status: int | None = None  # None: the connection was dropped without an answer.
    accepted: bool = False
    billed: bool = False
    counted: bool = False  # Whether it used up the organisation's limit.
    operations: Decimal = Decimal(0)
    outputs: int = 0
    rate: str | None = None
    job_id: str | None = None
    prompt_sha256: str | None = None
    faults: list[str] = field(default_factory=list[str])

    def as_json(self, polls: int = 0) -> dict[str, object]:
        """Return the row as `GET /_twin/calls` shows it."""
        return {
            **vars(self),
            "at": self.at.isoformat(),
            "operations": str(self.operations),
            "polls": polls,
        }


class Bills:
    """Rows and counters of one twin.

    *keep* receives each row again whenever it changed; the journal writes it down.
    """

    def __init__(
        self,
        *,
        rates: Mapping[str, Decimal],
        photoshop_billing: Literal["per_call", "per_output"],
        keep: Callable[[CallRow], None],
    ) -> None:
        self._rates = rates
        self._per_output = photoshop_billing == "per_output"
        self._keep = keep
        self.rows: list[CallRow] = []
        self._places: dict[str, int] = {}
        self._by_job: dict[str, CallRow] = {}
        self.polls: Counter[str] = Counter()
        self.mints: Counter[str] = Counter()
        self.throttled: Counter[str] = Counter()  # 429s by endpoint, polls and uploads included.

    def restore(self, row: CallRow) -> None:
        """Take a row from the journal; a later row of the same id replaces the earlier."""
        place = self._places.setdefault(row.id, len(self.rows))
        self.rows[place : place + 1] = [row]
        if row.job_id is not None:
            self._by_job[row.job_id] = row

    def receive(self, endpoint: Endpoint, body_sha256: str, now: datetime) -> CallRow:
        """Open the row of a call that has just arrived."""
        row = CallRow(
            id=f"call-{len(self.rows) + 1:06d}",
            at=now,
            family=endpoint.family.value,
            endpoint=endpoint.name,
            body_sha256=body_sha256,
        )
        self._places[row.id] = len(self.rows)
        self.rows.append(row)
        return row

    def ordinal(self, row: CallRow) -> int:
        """Return the place of *row* in the list, from 1."""
        return self._places[row.id] + 1

    def accept(self, row: CallRow, *, job_id: str, rate: str, outputs: int) -> None:
        """Bill an accepted call, before its answer is sent."""
        row.accepted = row.billed = True
        row.job_id, row.rate, row.outputs = job_id, rate, outputs
        row.operations = self._price(row)
        self._by_job[job_id] = row
        self._keep(row)

    def settle(self, job_id: str, *, outputs: int, billed: bool) -> None:
        """Correct the bill of a job that ended: unbilled, or fewer outputs than asked."""
        row = self._by_job.get(job_id)
        if row is None:
            return
        row.billed, row.outputs = billed, outputs
        row.operations = self._price(row) if billed else Decimal(0)
        self._keep(row)

    def answer(self, row: CallRow, status: int | None) -> None:
        """Close the row with the status that went out."""
        row.status = status
        self._keep(row)

    def _price(self, row: CallRow) -> Decimal:
        rate = self._rates.get(row.rate or "", Decimal(1))
        per_call = row.family == Family.PHOTOSHOP.value and not self._per_output
        return rate if per_call else rate * row.outputs
