"""Why a job is not being made just now: which cause counts, since when, until when.

Belongs here: the facts and the one decision over them. Does not: the causes' words (``cause.py``),
finding the facts (``wave/asking.py``), what anybody does about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from fireflyassets.core.cause import (
    PARKED,
    Beginning,
    BeingCancelled,
    BreakerOpen,
    BudgetFull,
    CampaignOnHold,
    CanRunAgain,
    Cause,
    DayQuotaUsed,
    Ended,
    FilesUnusable,
    InLine,
    InProduction,
    Interrupted,
    NeedsMending,
    OnHold,
    OutcomeUnknown,
    Rejected,
    ReviewOpen,
    ServicePaused,
    SlowedByHand,
    WarmWave,
)
from fireflyassets.core.failure import Family
from fireflyassets.core.job import CAMPAIGN, FENCE, Hold, JobRow
from fireflyassets.core.status import HumanReview, Status


@dataclass(frozen=True, slots=True)
class Item:
    """How an organisation's calls of one family stand, as the limiter shows it."""

    family: Family
    since: datetime
    """Since when it goes at its rate."""
    blocked_until: datetime | None = None
    opened_at: datetime | None = None
    quota: int | None = None
    """The day's quota where it is used up."""
    slowed_until: datetime | None = None
    """Until when a rate lasts that was set by hand."""


class Turn(StrEnum):
    """How far the wave is that has a job."""

    BEGINS = "begins"
    WARM = "warm"
    WORKS = "works"


@dataclass(frozen=True, slots=True)
class Facts:
    """All that bears on one job at one moment."""

    row: JobRow
    now: datetime
    campaign_hold: Hold | None = None
    fault: str | None = None
    """Why the files of its campaign can't be used."""
    turn: Turn | None = None
    """None: no wave has it."""
    turn_since: datetime | None = None
    items: Sequence[Item] = ()
    ahead: int = 0
    """Jobs of its customer that go before it."""
    beside: bool = False
    """Whether others have something waiting, too."""
    starts_at: datetime | None = None
    """When its turn is likely to come."""
    over_budget: str | None = None
    """Which budget has no room to run it again."""


@dataclass(frozen=True, slots=True)
class Why:
    """The answer: the cause that counts, and when the job is likely to begin."""

    cause: Cause
    expected_start: datetime | None


_UNSAID: Final = "no reason was kept"


def why(facts: Facts) -> Why:
    """Return why the job waits. Total: every status has an answer."""
    match facts.row.status:
        case Status.QUEUED:
            return _of_queued(facts)
        case Status.RUNNING:
            return Why(_of_running(facts), None)
        case Status.DLQ | Status.REVIEW | Status.SUCCEEDED | Status.FAILED | Status.CANCELLED:
            return Why(_of_ended(facts), None)


def _of_queued(facts: Facts) -> Why:
    row, now = facts.row, facts.now
    if row.hold is not None:
        return Why(_of_hold(row.hold), None)
    if facts.campaign_hold is not None:
        return Why(CampaignOnHold(facts.campaign_hold.since, facts.campaign_hold.reason), None)
    if facts.fault is not None:
        return Why(FilesUnusable(row.updated_at, facts.fault), None)
    waits = row.not_before is not None and row.not_before > now
    starts = _later(row.not_before, facts.starts_at)
    for item in facts.items:
        if blocked := _of_item(item, now, slow=waits):
            until = item.blocked_until or item.slowed_until
            return Why(blocked, _later(until, starts))
    if waits:
        reason = row.reason or _UNSAID
        return Why(PARKED.get(row.parked_for, Interrupted)(row.updated_at, reason), starts)
    return Why(InLine(row.updated_at, facts.ahead, facts.beside), starts)


def _later(*instants: datetime | None) -> datetime | None:
    return max((at for at in instants if at), default=None)


def _of_hold(hold: Hold) -> Cause:
    if hold.by == CAMPAIGN:
        return CampaignOnHold(hold.since, hold.reason)
    if hold.by == FENCE:
        return OutcomeUnknown(hold.since, hold.reason)
    return OnHold(hold.since, hold.reason)


def _of_item(item: Item, now: datetime, *, slow: bool) -> Cause | None:
    """Return what stops the calls of an item, or slows them where a job waits for its time."""
    is_blocked = item.blocked_until is not None and item.blocked_until > now
    if item.opened_at is not None and is_blocked:
        return BreakerOpen(item.opened_at, item.family)
    if item.quota is not None:
        return DayQuotaUsed(item.since, item.family, item.quota)
    if is_blocked:
        return ServicePaused(item.since, item.family)
    if slow and item.slowed_until is not None and item.slowed_until > now:
        return SlowedByHand(item.since, item.family)
    return None


def _of_running(facts: Facts) -> Cause:
    row = facts.row
    since = facts.turn_since or row.updated_at
    if row.cancel is not None:
        return BeingCancelled(row.updated_at)
    if facts.turn is Turn.BEGINS:
        return Beginning(since)
    if facts.turn is Turn.WARM:
        return WarmWave(since)
    return InProduction(since)


def _of_ended(facts: Facts) -> Cause:
    row = facts.row
    since, reason = row.ended_at or row.updated_at, row.reason or _UNSAID
    if row.status is Status.DLQ and facts.over_budget:
        return BudgetFull(since, facts.over_budget)
    if row.status is Status.DLQ:
        return CanRunAgain(since, reason)
    if row.status is Status.REVIEW:
        return NeedsMending(since, reason)
    if row.status is Status.SUCCEEDED and row.human_reviewed is HumanReview.PENDING:
        return ReviewOpen(since)
    if row.status is Status.SUCCEEDED and row.human_reviewed is HumanReview.REJECTED:
        return Rejected(since)
    return Ended(since, row.status)
