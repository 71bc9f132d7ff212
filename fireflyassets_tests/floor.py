"""A factory floor in memory: jobs, a vendor that keeps its own books, and time that jumps.

Belongs here: what the tests of fence, wave and dispatch share. Does not: a single test's script.
The vendor counts what it accepted by itself, so that a test compares two books and not one.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import ParamSpec, TypeVar

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.adapters.word_lists import WordLists
from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.failure import Family
from fireflyassets.core.job import JobRow
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import GenerateStep
from fireflyassets.core.request import RawRequest
from fireflyassets.limiter import virtual_time
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock, Lanes, Offload
from fireflyassets.ports.custom_models import CustomModels
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.references import ReferenceStore
from fireflyassets.settings import Settings
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.pinning import pinned
from fireflyassets.wave.assembly import Shop, assemble, register
from fireflyassets.wave.beginning import asked_for, begin_by_hand
from fireflyassets.wave.engine import WaveEngine
from fireflyassets.wave.reports import Ended, Report, Skipped
from fireflyassets_tests.free_services import FakeModels, FakeReferences
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, config
from fireflyassets_tests.paid_services import (
    FakeDocuments,
    FakeImages,
    FakeWorkshop,
    services,
)

P = ParamSpec("P")
T = TypeVar("T")

ASPECTS = ("32x18", "18x32", "24x24")
ORGANISATION = "ORG"
SETTINGS = Settings(_env_file=None)  # pyright: ignore[reportCallIssue]


class VirtualClock(Clock):
    """The wall clock of a virtual loop."""

    def __init__(self) -> None:
        self._clock = virtual_time.VirtualClock()

    def now(self) -> datetime:
        """Return the virtual time of the running loop."""
        return self._clock.now()

    async def sleep(self, duration: timedelta) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(max(0.0, duration.total_seconds()))


async def inline(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Make a blocking call at once; in virtual time there are no threads."""
    return call(*args, **kwargs)


INLINE: Offload = inline


def recipe(**changes: object) -> Recipe:
    """Return generate and compose, with small pictures; *changes* are the generate step's."""
    said = {"name": "art", "kind": "generate", "size": "20x20", **changes}
    compose = ComposeStep(
        name="layout",
        kind="compose",
        inputs={"Hero": "art.picture", "Headline": "job.headline"},
    )
    return Recipe(steps=(GenerateStep.model_validate(said), compose))


def limits(_organisation: str, family: Family) -> Limits:
    """Return limits that pace Firefly at 48 a minute and Photoshop at 240."""
    per_minute = 60 if family is Family.FIREFLY else 300
    return Limits(per_minute=per_minute, source="a test", as_of=date(2026, 1, 1), per_day=9000)


@dataclass(frozen=True)
class Begun:
    """The waves that a person's run has started, and the jobs it leaves alone."""

    waves: tuple[Wave, ...]
    done: tuple[JobRow, ...]
    skipped: tuple[Skipped, ...]


@dataclass
class Floor:
    """Everything a wave touches, to look into."""

    clock: Clock
    ledger: MemoryLedger
    objects: MemoryObjects
    images: FakeImages
    documents: FakeDocuments
    intake: Intake
    shop: Shop
    reports: list[Report] = field(default_factory=list)
    references: ReferenceStore = field(default_factory=FakeReferences)
    models: CustomModels = field(default_factory=FakeModels)
    _runs: int = 0

    def order(
        self,
        count: int,
        *,
        prefix: str = "job",
        customer: str = CUSTOMER,
        aspects: tuple[str, ...] = ASPECTS,
        campaign: str = CAMPAIGN,
    ) -> list[str]:
        """Record *count* jobs and return their ids."""
        rows = [
            Row(
                None,
                RawRequest(f"{prefix}-{n}", f"a bottle {n}", "en-GB", f"Spring {n}", aspects),
            )
            for n in range(count)
        ]
        answers = self.intake.accept(rows, customer=customer, campaign=campaign)
        return [answer.row.job_id for answer in answers]  # pyright: ignore[reportAttributeAccessIssue]

    def use_objects(self, objects: MemoryObjects) -> None:
        """Put another object store behind everything."""
        self.objects = self.documents.objects = self.images.objects = objects
        self.shop = replace(self.shop, objects=objects)
        self.intake = replace(self.intake, objects=objects)

    def use_images(self, images: FakeImages) -> None:
        """Put another Firefly behind waves and sweep."""
        self.images = images
        self.shop = replace(self.shop, adobe=FakeWorkshop(images, self.documents))

    def begin(self, job_ids: Sequence[str], *, customer: str = CUSTOMER) -> Begun:
        """Form and start all waves of the jobs at once."""
        self._runs += 1
        asked = asked_for(self.ledger, customer, job_ids)
        waves = [
            begin_by_hand(
                self.ledger,
                batch,
                f"run-{self._runs}",
                settings=self.shop.settings,
                now=self.clock.now(),
                wave_id=self.shop.new_wave_id(),
            )
            for batch in asked.batches
        ]
        return Begun(tuple(wave for wave in waves if wave), asked.done, asked.skipped)

    def engine(self, wave: Wave) -> WaveEngine:
        """Put a started wave's engine together."""
        campaign = pinned(self.objects, wave.customer, wave.campaign, wave.campaign_version)
        credential = self.shop.catalogue.credential(wave.credential, customer=wave.customer)
        register(self.shop, credential.organisation)
        return assemble(
            self.shop,
            wave,
            wave.run_id or "",
            campaign=campaign,
            credential=credential,
            services=services(self.images, self.documents, self.references, self.models),
            report=self.reports.append,
        )

    async def work(self, job_ids: Sequence[str]) -> dict[str, Ended]:
        """Run the jobs as one person would who asks for them; return how each turn ended."""
        self.reports.clear()
        for wave in self.begin(job_ids).waves:
            await self.engine(wave).run()
        return {one.job_id: one for one in self.reports if isinstance(one, Ended)}

    def row(self, job_id: str) -> JobRow:
        """Return a row that exists."""
        row = self.ledger.job(job_id)
        assert row is not None
        return row


def floor(
    *, catalogue: Catalogue | None = None, clock: Clock | None = None, **settings: object
) -> Floor:
    """Return an empty floor, in virtual time unless *clock* is another."""
    clock = clock or VirtualClock()
    numbers = itertools.count()
    ledger, objects = MemoryLedger(), MemoryObjects()
    images, documents = FakeImages(clock, objects), FakeDocuments(clock, objects)
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    known = catalogue or FixedCatalogue(
        config(aspects=ASPECTS, templates=templates, recipe=recipe())
    )
    shop = Shop(
        ledger=ledger,
        objects=objects,
        catalogue=known,
        limiter=MemoryLimiter(now=clock.now),
        adobe=FakeWorkshop(images, documents),
        pictures=PillowPictures(),
        settings=SETTINGS.model_copy(update=settings),
        clock=clock,
        limits=limits,
        chance=lambda: 0.5,
        new_wave_id=lambda: ids.wave_id(clock.now(), f"{next(numbers):06x}"),
        lanes=Lanes(leases=INLINE, ledger=INLINE, transfers=INLINE),
    )
    intake = Intake(ledger, objects, MemoryQueue(clock), known, clock, WordLists())
    return Floor(clock, ledger, objects, images, documents, intake, shop)


def turns(ended: Mapping[str, Ended]) -> list[str]:
    """Return the turns in order of their end."""
    return [one.turn.value for one in ended.values()]
