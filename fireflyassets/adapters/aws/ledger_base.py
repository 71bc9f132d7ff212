"""What all parts of the DynamoDB ledger share.

Belongs here: the tables, the row by its whole key, and what is remembered of waves. Does not: the
port's methods.
"""

from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import budget_codec, codec, event_codec
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.database import Database
from fireflyassets.adapters.aws.expressions import put
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core.budget import Counter
from fireflyassets.core.job import JobRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_REMEMBERED: Final = 1000


class LedgerBase:
    """The tables of one ledger. Safe to share by threads."""

    def __init__(
        self, client: "DynamoDBClient", *, prefix: str, backoff: Backoff | None = None
    ) -> None:
        self._database = Database(client, backoff or Backoff())
        self._tables = Tables(prefix)
        self._campaigns: dict[str, str] = {}

    def _row(self, job_id: str, customer: str) -> JobRow | None:
        item = self._database.get(self._tables.jobs, codec.job_key(job_id, customer))
        return codec.job_row(item) if item else None

    def _counters_of_row(self, row: JobRow) -> list[Counter]:
        """Return the counters of the budgets that a job is booked in."""
        if row.booking is None:
            return []
        at = (row.customer_id, row.booking.month)
        keys = [budget_codec.counter_key(*at, scope) for scope in row.booking.scopes]
        items = self._database.get_many(self._tables.budgets, keys)
        return [budget_codec.counter_of(item) for item in items]

    def _event_put(self, event: StatusEvent) -> "TransactWriteItemTypeDef":
        return {"Put": put(self._tables.outbox, event_codec.event_item(event))}

    def _remember(self, wave_id: str, campaign: str) -> None:
        """Keep the campaign of a wave, which never changes: events name it, claims do not."""
        if len(self._campaigns) >= _REMEMBERED:
            self._campaigns.clear()
        self._campaigns[wave_id] = campaign
