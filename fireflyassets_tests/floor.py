"""A factory floor in memory: jobs, a vendor that keeps its own books, and time that jumps.

Belongs here: what the tests of fence, wave and dispatch share. Does not: a single test's script.
The vendor counts what it accepted by itself, so that a test compares two books and not one.
"""

import asyncio
import io
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache
from typing import ParamSpec, TypeVar

from PIL import Image

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import JobRow
from fireflyassets.core.recipe import ComposeStep, GenerateStep, Recipe
from fireflyassets.core.request import RawRequest
from fireflyassets.limiter import virtual_time
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Limits
from fireflyassets.ports.catalogue import Catalogue, Credential
from fireflyassets.ports.clock import Clock, Lanes, Offload
from fireflyassets.ports.documents import (
    ActionsRequest,
    ArtboardRequest,
    CompositeRequest,
    CropRequest,
    CutOutRequest,
    DocumentComposer,
    EditRequest,
    ManifestRequest,
    PictureCutter,
)
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.images import (
    CancelAnswer,
    ExpandRequest,
    FillRequest,
    GenerateRequest,
    GenerateV4Request,
    ImageGenerator,
    Linked,
    SimilarRequest,
    UpscaleRequest,
)
from fireflyassets.ports.paid import (
    Accepted,
    Done,
    Fetched,
    FetchFailed,
    Gone,
    NotAccepted,
    OutcomeLost,
    Output,
    Poll,
    PollFailed,
    Submission,
    Working,
)
from fireflyassets.ports.references import ReferenceStore
from fireflyassets.ports.workshop import PaidServices, Workshop
from fireflyassets.settings import Settings
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.pinning import pinned
from fireflyassets.wave.assembly import Shop, assemble, register
from fireflyassets.wave.beginning import asked_for, begin_by_hand
from fireflyassets.wave.engine import WaveEngine
from fireflyassets.wave.reports import Ended, Report, Skipped
from fireflyassets_tests.free_services import FakeModels, FakeReferences
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, config

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


@cache
def jpeg(width: int, height: int, kind: str = "JPEG") -> bytes:
    """Return a small real picture."""
    target = io.BytesIO()
    Image.new("RGB", (width, height), (200, 120, 40)).save(target, kind)
    return target.getvalue()


def size(content: bytes) -> tuple[int, int]:
    """Return a picture's width and height."""
    with Image.open(io.BytesIO(content)) as picture:
        return picture.size


@dataclass(frozen=True)
class Take:
    """Accept the submit; *silent* loses the answer, *seconds* is the remote time."""

    silent: bool = False
    seconds: float | None = None
    ending: Poll | None = None
    """What polls answer once the time is over; None: done."""
    writes: bool = True


Behaviour = Take | NotAccepted | OutcomeLost


@dataclass
class Vendor:
    """What both fake services keep: a script, their jobs, and their own list of billed calls."""

    family: Family
    clock: Clock
    seconds: float = 1.0
    script: deque[Behaviour] = field(default_factory=deque)
    billed: list[str] = field(default_factory=list)
    missing: deque[NotAccepted] = field(default_factory=deque)
    """Why there is no token, for as many asks; then there is one."""
    sent: int = 0
    polls: int = 0
    jobs: dict[str, tuple[datetime, Take]] = field(default_factory=dict)
    watch: Callable[[], object] = lambda: None
    """Called at each submit, before it is answered."""

    def submit(self, deliver: Callable[[], None]) -> Submission:
        """Answer the next submit as the script says; without a script all is well."""
        self.sent += 1
        self.watch()
        behaviour = self.script.popleft() if self.script else Take()
        if not isinstance(behaviour, Take):
            return behaviour
        vendor_id = f"{self.family.value}-{self.sent}"
        self.billed.append(vendor_id)
        seconds = self.seconds if behaviour.seconds is None else behaviour.seconds
        self.jobs[vendor_id] = (self.clock.now() + timedelta(seconds=seconds), behaviour)
        if behaviour.writes:
            deliver()
        if behaviour.silent:
            return OutcomeLost(Fault(self.family, None, "lost_answer"))
        return Accepted(vendor_id, f"https://x.adobe.io/status/{vendor_id}")

    def ask(self, status_url: str) -> Poll:
        """Answer a poll."""
        self.polls += 1
        vendor_id = status_url.rsplit("/", 1)[-1]
        if vendor_id not in self.jobs:
            return Gone()
        ready_at, behaviour = self.jobs[vendor_id]
        if self.clock.now() < ready_at:
            return Working()
        return behaviour.ending or Done((Output(f"https://out/{vendor_id}", seed=1),))


class FakeImages(ImageGenerator):
    """A Firefly in memory."""

    family = Family.FIREFLY

    def __init__(self, clock: Clock, objects: MemoryObjects | None = None) -> None:
        self.vendor = Vendor(Family.FIREFLY, clock)
        self.objects = objects or MemoryObjects()
        self.sizes: dict[str, tuple[int, int]] = {}
        self.edits: list[object] = []

    def _made(self, request: object, width: int, height: int) -> Submission:
        answer = self.vendor.submit(lambda: None)
        if isinstance(answer, Accepted):
            self.sizes[answer.vendor_id] = (width, height)
            self.edits.append(request)
        return answer

    async def generate(self, request: GenerateRequest) -> Submission:
        return self._made(request, request.width, request.height)

    async def generate_v4(self, request: GenerateV4Request) -> Submission:
        return self.vendor.submit(lambda: None)

    async def expand(self, request: ExpandRequest) -> Submission:
        return self._made(request, request.width, request.height)

    async def fill(self, request: FillRequest) -> Submission:
        return self._made(request, request.width, request.height)

    async def similar(self, request: SimilarRequest) -> Submission:
        return self._made(request, request.width, request.height)

    async def upscale(self, request: UpscaleRequest) -> Submission:
        assert isinstance(request.source, Linked)
        width, height = size(self.objects.download(request.source.url))
        return self._made(request, request.factor * width, request.factor * height)

    async def cancel(self, cancel_url: str) -> CancelAnswer | PollFailed:
        return CancelAnswer.REQUESTED

    async def ready(self) -> NotAccepted | None:
        return self.vendor.missing.popleft() if self.vendor.missing else None

    async def poll(self, status_url: str) -> Poll:
        return self.vendor.ask(status_url)

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        width, height = self.sizes[url.rsplit("/", 1)[-1]]
        return Fetched(jpeg(width, height), "image/jpeg")


class FakeDocuments(DocumentComposer):
    """A Photoshop in memory; it writes to our own store, as the real one does."""

    family = Family.PHOTOSHOP

    def __init__(self, clock: Clock, objects: MemoryObjects) -> None:
        self.vendor = Vendor(Family.PHOTOSHOP, clock)
        self.objects = objects
        self.texts: list[dict[str, str]] = []
        self.cut: dict[str, bytes] = {}

    async def compose(self, request: CompositeRequest) -> Submission:
        def deliver() -> None:
            content = jpeg(request.width, request.height)
            self.objects.upload(request.output_url, content, media_type=request.media_type)
            self.texts.append(dict(request.texts))

        return self.vendor.submit(deliver)

    async def play(self, request: ActionsRequest) -> Submission:
        return self.vendor.submit(lambda: None)

    async def list_layers(self, request: ManifestRequest) -> Submission:
        return self.vendor.submit(lambda: None)

    async def lay_out(self, request: ArtboardRequest) -> Submission:
        return self.vendor.submit(lambda: None)

    async def edit(self, request: EditRequest) -> Submission:
        def deliver() -> None:
            content = self.objects.download(request.picture_url)
            self.objects.upload(request.output_url, content, media_type=request.media_type)

        return self.vendor.submit(deliver)

    async def ready(self) -> NotAccepted | None:
        return self.vendor.missing.popleft() if self.vendor.missing else None

    async def poll(self, status_url: str) -> Poll:
        return self.vendor.ask(status_url)

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        raise AssertionError("Composites are written to our own store.")


class FakeCutter(PictureCutter):
    """Cuts nothing, and gives back a PNG."""

    family = Family.PHOTOSHOP

    def __init__(self, documents: FakeDocuments) -> None:
        self.vendor, self.documents = documents.vendor, documents

    async def auto_crop(self, request: CropRequest) -> Submission:
        return self.vendor.submit(lambda: None)

    async def cut_out(self, request: CutOutRequest) -> Submission:
        answer = self.vendor.submit(lambda: None)
        if isinstance(answer, Accepted):
            width, height = size(self.documents.objects.download(request.picture_url))
            self.documents.cut[answer.vendor_id] = jpeg(width, height, "PNG")
        return answer

    async def ready(self) -> NotAccepted | None:
        return await self.documents.ready()

    async def poll(self, status_url: str) -> Poll:
        return self.vendor.ask(status_url)

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        return Fetched(self.documents.cut[url.rsplit("/", 1)[-1]], "image/png")


def services(
    images: FakeImages, documents: FakeDocuments, references: ReferenceStore | None = None
) -> PaidServices:
    """Return the fakes of one credential."""
    cutter = FakeCutter(documents)
    return PaidServices(images, documents, cutter, references or FakeReferences(), FakeModels())


class FakeWorkshop(Workshop):
    """Opens the two fakes."""

    def __init__(self, images: FakeImages, documents: FakeDocuments) -> None:
        self.services = services(images, documents)

    @asynccontextmanager
    async def open(self, credential: Credential) -> AsyncIterator[PaidServices]:
        yield self.services


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
    _runs: int = 0

    def order(
        self,
        count: int,
        *,
        prefix: str = "job",
        customer: str = CUSTOMER,
        aspects: tuple[str, ...] = ASPECTS,
    ) -> list[str]:
        """Record *count* jobs and return their ids."""
        rows = [
            Row(
                None,
                RawRequest(f"{prefix}-{n}", f"a bottle {n}", "en-GB", f"Spring {n}", aspects),
            )
            for n in range(count)
        ]
        answers = self.intake.accept(rows, customer=customer, campaign=CAMPAIGN)
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
            services=services(self.images, self.documents, self.references),
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
    intake = Intake(ledger, objects, MemoryQueue(clock), known, clock)
    return Floor(clock, ledger, objects, images, documents, intake, shop)


def turns(ended: Mapping[str, Ended]) -> list[str]:
    """Return the turns in order of their end."""
    return [one.turn.value for one in ended.values()]
