"""Jobs that ended by a fault, in the DynamoDB ledger.

Belongs here: the list of ``dlq``, replays, owed snapshots. Does not: what a wave does.
"""

from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, owed_codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.booking import replayed, written
from fireflyassets.adapters.aws.database import Applied, Committed, query
from fireflyassets.adapters.aws.expressions import Change, Condition, update
from fireflyassets.adapters.aws.ledger_leftovers import (
    booked_at_end,
    closed,
    closing_event,
    unmoved,
)
from fireflyassets.adapters.aws.ledger_steering import LedgerSteering
from fireflyassets.adapters.aws.ledger_turns import LedgerTurns
from fireflyassets.adapters.aws.tables import DEAD, OWED
from fireflyassets.adapters.budget_rules import refused, replays
from fireflyassets.adapters.outbox import status_event
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.dead import DeadJobs, Owed
from fireflyassets.ports.entries import Ending

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_GONE: Final = ("deadKey", "endedKey", "endedAt", "ttl", "failure", "wave")


class LedgerDead(LedgerTurns, LedgerSteering, DeadJobs):
    """The part of the ledger about jobs that ended by a fault."""

    def dead(self) -> list[JobRow]:
        """Return all jobs in ``dlq``, the longest there first."""
        condition = Condition("#deadKey = :dead", {":dead": to.text(Status.DLQ)})
        found = self._database.pages(query(self._tables.jobs, condition, index=DEAD.name))
        keys = [_key(item) for item in found]
        rows = map(codec.job_row, self._database.get_many(self._tables.jobs, keys))
        return sorted((row for row in rows if row.status is Status.DLQ), key=_place)

    def replay(
        self, row: JobRow, *, due_at: datetime, said: str, now: datetime
    ) -> bool | OverBudget:
        """Move dlq -> queued, replays + 1, with its event; False if the job has moved."""
        if row.status is not Status.DLQ:
            return False
        asked = replays(row, self._counters_of_row(row), now)
        if over := refused(asked):
            return over
        booking = row.booking.renewed(row.cost_estimate) if row.booking else None
        month = booking.month if booking else ""
        change = Change(
            sets={
                "status": to.text(Status.QUEUED),
                "reason": to.text(said),
                "notBefore": to.instant(due_at),
                "queueSort": codec.queue_sort(due_at, row.job_id),
                "updatedAt": to.instant(now),
                "crashes": to.number(0),
                **dict.fromkeys(_GONE),
                **codec.at_rest(row.job_id, unsettled=False),
                **written(booking),
            },
            adds={"replays": 1, "epoch": 1},
            copies={"queueKey": "queueHome"},
        )
        event = status_event(
            job_id=row.job_id,
            customer=row.customer_id,
            campaign=row.campaign_id,
            epoch=row.epoch + 1,
            status=Status.QUEUED,
            at=now,
        )
        key = codec.job_key(row.job_id, row.customer_id)
        items: list[TransactWriteItemTypeDef] = [
            {"Update": update(self._tables.jobs, key, change, unmoved(row))},
            self._event_put(event),
            *replayed(self._tables, row.customer_id, month, asked),
        ]
        return isinstance(self._database.transact(items), Committed)

    def take_back(self, row: JobRow, ending: Ending) -> bool:
        """Undo a replay of a job that no wave has begun; False if it has moved."""
        if row.status is not Status.QUEUED:
            return False
        change = replace(closed(row, ending), adds={"epoch": 1, "replays": -1})
        key = codec.job_key(row.job_id, row.customer_id)
        items: list[TransactWriteItemTypeDef] = [
            {"Update": update(self._tables.jobs, key, change, unmoved(row))},
            self._event_put(closing_event(row, ending)),
            *self._settled(row, booked_at_end(row, ending.cost), ending.ended_at),
        ]
        return isinstance(self._database.transact(items), Committed)

    def owed(self, *, most: int) -> list[Owed]:
        """Return up to *most* jobs whose last fault has no snapshot."""
        condition = Condition("#owedKey = :owed", {":owed": to.text(owed_codec.OWED)})
        found = self._database.pages(query(self._tables.jobs, condition, index=OWED.name))
        keys = [_key(item) for item in islice(found, most)]
        items = self._database.get_many(self._tables.jobs, keys)
        owed = [
            Owed(owed_codec.as_ended(item), Reader(item).instant("owedAt"))
            for item in items
            if Reader(item).has("owedAt")
        ]
        return sorted(owed, key=lambda one: (one.since, one.row.job_id))

    def snapped(self, owed: Owed) -> bool:
        """Note that the snapshot is written; False if it is another fault's."""
        key = codec.job_key(owed.row.job_id, owed.row.customer_id)
        stands = Condition("#owedAt = :since", {":since": to.instant(owed.since)})
        change = Change(dict.fromkeys(owed_codec.NAMES))
        request = update(self._tables.jobs, key, change, stands)
        return isinstance(self._database.update(request), Applied)


def _key(item: Item) -> Item:
    return {name: item[name] for name in ("jobId", "customerId")}


def _place(row: JobRow) -> tuple[datetime, str]:
    return (row.ended_at or row.updated_at, row.job_id)
