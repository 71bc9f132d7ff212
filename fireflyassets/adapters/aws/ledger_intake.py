"""Rows in and out of the DynamoDB ledger.

Belongs here: recording jobs, reading them by id, by campaign and by what is due. Does not: moves
between states (``aws/ledger_turns.py``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.booking import block_part
from fireflyassets.adapters.aws.database import TRANSACTION_ITEMS, Committed, filtered, query
from fireflyassets.adapters.aws.expressions import Condition, new, put
from fireflyassets.adapters.aws.ledger_budgets import LedgerBudgets
from fireflyassets.adapters.aws.tables import CAMPAIGN, QUEUE
from fireflyassets.adapters.ledger_rules import check_new
from fireflyassets.adapters.outbox import status_event
from fireflyassets.core.budget import ZERO, Block
from fireflyassets.core.errors import ReservationLapsed
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Conflict, Duplicate, Place, Recorded, Recording

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

ITEMS_PER_JOB: Final = 2
"""The row and its event."""


class LedgerIntake(LedgerBudgets):
    """The intake's part of the ledger."""

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        """Write each row unless its id is taken, with its event in the same transaction."""
        check_new(rows)
        first = {row.job_id: row for row in reversed(rows)}
        wanted = list(first.values())
        known: dict[str, JobRow] = {}
        size = (TRANSACTION_ITEMS - (block is not None)) // ITEMS_PER_JOB
        for start in range(0, len(wanted), size):
            taken, block = self._record_chunk(wanted[start : start + size], block)
            known |= taken
        return [_recording(row, first[row.job_id], known.get(row.job_id)) for row in rows]

    def _record_chunk(
        self, rows: Sequence[JobRow], block: Block | None
    ) -> tuple[dict[str, JobRow], Block | None]:
        """Write the rows whose ids are free; return what stands under the others, and the block.

        One taken id cancels the whole transaction, which says who stands there: leave those out
        and send the rest again, which ends since every turn leaves at least one out.
        """
        known: dict[str, JobRow] = {}
        free: list[JobRow] = list(rows)
        while free:
            held = sum((row.booking.held for row in free if row.booking), ZERO)
            parts = [part for row in free for part in self._puts(row)]
            rows_end = len(parts)
            if block is not None and held:
                parts.append(block_part(self._tables.budgets, block, held))
            answer = self._database.transact(parts)
            if isinstance(answer, Committed):
                return known, block and replace(block, left=block.left - held)
            if block is not None and rows_end in answer.failed:
                raise ReservationLapsed(block.block_id)
            known |= {row.job_id: row for row in map(_standing, answer.failed.values())}
            free = [row for row in free if row.job_id not in known]
        return known, block

    def _puts(self, row: JobRow) -> "list[TransactWriteItemTypeDef]":
        event = status_event(
            job_id=row.job_id,
            customer=row.customer_id,
            campaign=row.campaign_id,
            epoch=row.epoch,
            status=row.status,
            at=row.updated_at,
        )
        return [
            {"Put": put(self._tables.jobs, codec.job_item(row), new("jobId"))},
            self._event_put(event),
        ]

    def ready(self) -> None:
        """Return where the ledger takes writes now: no job has this id, so that none is deleted."""
        self._database.delete(self._tables.jobs, codec.job_key("-", "-"))

    def job(self, job_id: str) -> JobRow | None:
        """Return a row by its id alone, read consistently."""
        condition = Condition("#jobId = :job", {":job": to.text(job_id)})
        items = self._database.pages(query(self._tables.jobs, condition))
        return next((codec.job_row(item) for item in items), None)

    def jobs(self, customer: str, job_ids: Iterable[str]) -> dict[str, JobRow]:
        """Return the rows that exist, read consistently, a hundred a request."""
        keys = [codec.job_key(job_id, customer) for job_id in dict.fromkeys(job_ids)]
        rows = map(codec.job_row, self._database.get_many(self._tables.jobs, keys))
        return {row.job_id: row for row in rows}

    def campaign_jobs(self, customer: str, campaign: str) -> list[JobRow]:
        """Return a campaign's rows by creation time: all pages of the index, so maybe stale."""
        condition = Condition(
            "#campaignKey = :campaign", {":campaign": codec.campaign_key(customer, campaign)}
        )
        request = query(self._tables.jobs, condition, index=CAMPAIGN.name)
        return [codec.job_row(item) for item in self._database.pages(request)]

    def campaign_page(
        self,
        customer: str,
        campaign: str,
        *,
        after: Place | None,
        status: Status | None = None,
        is_held: bool = False,
        most: int,
        newest_first: bool = False,
    ) -> list[JobRow]:
        """Return up to *most* of those rows that come behind *after*."""
        values = {":campaign": codec.campaign_key(customer, campaign)}
        text = "#campaignKey = :campaign"
        if after:
            text += f" AND #campaignSort {'<' if newest_first else '>'} :after"
            values[":after"] = codec.campaign_sort(after.created_at, after.job_id)
        request = query(self._tables.jobs, Condition(text, values), index=CAMPAIGN.name)
        request["ScanIndexForward"] = not newest_first
        if status:
            kept = Condition("#status = :status", {":status": to.text(status)})
            request = filtered(request, kept)
        elif is_held:
            request = filtered(request, Condition("attribute_exists(#hold)", {}))
        else:
            request["Limit"] = most
        return [codec.job_row(item) for item in islice(self._database.pages(request), most)]

    def due(
        self, credential: str, customer: str, campaign: str, *, now: datetime, most: int
    ) -> list[JobRow]:
        """Return up to *most* queued, unheld jobs that are due, the longest due first."""
        condition = Condition(
            "#queueKey = :line AND #queueSort < :bound",
            {
                ":line": codec.queue_key(credential, customer, campaign),
                ":bound": codec.queue_bound(now),
            },
        )
        request = query(self._tables.jobs, condition, index=QUEUE.name)
        items = self._database.pages({**request, "Limit": most})
        return [codec.job_row(item) for item in islice(items, most)]

    def lines(self) -> set[tuple[str, str, str]]:
        """Return (credential, customer, campaign) of every line that an unheld job waits in."""
        keys = set(self._database.column(self._tables.jobs, QUEUE.name, QUEUE.hash_key))
        return {codec.line_of(key) for key in keys}


def _standing(item: Item | None) -> JobRow:
    if item is None:
        raise LookupError("DynamoDB refused a new row and did not say which one stands there.")
    return codec.job_row(item)


def _recording(row: JobRow, first: JobRow, known: JobRow | None) -> Recording:
    """Answer for *row*: of equal ids in one batch the *first* stands for all."""
    if known is None and row is first:
        return Recorded(row)
    stored = known or first
    return Duplicate(stored) if stored.body_hash == row.body_hash else Conflict(stored)
