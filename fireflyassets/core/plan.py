"""A plan: what a brief would make, cost and take, and which change makes it cheaper or fit.

Belongs here: sums over kinds of jobs, changes with what each saves, the case for a higher limit.
Does not: judging rows (``stages/intake.py``), facts of the moment (``stages/outlook.py``).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from fireflyassets.core import money
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.failure import Family
from fireflyassets.core.finish import FACTORS, Finish, Traffic, project
from fireflyassets.core.recipe import calls_per_job
from fireflyassets.core.request import Problem

Kind = tuple[str, frozenset[str]]
"""Locale and aspects of a job: all that its calls and its price hang on."""
Wanted = Mapping[Kind, int]
"""Kind -> jobs."""

_MOST_CHANGES: Final = 5


@dataclass(frozen=True, slots=True)
class Sums:
    """What jobs come to."""

    jobs: int
    renditions: int
    operations: Decimal
    calls: Mapping[Family, float]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a plan has to keep to; None: nothing is set."""

    operations: Decimal | None = None
    """Room of the tightest budget."""
    by: datetime | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What could be left out, what is lost by it, and what it saves."""

    what: str
    renditions: int
    """Fewer than asked for."""
    operations: Decimal
    """Saved."""
    finish: datetime
    """Likely, then."""
    fits: bool
    """Whether budget and deadline are kept to, then."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a brief would come to if it were released now."""

    campaign: Campaign
    brief: str
    """sha256 of its bytes."""
    made_at: datetime
    sums: Sums
    """Of the rows that would be new jobs."""
    repeated: int
    refused: int
    problems: tuple[Problem, ...] = field(repr=False)
    finishes: Mapping[int, Finish]
    """Factor of the limits -> when it would be done."""
    changes: Sequence[Change]
    """The cheapest first."""
    price: Decimal | None
    currency: str | None
    fits: bool
    """Whether all rows fit budget and deadline as they are."""

    @property
    def finish(self) -> Finish:
        """Return when it would be done under the limits as they are."""
        return self.finishes[1]


@dataclass(frozen=True, slots=True)
class Reckoning:
    """How a campaign's jobs are counted and priced on a day, with what stands before them."""

    campaign: Campaign
    card: money.RateCard
    traffic: Traffic
    bounds: Bounds

    def sums(self, wanted: Wanted) -> Sums:
        """Return what jobs come to."""
        calls = Counter[Family]()
        operations, recipe = Decimal(0), self.campaign.config.recipe
        for (locale, aspects), jobs in wanted.items():
            for family, count in calls_per_job(recipe, aspects=len(aspects), locale=locale).items():
                calls[family] += count * jobs
            price = money.estimate(recipe, locale=locale, aspects=len(aspects), card=self.card)
            operations += jobs * price
        renditions = sum(jobs * len(aspects) for (_, aspects), jobs in wanted.items())
        by_family = {family: float(count) for family, count in calls.items()}
        return Sums(sum(wanted.values()), renditions, operations, by_family)

    def finish(self, sums: Sums, factor: int = 1) -> Finish:
        """Return when jobs are done under limits that are so many times as high."""
        return project(sums.calls, self.traffic.times(factor))

    def finishes(self, sums: Sums) -> dict[int, Finish]:
        """Return the finish under the limits, and under higher ones."""
        return {factor: self.finish(sums, factor) for factor in FACTORS}

    def fits(self, sums: Sums) -> bool:
        """Say whether jobs keep to budget and deadline."""
        room, by = self.bounds.operations, self.bounds.by
        affordable = room is None or sums.operations <= room
        return affordable and (by is None or self.finish(sums).p50 <= by)

    def changes(self, wanted: Wanted) -> list[Change]:
        """Return what could be left out, cheapest first.

        Where not all fits, those that make it fit come first, by how few renditions they lose;
        else by how much each lost rendition saves.
        """
        whole = self.sums(wanted)
        found = [self._change(what, whole, less) for what, less in _variants(wanted)]
        saving = [one for one in found if one.operations > 0]
        if self.fits(whole):
            saving.sort(key=lambda one: one.operations / one.renditions, reverse=True)
        else:
            saving.sort(key=lambda one: (not one.fits, one.renditions))
        return saving[:_MOST_CHANGES]

    def _change(self, what: str, whole: Sums, less: Wanted) -> Change:
        sums = self.sums(less)
        return Change(
            what,
            whole.renditions - sums.renditions,
            whole.operations - sums.operations,
            self.finish(sums).p50,
            fits=self.fits(sums),
        )


def counted(kinds: Iterable[Kind]) -> Wanted:
    """Return how many jobs there are of each kind."""
    return Counter(kinds)


def _variants(wanted: Wanted) -> Iterator[tuple[str, Wanted]]:
    """Yield what could be left out, and what is left then."""
    for aspect in sorted({one for _, aspects in wanted for one in aspects}):
        left = Counter[Kind]()
        for (locale, aspects), jobs in wanted.items():
            if fewer := aspects - {aspect}:
                left[locale, fewer] += jobs
        yield f"Leave out {aspect}", left
    locales = sorted({locale for locale, _ in wanted})
    for locale in locales if len(locales) > 1 else ():
        kept = {kind: jobs for kind, jobs in wanted.items() if kind[0] != locale}
        yield f"Leave out {locale}", kept
    if sum(wanted.values()) > 1:
        yield "Make half of the jobs", {kind: (jobs + 1) // 2 for kind, jobs in wanted.items()}


def lock_of(campaign: Campaign) -> str:
    """Return what changes with any document that a campaign names, and with nothing else."""
    said = [*campaign.documents().values()]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
