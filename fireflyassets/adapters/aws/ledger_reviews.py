"""Reviews in the DynamoDB ledger.

Belongs here: decisions, thirty a transaction, and what has to show them. Does not: which decision
fits. One request for thirty jobs, where nothing competes.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, event_codec, review_codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.database import (
    TRANSACTION_ITEMS,
    Applied,
    Committed,
    filtered,
    query,
)
from fireflyassets.adapters.aws.expressions import Change, Condition, put, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.aws.tables import UNREVIEWED, UNSHOWN
from fireflyassets.adapters.ledger_rules import after_view, judged
from fireflyassets.adapters.outbox import asset_event
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Act, Judgement
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Place
from fireflyassets.ports.reviews import Judging, ReviewLedger, View

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef, UpdateTypeDef

_MOST: Final = (TRANSACTION_ITEMS - 1) // 3
"""Decisions in one transaction: row, decision and event of each, and the act."""


class LedgerReviews(LedgerBase, ReviewLedger):
    """The part of the ledger about reviews."""

    def judge(self, act: Act, judgings: Sequence[Judging]) -> list[JobRow | None]:
        """Write decisions and their act; None for each job that has moved."""
        done: set[str] = set()
        for start in range(0, len(judgings), _MOST):
            done |= self._judge_chunk(act, judgings[start : start + _MOST])
        return [judged(one) if one.row.job_id in done else None for one in judgings]

    def _judge_chunk(self, act: Act, judgings: Sequence[Judging]) -> set[str]:
        """Write those whose jobs have not moved; return their ids.

        One that has cancels the whole transaction: it is left out, and the rest sent again.
        """
        left = list(judgings)
        while left:
            updates: list[TransactWriteItemTypeDef] = [{"Update": self._update(o)} for o in left]
            more = [part for one in left for part in self._told(one)]
            answer = self._database.transact([*updates, *more, self._kept(act)])
            if isinstance(answer, Committed):
                return {one.row.job_id for one in left}
            left = [one for place, one in enumerate(left) if place not in answer.failed]
        return set()

    def _update(self, one: Judging) -> "UpdateTypeDef":
        key = codec.job_key(one.row.job_id, one.row.customer_id)
        change = Change(review_codec.judged(one), adds={"epoch": 1})
        return update(self._tables.jobs, key, change, _stands(one.row))

    def _kept(self, act: Act) -> "TransactWriteItemTypeDef":
        return {"Put": put(self._tables.reviews, review_codec.act_item(act))}

    def _told(self, one: Judging) -> "list[TransactWriteItemTypeDef]":
        item = review_codec.judgement_item(one.judgement)
        puts: list[TransactWriteItemTypeDef] = [{"Put": put(self._tables.reviews, item)}]
        if event := asset_event(one):
            puts.append({"Put": put(self._tables.outbox, event_codec.own_item(event))})
        return puts

    def unreviewed(
        self, customer: str, campaign: str, *, after: Place | None, most: int
    ) -> list[JobRow]:
        """Return up to *most* jobs that have succeeded and wait for a review, by creation."""
        values = {":line": to.text(f"{customer}#{campaign}")}
        text = "#reviewKey = :line"
        if after:
            text += " AND #campaignSort > :after"
            values[":after"] = codec.campaign_sort(after.created_at, after.job_id)
        request = query(self._tables.jobs, Condition(text, values), index=UNREVIEWED.name)
        made = Condition("#status = :status", {":status": to.text(Status.SUCCEEDED)})
        items = self._database.pages(filtered(request, made))
        return [codec.job_row(item) for item in islice(items, most)]

    def judgements(self, job_id: str) -> list[Judgement]:
        """Return all decisions on a job, the first first."""
        condition = Condition("#subject = :job", {":job": to.text(job_id)})
        items = self._database.pages(query(self._tables.reviews, condition))
        return [review_codec.judgement_of(item) for item in items]

    def acts(self, customer: str, *, since: datetime) -> list[Act]:
        """Return what a customer's reviewers did since then, the first first."""
        condition = Condition(
            "#subject = :acts AND #sk >= :since",
            {
                ":acts": review_codec.acts_subject(customer),
                ":since": review_codec.since_bound(since),
            },
        )
        items = self._database.pages(query(self._tables.reviews, condition))
        return [review_codec.act_of(item) for item in items]

    def unshown(self, view: View, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs whose last decision a view may not show, the oldest first."""
        condition = Condition("#unshownKey = :view", {":view": to.text(view)})
        found = self._database.pages(query(self._tables.jobs, condition, index=UNSHOWN.name))
        keys: list[Item] = [
            {"jobId": item["jobId"], "customerId": item["customerId"]}
            for item in islice(found, most)
        ]
        items = self._database.get_many(self._tables.jobs, keys)
        still = [item for item in items if item.get("unshownKey") == to.text(view)]
        return sorted(map(codec.job_row, still), key=lambda row: (row.updated_at, row.job_id))

    def shown(self, row: JobRow, view: View) -> bool:
        """Note that a view shows the row's decision; False if there was another since."""
        key = codec.job_key(row.job_id, row.customer_id)
        change = Change(review_codec.unshown_attributes(after_view(view)))
        due = Condition("#unshownKey = :view", {":view": to.text(view)}).and_also(_stands(row))
        noted = update(self._tables.jobs, key, change, due)
        return isinstance(self._database.update(noted), Applied)


def _stands(row: JobRow) -> Condition:
    """Return the condition that a job's outputs are those that *row* tells of."""
    return Condition(
        "#status = :succeeded AND #epoch = :seen",
        {":succeeded": to.text(Status.SUCCEEDED), ":seen": to.number(row.epoch)},
    )
