"""Outlook: what stands on an organisation's way now, as the projection takes it.

In: counts of the ledger, the limiter's items, contracts, what recent jobs took. Out: `Traffic`.
Spends: nothing.

Counting what waits reads all of it, so that it is done at most once in `FRESH`, by whoever asks
first, and others go by the last count meanwhile; what this process has recorded since is added.
Nothing is decided by it that a wrong count could make unsafe.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
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

_log: Final = logging.getLogger(__name__)

FRESH: Final = timedelta(seconds=30)
"""How old a count of what waits may be."""
_LEARNED: Final = timedelta(minutes=5)
_SAMPLE: Final = 10
"""Recent jobs of a campaign that tell how long its calls take."""
_RAISED_EACH: Final = timedelta(seconds=RAISE_EVERY_US / SECOND_US)
_P90: Final = 1.2816

Lane = tuple[str, str]
"""(credential, customer)."""


@dataclass(slots=True)
class _Counted:
    at: datetime
    jobs: dict[Lane, float]
    """Those that wait, and those in waves that have not ended."""


@dataclass(slots=True)
class Outlook:
    """One process's look ahead; safe for threads."""

    ledger: JobLedger
    backlog: Backlog
    catalogue: Catalogue
    limiter: Limiter
    limits: Callable[[str, Family], Limits]
    clock: Clock
    _counted: _Counted | None = None
    _lock: Lock = field(default_factory=Lock)
    _learned: dict[str, tuple[datetime, Remote]] = field(
        default_factory=dict[str, tuple[datetime, Remote]]
    )
    _paces: dict[str, tuple[datetime, dict[Family, Pace]]] = field(
        default_factory=dict[str, tuple[datetime, dict[Family, Pace]]]
    )

    def traffic(self, campaign: Campaign, *, own: int = 0) -> Traffic:
        """Return what work of *campaign* meets; *own*: jobs of it that wait already.

        Raises:
            UnusableConfiguration: Its credential can't be used.
            StoreUnavailable: The ledger does not answer.
        """
        now, config = self.clock.now(), campaign.config
        credential = self.catalogue.credential(config.credential, customer=config.customer)
        waiting, mine, others = self._loads(credential, config.customer)
        ahead = max(0.0, waiting - own) / waiting if waiting else 0.0
        return Traffic(
            now=now,
            paces=self.paces(credential.organisation),
            ahead={family: ahead * calls for family, calls in mine.items()},
            beside=others,
            weight=credential.weight_of(config.customer),
            remote=self.remote(campaign),
        )

    def waiting(self, lane: Lane) -> float:
        """Return about how many jobs of a lane wait or are at work."""
        return self._jobs().get(lane, 0.0)

    def note(self, campaign: Campaign, jobs: int) -> None:
        """Add jobs that were just recorded to what was counted before."""
        config = campaign.config
        with self._lock:
            if self._counted is not None:
                lane = (config.credential, config.customer)
                self._counted.jobs[lane] = self._counted.jobs.get(lane, 0.0) + jobs

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

    # -- what waits ---------------------------------------------------------------------------
    def _loads(self, credential: Credential, customer: str) -> tuple[float, Calls, list[Load]]:
        """Return the customer's jobs and their calls, and what the organisation's others have."""
        mine: list[Calls] = []
        waiting = 0.0
        others: dict[str, list[Calls]] = {}
        weights: dict[str, int] = {}
        configs: defaultdict[Lane, list[CampaignConfig]] = defaultdict(list)
        for config in (one.config for one in self.catalogue.campaigns().values()):
            configs[config.credential, config.customer].append(config)
        for (name, owner), jobs in self._jobs().items():
            theirs = self._credential(name, owner)
            if theirs is None or theirs.organisation != credential.organisation:
                continue
            calls = {family: jobs * n for family, n in _mean(configs[name, owner]).items()}
            (mine if owner == customer else others.setdefault(owner, [])).append(calls)
            waiting += jobs if owner == customer else 0.0
            weights[owner] = theirs.weight_of(owner)
        loads = [Load(added(calls), weights[owner]) for owner, calls in sorted(others.items())]
        return waiting, added(mine), loads

    def _jobs(self) -> dict[Lane, float]:
        """Return lane -> jobs; the last count while somebody else counts anew."""
        known, now = self._counted, self.clock.now()
        if known is not None and now - known.at < FRESH:
            return dict(known.jobs)
        if not self._lock.acquire(blocking=known is None):
            return dict(known.jobs) if known else {}
        try:
            if self._counted is None or now - self._counted.at >= FRESH:
                self._counted = _Counted(now, self._count())
            return dict(self._counted.jobs)
        finally:
            self._lock.release()

    def _count(self) -> dict[Lane, float]:
        jobs: dict[Lane, float] = {
            lane: float(line.jobs) for lane, line in self.backlog.lines().items()
        }
        for wave in self.ledger.open_waves():
            lane = (wave.credential, wave.customer)
            jobs[lane] = jobs.get(lane, 0.0) + len(wave.jobs)
        return jobs

    def _credential(self, name: str, customer: str) -> Credential | None:
        try:
            return self.catalogue.credential(name, customer=customer)
        except UnusableConfiguration:
            return None  # Its jobs wait with that reason, and take no ticket.

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


def _mean(configs: Sequence[CampaignConfig]) -> Calls:
    """Return the calls of one job of any of these campaigns."""
    total = added(calls_per_job(one.recipe, aspects=len(one.aspects)) for one in configs)
    return {family: count / len(configs) for family, count in total.items()}


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
