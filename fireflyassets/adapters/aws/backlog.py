"""What stands in the ledger's tables, counted by its sparse indexes.

Belongs here: reading three indexes. Does not: rows. Queue's and campaign's hold whole rows, so that
a count reads about 1 kB for each job: 10,000 jobs cost 1,250 read units. Only what is counted is
sent.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from fireflyassets.adapters.aws import codec
from fireflyassets.adapters.aws.attributes import Reader
from fireflyassets.adapters.aws.tables import CAMPAIGN, DEAD, QUEUE, Tables
from fireflyassets.core.status import Status
from fireflyassets.core.sums import Sums
from fireflyassets.ports.backlog import Backlog, Line, LineName, lines_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoBacklog(Backlog):
    """Counts what the indexes of one prefix's table of jobs hold."""

    def __init__(self, client: "DynamoDBClient", *, prefix: str) -> None:
        self._client = client
        self._table = Tables(prefix).jobs

    def lines(self) -> Mapping[LineName, Line]:
        """Return the lines that anything waits in."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._table,
            IndexName=QUEUE.name,
            ProjectionExpression=f"{QUEUE.hash_key}, {QUEUE.range_key}",
        )
        items = (Reader(item) for page in pages for item in page["Items"])
        return lines_of(
            (codec.line_of(item.text(QUEUE.hash_key)), _due_at(item.text(QUEUE.range_key)))
            for item in items
        )

    def dead(self) -> int:
        """Return how many jobs are in ``dlq``."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=DEAD.name,
            Select="COUNT",
            KeyConditionExpression=f"{DEAD.hash_key} = :dead",
            ExpressionAttributeValues={":dead": {"S": Status.DLQ.value}},
        )
        return sum(page["Count"] for page in pages)

    def campaign(self, customer: str, campaign: str) -> Sums:
        """Return a campaign's sums."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=CAMPAIGN.name,
            KeyConditionExpression=f"{CAMPAIGN.hash_key} = :campaign",
            ExpressionAttributeValues={":campaign": codec.campaign_key(customer, campaign)},
            # Of a hold its time alone: that it is there is what counts.
            ProjectionExpression="#status, #hold.since, notBefore, "
            "costEstimate, costActual, costPossible",
            ExpressionAttributeNames={"#status": "status", "#hold": "hold"},
        )
        sums = Sums()
        for item in (Reader(item) for page in pages for item in page["Items"]):
            sums.add(
                Status(item.text("status")),
                is_held=item.has("hold"),
                not_before=item.maybe_instant("notBefore"),
                estimate=item.decimal("costEstimate"),
                certain=item.maybe_decimal("costActual"),
                possible=item.maybe_decimal("costPossible"),
            )
        return sums


def _due_at(place: str) -> datetime:
    """Return when the job in a place of its line is due: priority, time, job."""
    return datetime.fromisoformat(place.split("#")[1])
