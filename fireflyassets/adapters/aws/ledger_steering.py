"""Steering in the DynamoDB ledger: cancel, hold, and campaigns on hold.

Belongs here: what people do to jobs that no wave works on. Does not: what a wave does. A campaign's
hold is an item beside the waves, whose ids never begin like its key.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, event_codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.database import Applied, Cancelled, Committed
from fireflyassets.adapters.aws.expressions import Change, Condition, check, new, put, update
from fireflyassets.adapters.aws.ledger_leftovers import (
    LedgerLeftovers,
    booked_at_end,
    closed,
    closing_event,
    unmoved,
)
from fireflyassets.adapters.ledger_rules import check_unowned, is_claimable
from fireflyassets.core.event import halted
from fireflyassets.core.job import Cancel, Hold, JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Ending

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


class LedgerSteering(LedgerLeftovers):
    """The steering part of the ledger."""

    def close(self, row: JobRow, ending: Ending) -> bool:
        """End a job that no wave works on; False if it has moved."""
        check_unowned(row)
        key = codec.job_key(row.job_id, row.customer_id)
        ended = update(self._tables.jobs, key, closed(row, ending), unmoved(row))
        items: list[TransactWriteItemTypeDef] = [
            {"Update": ended},
            self._event_put(closing_event(row, ending)),
            *self._settled(row, booked_at_end(row, ending.cost), ending.ended_at),
        ]
        return isinstance(self._database.transact(items), Committed)

    def ask_cancel(self, row: JobRow, cancel: Cancel) -> bool:
        """Note on a running job that it is to be cancelled; False if it has moved."""
        if row.status is not Status.RUNNING:
            return False
        key = codec.job_key(row.job_id, row.customer_id)
        asked = {**codec.cancel_attributes(cancel), "reason": to.text(cancel.reason)}
        request = update(self._tables.jobs, key, Change(asked), unmoved(row))
        return isinstance(self._database.update(request), Applied)

    def hold_with_campaign(self, row: JobRow, hold: Hold, *, now: datetime) -> bool:
        """Put the campaign's hold on a queued job; False if either has moved."""
        if not is_claimable(row):
            return False
        change = Change(
            {
                "hold": codec.hold_attribute(hold),
                "reason": to.text(hold.reason),
                "updatedAt": to.instant(now),
                "queueKey": None,
                "queueSort": None,
            }
        )
        job = codec.job_key(row.job_id, row.customer_id)
        stands = Condition("#hold.#since = :since", {":since": to.instant(hold.since)})
        campaign = _key(row.customer_id, row.campaign_id)
        items: list[TransactWriteItemTypeDef] = [
            {"Update": update(self._tables.jobs, job, change, unmoved(row))},
            {"ConditionCheck": check(self._tables.waves, campaign, stands)},
        ]
        return isinstance(self._database.transact(items), Committed)

    def hold_campaign(
        self, customer: str, campaign: str, hold: Hold, *, anew: bool = False
    ) -> Hold:
        """Put a campaign on hold, and return the hold that stands: the first one, unless *anew*."""
        item: Item = {**_key(customer, campaign), "hold": codec.hold_attribute(hold)}
        told = event_codec.own_item(
            halted(customer, campaign, reason=hold.reason, since=hold.since)
        )
        answer = self._database.transact(
            [
                {"Put": put(self._tables.waves, item, None if anew else new("waveId"))},
                {"Put": put(self._tables.outbox, told)},
            ]
        )
        stands = answer.failed.get(0) if isinstance(answer, Cancelled) else None
        return codec.hold_of(Reader(stands).mapping("hold")) if stands else hold

    def campaign_hold(self, customer: str, campaign: str) -> Hold | None:
        """Return a campaign's hold."""
        item = self._database.get(self._tables.waves, _key(customer, campaign))
        return codec.hold_of(Reader(item).mapping("hold")) if item else None

    def resume_campaign(self, customer: str, campaign: str) -> None:
        """Take a campaign's hold away; its jobs keep theirs."""
        self._database.delete(self._tables.waves, _key(customer, campaign))


def _key(customer: str, campaign: str) -> Item:
    return codec.wave_key(f"hold#{customer}#{campaign}")
