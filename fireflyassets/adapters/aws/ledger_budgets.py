"""Budgets in the DynamoDB ledger: blocks, counters, raises.

Belongs here: the budgets' part of the port, and briefs in mid-writing, which lie beside them.
Does not: what a job's row takes (``aws/booking.py``).

A counter is a hot item. So no write of it depends on the exact value that was read: a condition is
a range (below the cap, and between two steps of the ladder) that only few writes leave. Whoever is
refused gets the item back and sees whether it still fits; conflicts are waited out with jitter.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import booking, budget_codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.database import Committed, Database, query
from fireflyassets.adapters.aws.expressions import Change, Condition, new, put, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.aws.tables import OPEN_BLOCKS
from fireflyassets.adapters.budget_rules import Asking, refused, soft_event
from fireflyassets.core.budget import Block, Cap, Counter, Raise
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.ports.briefs import BegunBrief
from fireflyassets.ports.budgets import Audited, OverBudget, Reserved

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

TRIES: Final = 25
"""Of a reservation, under conflicts and under a counter that leaves its range."""


class LedgerBudgets(LedgerBase):
    """The budgets' part of the ledger."""

    def __init__(
        self, client: "DynamoDBClient", *, prefix: str, backoff: Backoff | None = None
    ) -> None:
        super().__init__(client, prefix=prefix, backoff=backoff)
        self._patience = replace(backoff or Backoff(), tries=TRIES)
        self._hot = Database(client, self._patience)

    def reserve(self, block: Block, caps: Sequence[Cap], *, now: datetime) -> Reserved | OverBudget:
        """Take a block out of all its budgets or of none, never above a cap."""
        known = self._counters_of(block)
        for _ in self._patience.pauses():
            standings = [Asking(cap, known[cap.scope], block.left, now) for cap in caps]
            if over := refused(standings):
                self._tell_passed(block, caps, known, now)
                return over
            made: TransactWriteItemTypeDef = {
                "Put": put(self._tables.budgets, budget_codec.block_item(block), new("sk"))
            }
            answer = self._hot.transact([made, *self._held(block, standings)])
            if isinstance(answer, Committed):
                return Reserved(block, tuple(one for each in standings for one in each.alerts()))
            if 0 in answer.failed:
                return Reserved(block)  # An earlier call's, whose answer was lost.
            known |= {
                counter.scope: counter
                for item in answer.failed.values()
                if item and (counter := budget_codec.counter_of(item))
            }
        raise StoreUnavailable("DynamoDB", "a budget moves without end")

    def _counters_of(self, block: Block) -> dict[str, Counter]:
        at = (block.customer, block.month)
        keys = [budget_codec.counter_key(*at, scope) for scope in block.scopes]
        items = self._database.get_many(self._tables.budgets, keys)
        found = {counter.scope: counter for counter in map(budget_codec.counter_of, items)}
        return {scope: found.get(scope, Counter(*at, scope)) for scope in block.scopes}

    def _held(self, block: Block, standings: Sequence[Asking]) -> "list[TransactWriteItemTypeDef]":
        """Return the writes that hold a block in its budgets, and tell the alerts it reaches."""
        table = self._tables.budgets
        counters: list[TransactWriteItemTypeDef] = []
        events: list[TransactWriteItemTypeDef] = []
        for one in standings:
            key = budget_codec.counter_key(block.customer, block.month, one.cap.scope)
            change = _taking(one, block.campaign)
            counters.append({"Update": update(table, key, change, _in_range(one))})
            for alert in one.alerts():
                item = budget_codec.event_item(soft_event(alert))
                events.append({"Put": put(self._tables.outbox, item)})
        return [*counters, *events]

    def _tell_passed(
        self, block: Block, caps: Sequence[Cap], known: dict[str, Counter], now: datetime
    ) -> None:
        """Tell steps that ended jobs have passed; whoever loses a race here has nothing to tell."""
        standings = [Asking(cap, known[cap.scope], Decimal(0), now) for cap in caps]
        if passed := [one for one in standings if one.alerts()]:
            self._hot.transact(self._held(block, passed))

    def give_back(self, block: Block) -> Decimal:
        """Give back what no row of the block holds, and return it; 0 if that was done before."""
        key = budget_codec.block_key(block)
        for _ in self._patience.pauses():
            item = self._database.get(self._tables.budgets, key)
            if item is None:
                return Decimal(0)
            stood = budget_codec.block_of(item)
            if isinstance(self._hot.transact(booking.given_back(self._tables, stood)), Committed):
                return stood.left
        raise StoreUnavailable("DynamoDB", "a reservation moves without end")

    def lapsed(self, *, before: datetime, most: int) -> list[Block]:
        """Return up to *most* blocks made before then that still stand, the oldest first."""
        items = self._open(budget_codec.OPEN, before=before, most=most)
        blocks = map(budget_codec.block_of, items)
        return sorted(blocks, key=lambda one: (one.made_at, one.block_id))

    def begin_brief(self, brief: BegunBrief) -> None:
        """Note that a brief is being written; the same again stays one."""
        self._database.put(put(self._tables.budgets, budget_codec.brief_item(brief)))

    def end_brief(self, brief: BegunBrief) -> None:
        """Take the word back; none is fine."""
        self._database.delete(self._tables.budgets, budget_codec.brief_key(brief))

    def begun_briefs(self, *, before: datetime, most: int) -> list[BegunBrief]:
        """Return up to *most* briefs begun before then and not ended, the oldest first."""
        items = self._open(budget_codec.OPEN_BRIEF, before=before, most=most)
        return sorted(map(budget_codec.brief_of, items), key=lambda one: one.made_at)

    def _open(self, kind: str, *, before: datetime, most: int) -> list[Item]:
        condition = Condition(
            "#open = :open AND #madeAt < :before",
            {":open": to.text(kind), ":before": to.instant(before)},
        )
        request = query(self._tables.budgets, condition, index=OPEN_BLOCKS.name)
        found = islice(self._database.pages(request), most)
        keys: list[Item] = [{"budget": item["budget"], "sk": item["sk"]} for item in found]
        return self._database.get_many(self._tables.budgets, keys)

    def counters(self, customer: str, month: str) -> list[Counter]:
        """Return a month's counters by scope, read consistently."""
        items = self._of_month(customer, month, budget_codec.COUNTER)
        return [budget_codec.counter_of(item) for item in items]

    def blocks(self, customer: str, month: str) -> list[Block]:
        """Return the month's blocks that stand, read consistently."""
        items = self._of_month(customer, month, budget_codec.BLOCK)
        return [budget_codec.block_of(item) for item in items]

    def _of_month(self, customer: str, month: str, kind: str) -> list[Item]:
        condition = Condition(
            "#budget = :month AND begins_with(#sk, :kind)",
            {":month": budget_codec.month_key(customer, month), ":kind": to.text(kind)},
        )
        return list(self._database.pages(query(self._tables.budgets, condition)))

    def raise_cap(self, customer: str, month: str, scope: str, raised: Raise) -> None:
        """Raise a cap for a time, in place of an earlier raise, with its audit row."""
        key = budget_codec.counter_key(customer, month, scope)
        change = Change({"raised": to.mapping(budget_codec.raise_attributes(raised))})
        entry = budget_codec.audit_item(Audited(customer, month, scope, raised), uuid4().hex)
        self._hot.transact(
            [
                {"Update": update(self._tables.budgets, key, change)},
                {"Put": put(self._tables.audit, entry)},
            ]
        )

    def audit(self, customer: str, month: str) -> list[Audited]:
        """Return what was done to a month's budgets, in the order of time."""
        subject = budget_codec.audit_subject(customer, month)
        condition = Condition("#subject = :subject", {":subject": subject})
        items = self._database.pages(query(self._tables.audit, condition))
        return [budget_codec.audited_of(item) for item in items]


def _taking(one: Asking, campaign: str) -> Change:
    """Return what holding does to a counter."""
    return Change(
        sets={
            "cap": to.number(one.cap.operations),
            "alerted": to.number(one.alerted),
            "movedAt": to.instant(one.now),
        },
        adds={"taken": one.wanted, "spent": Decimal(0)},
        members={"campaigns": campaign},
    )


def _in_range(one: Asking) -> Condition:
    """Return the condition that a counter still is where this reservation reaches the same steps.

    Within the range any number of others may move it without standing in the way.
    """
    if one.counter.moved_at is None:
        return Condition("attribute_not_exists(#movedAt)")
    values = {":alerted": to.number(one.counter.alerted), ":most": to.number(one.most)}
    parts = ["#alerted = :alerted", "#taken <= :most"]
    if not one.wanted:
        # Nothing is taken: steps are told, wherever the counter stands to its cap.
        del values[":most"]
        parts.pop()
    if one.alerted > one.counter.alerted:
        values[":least"] = to.number(one.cap.reached_at(one.alerted) - one.wanted)
        parts.append("#taken >= :least")
    if one.next_step is not None:
        values[":below"] = to.number(one.cap.reached_at(one.next_step) - one.wanted)
        parts.append("#taken < :below")
    return Condition(" AND ".join(parts), values)
