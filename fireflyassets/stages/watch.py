"""The watch: how much waits, how fast it goes, whether it goes at all; and the brake on refusals.

In: the ledger's and the queue's counts, the limiter's items. Out: gauges, and at most a lower rate
for a time. Spends: nothing.

It looks at what stands, from one place, twice a minute. Nothing hangs on it but gauges and the
brake: a look that is left out is made up for by the next one.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from pydantic import TypeAdapter

from fireflyassets.core import alarm, errors, metric
from fireflyassets.core.alarm import Statistic
from fireflyassets.core.budget import month_of, side_by_side
from fireflyassets.core.failure import Family
from fireflyassets.core.metric import Metric
from fireflyassets.core.tally import Tally
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import ItemState, Limiter, item_key
from fireflyassets.ports.backlog import Backlog, Line, LineName
from fireflyassets.ports.budgets import BudgetLedger
from fireflyassets.ports.catalogue import PACED, Catalogue
from fireflyassets.ports.queue import JobQueue
from fireflyassets.stages.rebinding import lanes_of

_log: Final = logging.getLogger("fireflyassets.watch")
BRAKE: Final = "alarm refused_calls"
"""Who sets the rate, in the limiter's words."""
BRAKED: Final = 0.5
"""Of the contract's rate, at most."""
BRAKED_FOR: Final = timedelta(minutes=15)
_WHY: Final = "over 1 % of its calls were answered 429 in each of five minutes"
_SOON: Final = timedelta(minutes=1)
"""A ticket that is due by then is free."""
_MINUTE: Final = timedelta(seconds=50)
"""Samples are at least so far apart: looks come more often, so that no minute is without one."""
_GAP: Final = timedelta(seconds=150)
"""Looks that are further apart tell nothing of single minutes."""
_KEPT: Final = alarm.REFUSED_CALLS.of + 1


@dataclass(frozen=True, slots=True)
class Sample:
    """An item's counts of one day, at one look."""

    at: datetime
    used: int
    refused: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What one look leaves to the next."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict[str, tuple[Sample, ...]])
    """Item -> its last samples, the oldest first."""
    quiet_since: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    """Organisation -> since when it could go on and does not."""

    @classmethod
    def read(cls, text: str | None) -> "Memory":
        """Return what `write` has written; nothing where there is none."""
        return _MEMORY.validate_json(text) if text else cls()

    def write(self) -> str:
        """Return all of it as text."""
        return _MEMORY.dump_json(self).decode()


_MEMORY: Final = TypeAdapter(Memory)


@dataclass(frozen=True, slots=True)
class Watch:
    """One look at everything."""

    backlog: Backlog
    budgets: BudgetLedger
    queue: JobQueue
    limiter: Limiter
    catalogue: Catalogue
    limits: Callable[[str, Family], Limits]
    tally: Tally
    put_aside: Callable[[], int] = lambda: 0
    """How many dead letters lie in the bucket: nobody answers for them."""
    brakes: bool = True
    """False: it only looks."""

    def look(self, memory: Memory, *, now: datetime) -> Memory:
        """Set every gauge, brake where the alarm on refusals fires, and say what to remember."""
        lines, organisations = self.backlog.lines(), self._organisations()
        self._depths(lines, organisations, now)
        self._budgets(now)
        samples: dict[str, tuple[Sample, ...]] = {}
        quiet: dict[str, datetime] = {}
        breakers = 0
        due = {name[:2] for name, line in lines.items() if line.first_due_at <= now}
        for organisation, lanes in organisations.items():
            states = self._states(organisation)
            breakers += sum(state.opened_at is not None for state in states.values())
            for item, state in states.items():
                samples[item] = self._sampled(state, memory.samples.get(item, ()), now)
                self._brake(state, samples[item], now)
            if lanes & due and _is_quiet(states, samples, now):
                quiet[organisation] = memory.quiet_since.get(organisation, now)
        self.tally.set(metric.BREAKERS, breakers)
        longest = max((now - since for since in quiet.values()), default=timedelta())
        self.tally.set(metric.STALLED, longest.total_seconds())
        return Memory(samples, quiet)

    def _depths(
        self,
        lines: Mapping[LineName, Line],
        organisations: Mapping[str, set[tuple[str, str]]],
        now: datetime,
    ) -> None:
        tally, depth = self.tally, self.queue.depth()
        waiting = depth.waiting + sum(line.jobs for line in lines.values())
        tally.set(metric.QUEUE_DEPTH, waiting)
        rates = [self.limits(one, Family.FIREFLY).per_minute for one in organisations]
        if rates:
            tally.set(metric.QUEUE_MINUTES, waiting / sum(rates))
        tally.set(metric.DEAD, depth.dead + self.put_aside() + self.backlog.dead())
        first = min((line.first_due_at for line in lines.values()), default=now)
        tally.set(metric.OLDEST_DUE, max(0.0, (now - first).total_seconds()))
        queued = Counter({lane: 0 for lanes in organisations.values() for lane in lanes})
        for name, line in lines.items():
            queued[name[:2]] += line.jobs
        for (credential, customer), jobs in queued.items():
            tally.set(metric.QUEUED, jobs, customer=customer, credential=credential)

    def _budgets(self, now: datetime) -> None:
        """Tell how much is taken of whichever budget of any customer is nearest its end."""
        customers = {one.config.customer for one in self.catalogue.campaigns().values()}
        used = [share for one in customers for share in self._used(one, now)]
        if used:
            self.tally.set(metric.BUDGET, max(used))

    def _used(self, customer: str, now: datetime) -> Iterator[float]:
        month = month_of(now)
        try:
            caps = self.catalogue.caps(customer, now.date())
        except errors.BudgetsUnreadable:
            return  # Its jobs wait with that reason.
        counters = self.budgets.counters(customer, month) if caps else []
        for one in side_by_side(caps, counters, customer, month):
            if (used := one.used(now)) is not None:
                yield float(used)

    def _organisations(self) -> dict[str, set[tuple[str, str]]]:
        """Return organisation -> its (credential, customer), of loaded campaigns."""
        found: dict[str, set[tuple[str, str]]] = {}
        for lane in lanes_of(self.catalogue):
            try:
                credential = self.catalogue.credential(lane.credential, customer=lane.customer)
            except errors.UnusableConfiguration:
                continue  # Its jobs wait with that reason.
            found.setdefault(credential.organisation, set()).add((lane.credential, lane.customer))
        return found

    def _states(self, organisation: str) -> dict[str, ItemState]:
        states: dict[str, ItemState] = {}
        for family in sorted(PACED):
            item = item_key(organisation, family)
            try:
                states[item] = self.limiter.state(item)
            except LimiterError as unknown:
                _log.info("Item %s can't be looked at: %s", item, unknown)
        return states

    def _sampled(
        self, state: ItemState, before: tuple[Sample, ...], now: datetime
    ) -> tuple[Sample, ...]:
        self.tally.set(metric.RATE, state.rate_per_minute, item=state.item)
        kept = before
        if not before or now - before[-1].at >= _MINUTE:
            kept = (*before, Sample(now, state.used_today, state.refused_today))[-_KEPT:]
        for minutes, used, _ in list(_minutes(kept))[-1:]:
            left = 100 * (1 - used / (minutes * state.rate_per_minute))
            self.tally.set(metric.HEADROOM, min(100.0, max(0.0, left)), item=state.item)
        return kept

    def _brake(self, state: ItemState, samples: tuple[Sample, ...], now: datetime) -> None:
        """Keep the rate down for a time; whoever set one by hand knows better, and it stays.

        The limiter slows at each refusal by itself, and quickens again. That it is refused all the
        same for five minutes says that the contract's rate is not what the service grants.
        """
        one = alarm.REFUSED_CALLS
        shares = [_share(one, used, refused) for _, used, refused in _minutes(samples)]
        by_hand = state.override is not None and state.override.until > now
        if by_hand or not self.brakes or not one.fires(shares):
            return
        # Never above what refusals have come down to: an override would lift it.
        rate = min(state.rate_per_minute, BRAKED * state.nominal_per_minute)
        try:
            self.limiter.override(state.item, rate, duration=BRAKED_FOR, by=BRAKE, why=_WHY)
        except LimiterError as refused:
            _log.warning("Item %s can't be slowed down: %s", state.item, refused)


def _minutes(samples: tuple[Sample, ...]) -> Iterator[tuple[float, int, int]]:
    """Yield minutes, tickets and refusals between one look and the next; none over a gap."""
    for before, after in pairwise(samples):
        took = after.at - before.at
        if not timedelta() < took <= _GAP:
            continue
        is_new_day = after.used < before.used or after.refused < before.refused
        used = after.used - (0 if is_new_day else before.used)
        refused = after.refused - (0 if is_new_day else before.refused)
        yield took / timedelta(minutes=1), used, refused


def _share(one: alarm.Alarm, used: int, refused: int) -> float | None:
    def read(what: Metric, _: Statistic) -> float:
        return refused if what is metric.REFUSED else used

    return one.number(read)


def _is_quiet(
    states: Mapping[str, ItemState], samples: Mapping[str, tuple[Sample, ...]], now: datetime
) -> bool:
    """Say whether nothing is sent though it could be: also where nobody can say what could.

    Where one API family has to wait it could not: most jobs want that one next.
    """
    moved = any(used > 0 for item in states for _, used, _ in list(_minutes(samples[item]))[-1:])
    return not moved and all(_is_free(one, now) for one in states.values())


def _is_free(state: ItemState, now: datetime) -> bool:
    is_open = state.blocked_until is None and not state.is_day_used_up
    return is_open and state.next_due_at <= now + _SOON
