"""Causes: what stands in the way of running a job again, outside of the job.

In: campaigns, credentials, the limiter's items, budgets. Out: a sentence, or nothing; replays that
heed it. Spends: nothing.
"""

from dataclasses import dataclass, field

from fireflyassets.core import errors
from fireflyassets.core.budget import Counter
from fireflyassets.core.job import JobRow
from fireflyassets.limiter.errors import LimiterError, UnknownItem
from fireflyassets.limiter.port import Limiter, item_key
from fireflyassets.ports.budgets import BudgetLedger
from fireflyassets.ports.catalogue import PACED, Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.replay import Replays


@dataclass(frozen=True, slots=True)
class Causes:
    """One look at them: each campaign, organisation and month's budgets is looked at once."""

    catalogue: Catalogue
    limiter: Limiter
    budgets: BudgetLedger
    clock: Clock
    _told: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _counters: dict[tuple[str, str], list[Counter]] = field(
        default_factory=dict[tuple[str, str], list[Counter]]
    )

    def obstacle(self, row: JobRow) -> str | None:
        """Return what stands in a job's way; None: nothing that is known."""
        name = f"{row.customer_id}/{row.campaign_id}@{row.credential}"
        if name not in self._told:
            self._told[name] = self._of_campaign(row)
        return self._told[name] or self._of_budgets(row)

    def _of_budgets(self, row: JobRow) -> str | None:
        """Return which budget has no room for what is still to come of a job, taken by itself."""
        if row.booking is None or not (wanted := row.booking.still_to_come(row.cost_estimate)):
            return None
        month, now = (row.customer_id, row.booking.month), self.clock.now()
        if month not in self._counters:
            self._counters[month] = self.budgets.counters(*month)
        for one in self._counters[month]:
            if one.cap is None or one.scope not in row.booking.scopes:
                continue
            if one.taken + wanted > one.bound(one.cap, now):
                return f"The budget {one.scope} of {one.month} has no room for {wanted} operations."
        return None

    def _of_campaign(self, row: JobRow) -> str | None:
        slug = f"{row.customer_id}/{row.campaign_id}"
        if fault := self.catalogue.fault(slug):
            return f"Its campaign {slug} is out of service: {fault}"
        try:
            credential = self.catalogue.credential(row.credential, customer=row.customer_id)
        except errors.UnusableConfiguration as unusable:
            return str(unusable)
        return self._of_organisation(credential.organisation)

    def _of_organisation(self, organisation: str) -> str | None:
        for item in (item_key(organisation, family) for family in sorted(PACED)):
            try:
                state = self.limiter.state(item)
            except UnknownItem:
                continue  # Nothing was ever sent by it.
            except LimiterError as outage:
                return f"Nobody knows whether calls may be sent: {outage}"
            # Once its pause is over somebody has to be the one that tries, and this may be all
            # that there is to try with; the limiter lets one call through and parks the others.
            if state.opened_at is not None and state.blocked_until is not None:
                return f"The breaker of {item} is open; a call may try it at {state.blocked_until}."
        return None


def replays(
    ledger: JobLedger,
    objects: ObjectStore,
    catalogue: Catalogue,
    limiter: Limiter,
    clock: Clock,
    *,
    limit: int,
) -> Replays:
    """Return the use case of replays, for one look at their causes."""
    causes = Causes(catalogue, limiter, ledger, clock)
    return Replays(ledger, objects, clock, causes.obstacle, limit)
