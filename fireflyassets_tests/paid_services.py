"""The vendor's paid services in memory: each keeps a script and its own list of what it billed.

Belongs here: doubles that bill. Does not: services that cost nothing (``free_services.py``), jobs
and waves (``floor.py``).
"""

import io
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache

from PIL import Image

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.custom_models import CustomModels
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
    EndedBadly,
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
from fireflyassets_tests.free_services import FakeModels, FakeReferences


@cache
def jpeg(
    width: int, height: int, kind: str = "JPEG", *, green: int = 120, mode: str = "RGB"
) -> bytes:
    """Return a small real picture."""
    target = io.BytesIO()
    plain = Image.new("RGB", (width, height), (200, green, 40))
    deep = Image.new("I;16", (width, height), 30_000)
    (deep if mode == "I;16" else plain.convert(mode)).save(target, kind)
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
    deaf: bool = False
    """A cancel is taken, and the job goes on all the same."""


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
    called_back: list[str] = field(default_factory=list)
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
        url = "https://x.adobe.io"
        cancel_url = f"{url}/cancel/{vendor_id}" if self.family is Family.FIREFLY else None
        return Accepted(vendor_id, f"{url}/status/{vendor_id}", cancel_url)

    def cancel(self, cancel_url: str) -> CancelAnswer:
        """End a job that still works as cancelled, unless its script says how it ends."""
        vendor_id = cancel_url.rsplit("/", 1)[-1]
        self.called_back.append(vendor_id)
        ready_at, behaviour = self.jobs[vendor_id]
        if self.clock.now() >= ready_at:
            return CancelAnswer.COMPLETED
        if behaviour.ending is None and not behaviour.deaf:
            gone = EndedBadly(Fault(self.family, 200, "cancelled"))
            self.jobs[vendor_id] = (self.clock.now(), replace(behaviour, ending=gone))
        return CancelAnswer.REQUESTED

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
        self.v4_size: tuple[int, int] | None = None
        """What version 4 makes whatever was asked."""

    def _made(self, request: object, width: int, height: int) -> Submission:
        answer = self.vendor.submit(lambda: None)
        if isinstance(answer, Accepted):
            self.sizes[answer.vendor_id] = (width, height)
            self.edits.append(request)
        return answer

    async def generate(self, request: GenerateRequest) -> Submission:
        return self._made(request, request.width, request.height)

    async def generate_v4(self, request: GenerateV4Request) -> Submission:
        across, down = map(int, (request.aspect_ratio or "1:1").split(":"))
        return self._made(request, *(self.v4_size or (4 * across, 4 * down)))

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
        return self.vendor.cancel(cancel_url)

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
        self.listed: object = {"layers": [{"name": "Hero"}, {"name": "Headline"}]}
        """What a list of layers says, whatever the document."""
        self.played: list[ActionsRequest] = []
        self.plays_in = "RGB"
        self.cuts_in = "RGB"
        """The modes of the pictures that come out of actions and of cut-outs."""

    async def compose(self, request: CompositeRequest) -> Submission:
        def deliver() -> None:
            content = jpeg(request.width, request.height)
            self.objects.upload(request.output_url, content, media_type=request.media_type)
            self.texts.append(dict(request.texts))

        return self.vendor.submit(deliver)

    async def play(self, request: ActionsRequest) -> Submission:
        def deliver() -> None:
            self.played.append(request)
            own = size(self.objects.download(request.template_url))
            for url, _ in request.actions:
                assert self.objects.download(url), "The actions can be read."
            for file in request.outputs:
                asked = (file.width or own[0], file.height or own[1])
                content = jpeg(*asked, green=200, mode=self.plays_in)
                self.objects.upload(file.url, content, media_type=file.media_type)

        return self.vendor.submit(deliver)

    async def list_layers(self, request: ManifestRequest) -> Submission:
        def deliver() -> None:
            assert self.objects.download(request.template_url), "The template can be read."
            said = json.dumps(self.listed).encode()
            self.objects.upload(request.output_url, said, media_type="application/json")

        return self.vendor.submit(deliver)

    async def lay_out(self, request: ArtboardRequest) -> Submission:
        def deliver() -> None:
            for url in request.pictures:
                assert self.objects.download(url), "Each picture can be read."
            for file in request.outputs:
                content = jpeg(file.width or 1, file.height or 1)
                self.objects.upload(file.url, content, media_type=file.media_type)

        return self.vendor.submit(deliver)

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
        answer = self.vendor.submit(lambda: None)
        if isinstance(answer, Accepted):
            width, height = size(self.documents.objects.download(request.picture_url))
            across, down = map(int, request.ratios[0].split(":"))
            unit = min(width // across, height // down)
            self.documents.cut[answer.vendor_id] = jpeg(across * unit, down * unit, "PNG")
        return answer

    async def cut_out(self, request: CutOutRequest) -> Submission:
        answer = self.vendor.submit(lambda: None)
        if isinstance(answer, Accepted):
            width, height = size(self.documents.objects.download(request.picture_url))
            mode = self.documents.cuts_in
            self.documents.cut[answer.vendor_id] = jpeg(width, height, "PNG", mode=mode)
        return answer

    async def ready(self) -> NotAccepted | None:
        return await self.documents.ready()

    async def poll(self, status_url: str) -> Poll:
        return self.vendor.ask(status_url)

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        return Fetched(self.documents.cut[url.rsplit("/", 1)[-1]], "image/png")


def services(
    images: FakeImages,
    documents: FakeDocuments,
    references: ReferenceStore | None = None,
    models: CustomModels | None = None,
) -> PaidServices:
    """Return the fakes of one credential."""
    cutter = FakeCutter(documents)
    offered, known = references or FakeReferences(), models or FakeModels()
    return PaidServices(images, documents, cutter, offered, known)


class FakeWorkshop(Workshop):
    """Opens the two fakes."""

    def __init__(self, images: FakeImages, documents: FakeDocuments) -> None:
        self.services = services(images, documents)

    @asynccontextmanager
    async def open(self, credential: Credential) -> AsyncIterator[PaidServices]:
        yield self.services
