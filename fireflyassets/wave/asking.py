"""Asking: the facts behind "why does it wait?", gathered for one job.

Belongs here: which port tells what of a job's row, its wave, its campaign, the limiter's items and
what is ahead. Does not: which cause counts (``core/why.py``), writing anything.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fireflyassets.core.budget import side_by_side
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import BudgetsUnreadable, UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.core.finish import added, any_calls, starts_at
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.core.why import Facts, Item, Turn, Why, why
from fireflyassets.limiter.port import ItemState
from fireflyassets.ports.catalogue import PACED
from fireflyassets.ports.entries import WaveState
from fireflyassets.stages.outlook import Outlook, calls_of
from fireflyassets.stages.waiting import name_of
from fireflyassets.wave.share import is_warm

_LOOKED_AT: Final = 500
"""Jobs of a line among which a job's place is sought; behind them the line's count is told."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The use case over one process's outlook."""

    outlook: Outlook

    def why(self, row: JobRow) -> Why:
        """Return why a job waits."""
        return why(self.facts(row))

    def facts(self, row: JobRow) -> Facts:
        """Return what bears on a job just now; each port is asked only where it can matter."""
        now = self.outlook.clock.now()
        if row.status is Status.QUEUED:
            return self._of_queued(row, now)
        if row.status is Status.RUNNING:
            turn, since = self._turn(row, now)
            return Facts(row, now, turn=turn, turn_since=since)
        over = self._over_budget(row, now) if row.status is Status.DLQ else None
        return Facts(row, now, over_budget=over)

    def _of_queued(self, row: JobRow, now: datetime) -> Facts:
        at = self.outlook
        hold = at.ledger.campaign_hold(row.customer_id, row.campaign_id)
        fault = at.catalogue.fault(f"{row.customer_id}/{row.campaign_id}")
        if row.hold or hold or fault:
            return Facts(row, now, campaign_hold=hold, fault=fault)
        try:
            name = row.credential
            organisation = at.catalogue.credential(name, customer=row.customer_id).organisation
            campaign = at.catalogue.campaign(row.customer_id, row.campaign_id)
            traffic = at.traffic_of(campaign, due_at=row.due_at)
        except UnusableConfiguration as unusable:
            return Facts(row, now, fault=str(unusable))
        ahead = self._ahead(row, campaign, now)
        (each,) = calls_of(campaign, [(campaign.config.locales[0], len(campaign.config.aspects))])
        own = ahead + at.waiting.counted().in_waves[name_of(campaign.config)]
        before = traffic.with_ahead(
            added([traffic.ahead, {family: n * own for family, n in each.items()}])
        )
        families = sorted(PACED & set(each))
        return Facts(
            row,
            now,
            items=[
                _item(family, state, now)
                for family in families
                if (state := at.state(organisation, family))
            ],
            ahead=ahead + at.first(campaign, due_at=row.due_at),
            beside=any_calls(traffic.beside),
            starts_at=starts_at(before, each),
        )

    def _ahead(self, row: JobRow, campaign: Campaign, now: datetime) -> int:
        """Return how many jobs of its campaign go before it, those at work not counted."""
        ledger, lane = self.outlook.ledger, (row.credential, row.customer_id)
        due = ledger.due(*lane, row.campaign_id, now=now, most=_LOOKED_AT)
        places = {one.job_id: place for place, one in enumerate(due)}
        if row.job_id in places or len(due) < _LOOKED_AT:
            return places.get(row.job_id, len(due))
        return max(_LOOKED_AT, self.outlook.waiting.counted().of(campaign.config) - 1)

    def _turn(self, row: JobRow, now: datetime) -> tuple[Turn | None, datetime | None]:
        ledger = self.outlook.ledger
        wave = ledger.wave(row.wave) if row.wave else None
        if wave is None:
            return None, None
        if wave.state in {WaveState.FORMING, WaveState.FORMED, WaveState.LAUNCHED}:
            return Turn.BEGINS, wave.formed_at
        warm = is_warm(wave, ledger.open_waves(), now=now)
        return Turn.WARM if warm else Turn.WORKS, wave.formed_at

    def _over_budget(self, row: JobRow, now: datetime) -> str | None:
        """Return which of its month's budgets has no room for a replay of the job."""
        booking, at = row.booking, self.outlook
        if booking is None:
            return None
        try:
            caps = at.catalogue.caps(row.customer_id, now.date())
        except BudgetsUnreadable as unreadable:
            return str(unreadable)
        wanted = booking.renewed(row.cost_estimate).held - booking.held
        counters = at.ledger.counters(row.customer_id, booking.month)
        for one in side_by_side(caps, counters, row.customer_id, booking.month):
            left = one.left(now)
            if one.counter.scope in booking.scopes and left is not None and wanted > left:
                scope, month = one.counter.scope, booking.month
                return f"budget {scope} of {month} has {left} operations left; it needs {wanted}"
        return None


def _item(family: Family, state: ItemState, now: datetime) -> Item:
    override = state.override if state.override and state.override.until > now else None
    return Item(
        family=family,
        since=state.since,
        blocked_until=state.blocked_until,
        opened_at=state.opened_at,
        quota=state.day_limit if state.is_day_used_up else None,
        slowed_until=override.until if override else None,
    )
