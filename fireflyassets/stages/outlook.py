"""Outlook: what stands on an organisation's way now, as the projection takes it.

In: what waits (``stages/waiting.py``), the limiter's items, contracts, what recent jobs took.
Out: `Traffic`. Spends: nothing.

Of its tenant's other campaigns those jobs stand before a campaign's that dispatch takes first, by
priority, age and deadline; what others have stands beside them.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.campaign import Campaign, CampaignConfig
from fireflyassets.core.errors import StoreUnavailable, UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.core.finish import Calls, Load, Pace, Remote, Traffic, added
from fireflyassets.core.polling import Latency
from fireflyassets.core.recipe import calls_per_job
from fireflyassets.core.status import Status
from fireflyassets.limiter.arithmetic import (
    RAISE_DIVISOR,
    RAISE_EVERY_US,
    SECOND_US,
    paced_interval,
)
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import ItemState, Limiter, PaceReason, item_key
from fireflyassets.ports.backlog import Backlog
from fireflyassets.ports.catalogue import PACED, Catalogue, Credential
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.waiting import FRESH, Counted, Waiting, name_of, wanted_of

_log: Final = logging.getLogger(__name__)

_LEARNED: Final = timedelta(minutes=5)
_SAMPLE: Final = 10
"""Recent jobs of a campaign that tell how long its calls take."""
_RAISED_EACH: Final = timedelta(seconds=RAISE_EVERY_US / SECOND_US)
_P90: Final = 1.2816


@dataclass(slots=True)
class Outlook:
    """One process's look ahead; safe for threads."""

    ledger: JobLedger
    backlog: Backlog
    catalogue: Catalogue
    limiter: Limiter
    limits: Callable[[str, Family], Limits]
    clock: Clock
    waiting: Waiting = field(init=False)
    _learned: dict[str, tuple[datetime, Remote]] = field(
        default_factory=dict[str, tuple[datetime, Remote]]
    )
    _paces: dict[str, tuple[datetime, dict[Family, Pace]]] = field(
        default_factory=dict[str, tuple[datetime, dict[Family, Pace]]]
    )

    def __post_init__(self) -> None:
        """Count what waits in the same ledger."""
        self.waiting = Waiting(self.ledger, self.backlog, self.clock)

    def traffic(self, campaign: Campaign) -> Traffic:
        """Return what new work of *campaign* meets.

        Raises:
            UnusableConfiguration: Its credential can't be used.
            StoreUnavailable: The ledger does not answer.
        """
        counted, config = self.waiting.counted(), campaign.config
        met = self._traffic(campaign, counted, wanted_of(config, self.clock.now()))
        own = _times(each_call(campaign), counted.of(config))
        return met.with_ahead(added([met.ahead, own]))

    def traffic_of(self, campaign: Campaign, *, due_at: datetime | None = None) -> Traffic:
        """Return what work of *campaign* meets that waits already; none of its own is ahead of it.

        *due_at*: when the job is due that it is asked for; None: asked for the last one.
        Raises as `traffic`.
        """
        counted = self.waiting.counted()
        last = due_at or counted.last_due_at(campaign.config)
        return self._traffic(campaign, counted, wanted_of(campaign.config, last) if last else None)

    def first(self, campaign: Campaign, *, due_at: datetime) -> int:
        """Return how many jobs of the lane's other campaigns, in line, go before one due then."""
        counted, mine = self.waiting.counted(), campaign.config
        wanted = wanted_of(mine, due_at)
        return sum(
            counted.first(one.config, wanted=wanted)
            for one in self.catalogue.campaigns().values()
            if one.slug != campaign.slug and _lane(one.config) == _lane(mine)
        )

    def _traffic(self, campaign: Campaign, counted: Counted, wanted: datetime | None) -> Traffic:
        config = campaign.config
        credential = self.catalogue.credential(config.credential, customer=config.customer)
        ahead: list[Calls] = []
        beside: dict[str, list[Calls]] = {}
        weights: dict[str, int] = {}
        for other, theirs in self._others(campaign, credential.organisation, counted):
            owner = other.config.customer
            jobs = counted.of(other.config)
            if _lane(other.config) == _lane(config):
                in_waves = counted.in_waves[name_of(other.config)]
                jobs = in_waves + counted.first(other.config, wanted=wanted)
            calls = _times(each_call(other), jobs)
            (ahead if owner == config.customer else beside.setdefault(owner, [])).append(calls)
            weights[owner] = theirs.weight_of(owner)
        return Traffic(
            now=self.clock.now(),
            paces=self.paces(credential.organisation),
            ahead=added(ahead),
            beside=[Load(added(calls), weights[one]) for one, calls in sorted(beside.items())],
            weight=credential.weight_of(config.customer),
            remote=self.remote(campaign),
        )

    def _others(
        self, campaign: Campaign, organisation: str, counted: Counted
    ) -> Iterator[tuple[Campaign, Credential]]:
        """Yield the organisation's other campaigns that anything waits of."""
        for slug, other in self.catalogue.campaigns().items():
            if slug == campaign.slug or not counted.of(other.config):
                continue
            name, owner = _lane(other.config)
            theirs = self._credential(name, owner)
            if theirs is not None and theirs.organisation == organisation:
                yield other, theirs

    def _credential(self, name: str, customer: str) -> Credential | None:
        try:
            return self.catalogue.credential(name, customer=customer)
        except UnusableConfiguration:
            return None  # Its jobs wait with that reason, and take no ticket.

    # -- paces --------------------------------------------------------------------------------
    def paces(self, organisation: str) -> dict[Family, Pace]:
        """Return family -> the pace of an organisation, by the limiter's word or the contract."""
        now = self.clock.now()
        kept = self._paces.get(organisation)
        if kept is None or now - kept[0] >= FRESH:
            found = {family: self._pace(organisation, family, now) for family in sorted(PACED)}
            kept = self._paces[organisation] = (now, found)
        return kept[1]

    def _pace(self, organisation: str, family: Family, now: datetime) -> Pace:
        state = self.state(organisation, family)
        if state is None:
            limits = self.limits(organisation, family)
            nominal = 60 * SECOND_US / paced_interval(limits)
            return Pace(nominal, nominal, per_day=limits.per_day)
        return pace_of(state, now)

    def state(self, organisation: str, family: Family) -> ItemState | None:
        """Return what the limiter knows of an item; None: nothing, or it does not answer."""
        item = item_key(organisation, family)
        try:
            return self.limiter.state(item)
        except LimiterError as unknown:
            _log.debug("Item %s can't be looked at: %s", item, unknown)
            return None

    # -- what calls take ----------------------------------------------------------------------
    def remote(self, campaign: Campaign) -> Remote:
        """Return how long a job's calls take, by the campaign's last jobs, or as is usual."""
        now = self.clock.now()
        kept = self._learned.get(campaign.slug)
        if kept is None or now - kept[0] >= _LEARNED:
            kept = self._learned[campaign.slug] = (now, self._learn(campaign))
        return kept[1]

    def _learn(self, campaign: Campaign) -> Remote:
        config = campaign.config
        try:
            rows = self.ledger.campaign_page(
                config.customer,
                config.campaign,
                after=None,
                status=Status.SUCCEEDED,
                most=_SAMPLE,
                newest_first=True,
            )
            took = sorted(self._took(row.job_id) for row in rows)
        except StoreUnavailable:
            took = []
        if not took:
            usual = Latency()
            steps = len(config.recipe.steps)
            return Remote(usual.quantile(0.0) * steps, usual.quantile(_P90) * steps)
        return Remote(took[len(took) // 2], took[(len(took) * 9) // 10])

    def _took(self, job_id: str) -> timedelta:
        """Return a job's remote time: its steps one behind the other, aspects side by side."""
        longest: dict[str, float] = {}
        for result in self.ledger.history(job_id).steps.values():
            step = result.step.partition(".")[0]
            seconds = float(result.facts.get("seconds", "0"))
            longest[step] = max(longest.get(step, 0.0), seconds)
        return timedelta(seconds=sum(longest.values()))


def _lane(config: CampaignConfig) -> tuple[str, str]:
    return config.credential, config.customer


def _times(calls: Calls, jobs: int) -> Calls:
    return {family: n * jobs for family, n in calls.items()}


def pace_of(state: ItemState, now: datetime) -> Pace:
    """Return an item's pace; a lowered rate rises to the contract's, half-way on average.

    An override ends by itself; each ten quiet seconds give back 1/30 of the contract's rate.
    """
    rate, nominal = state.rate_per_minute, state.nominal_per_minute
    slow_until = None
    if state.reason is PaceReason.OVERRIDDEN and state.override:
        slow_until = state.override.until
    elif rate < nominal:
        rising = _RAISED_EACH * RAISE_DIVISOR * (1 - rate / nominal)
        slow_until = max(now, state.blocked_until or now) + rising
        rate = (rate + nominal) / 2
    return Pace(
        per_minute=rate,
        full_per_minute=nominal,
        slow_until=slow_until,
        blocked_until=state.blocked_until,
        per_day=state.day_limit,
        used_today=state.used_today,
    )


def each_call(campaign: Campaign) -> Calls:
    """Return the calls of a job of *campaign* that asks for everything."""
    config = campaign.config
    calls = calls_per_job(config.recipe, aspects=len(config.aspects))
    return {family: float(n) for family, n in calls.items()}


def calls_of(campaign: Campaign, jobs: Iterable[tuple[str, int]]) -> Sequence[Calls]:
    """Return the calls of each job, by its locale and its number of aspects."""
    known: dict[tuple[str, int], Mapping[Family, float]] = {}
    found: list[Calls] = []
    for locale, aspects in jobs:
        if (locale, aspects) not in known:
            calls = calls_per_job(campaign.config.recipe, aspects=aspects, locale=locale)
            known[locale, aspects] = {family: float(n) for family, n in calls.items()}
        found.append(known[locale, aspects])
    return found
