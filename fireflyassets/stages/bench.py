"""The bench a job lies on while a wave works on it: the job and the tools around it.

Belongs here: what generate, compose and deliver share. Does not: what each of them does.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from fireflyassets.core import errors, ids, manifest
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRequest, JobRow, Picture, StepResult
from fireflyassets.core.money import Cost, RateCard
from fireflyassets.core.photoshop_step import Step
from fireflyassets.core.tally import Tally
from fireflyassets.fence.call import Arrived, PaidCall, Rates, StepCall
from fireflyassets.fence.protocol import Fence
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.custom_models import CustomModels
from fireflyassets.ports.documents import DocumentComposer, PictureCutter
from fireflyassets.ports.entries import Claim, History, Operation
from fireflyassets.ports.images import ImageGenerator
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader, Seen, SlotView, Unreadable
from fireflyassets.ports.references import ReferenceStore

SEEDS: Final = 2**31 - 1
URL_LIFE: Final = timedelta(hours=2)
"""Of URLs handed to the services: longer than their fifteen minutes with their own retries."""
RATIO_SLACK: Final = 0.02
"""How far sides that the vendor chooses may be from their ratio."""
UNTOUCHED: Final = History(steps={}, attempts=(), operations=())
"""The history of a job that no wave has worked on before."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """What takes in a remote job's result; it sends nothing."""

    ledger: JobLedger
    objects: ObjectStore
    images: ImageGenerator
    documents: DocumentComposer
    cutter: PictureCutter
    pictures: PictureReader
    clock: Clock
    offload: Offload
    """For the ledger."""
    transfer: Offload
    """For whole objects and their decoding."""
    campaign: Campaign
    chance: Callable[[], float]
    """In [0, 1), for jitter."""
    views: dict[str, list[SlotView]] = field(
        default_factory=dict[str, list[SlotView]], kw_only=True
    )
    """Step and template -> how its slots look before they are filled."""
    reading: asyncio.Lock = field(default_factory=asyncio.Lock, kw_only=True)
    """Held while a template is read, so that results that come side by side read it once."""


@dataclass(frozen=True, slots=True)
class Tools(Receiver):
    """What the stages of one wave work with."""

    fence: Fence
    references: ReferenceStore
    models: CustomModels
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class Kept:
    """A result at rest in our own bucket, not bound yet."""

    picture: Picture
    model: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class StoredJob:
    """One job, with all that was ever sent and made for it."""

    row: JobRow
    request: JobRequest
    history: History

    def made(self, step: str) -> StepResult | None:
        """Return the stored result of a step, if it was finished before."""
        return self.history.steps.get((step, self.row.generation))


@dataclass(frozen=True, slots=True)
class JobInHand(StoredJob):
    """One job of a wave."""

    claim: Claim
    card: RateCard
    """That of the estimate, whatever is valid by now."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the job is to be cancelled."""


async def read_request(tools: Receiver, row: JobRow) -> JobRequest:
    """Return the full input of a job from its manifest.

    Raises:
        JobFailed: The manifest is gone or is not the one that the row's hash names.
    """
    place = manifest.place(row.input_manifest)
    content = await tools.transfer(partial(tools.objects.get, part=place.part), place.key)
    request = manifest.load(content) if content else None
    if (
        request is None
        or not request.is_of(row.body_hash)
        or ids.job_id(request.customer, request.key) != row.job_id
    ):
        raise errors.UnreadableManifest(row.job_id)
    return request


def rates_of(card: RateCard, step: Step) -> Rates:
    """Return what a send of *step* costs by the job's own card."""
    return Rates(partial(card.charges, step), card.id)


async def cost_so_far(tools: Receiver, job_id: str) -> Cost:
    """Return what a job has cost, from where each call is booked once."""
    return (await tools.offload(tools.ledger.history, job_id)).cost


async def bind(tools: Tools, call: PaidCall, arrived: Arrived, kept: Kept) -> StepResult:
    """Write a step's result with its operation rows, under the claim's epoch.

    Outputs that were ordered and did not come stay booked as accepted but failed.

    Raises:
        OwnershipLost: The job is another wave's now, which collects the same vendor job.
    """
    result = result_of(call, arrived, kept)
    await tools.offload(
        tools.ledger.bind, call.claim, result, bound(call, arrived, tools.clock.now())
    )
    return result


def bound(call: StepCall, arrived: Arrived, at: datetime) -> list[Operation]:
    """Return the operation rows of the outputs that arrived."""
    ordered = call.operations(arrived.attempt, arrived.attempt.cause, at)
    return ordered[: max(1, len(arrived.outputs))]


def result_of(call: StepCall, arrived: Arrived, kept: Kept) -> StepResult:
    """Return the result that a step's send is bound to."""
    attempt = arrived.attempt
    return StepResult(
        job_id=call.row.job_id,
        step=call.step,
        generation=attempt.generation,
        n=attempt.n,
        picture=kept.picture,
        operations=call.rates.price,
        model=kept.model,
        seed=kept.seed,
        ignored_words=any(output.ignored_words for output in arrived.outputs),
        facts={
            "seconds": f"{arrived.took.total_seconds():.2f}",
            "polls": str(arrived.polls),
            "vendor_job": attempt.vendor_id or "",
        },
    )


async def looked_at(
    tools: Receiver, step: str, content: bytes, *, size: str | None, ratio: str | None = None
) -> tuple[Seen, str]:
    """Return what *content* is, and its sha256, once it is a picture of the asked size.

    *size* is None where the vendor chooses it; *ratio* (``16:9``) is what it must then keep to.

    Raises:
        RenditionDefect: It is not.
    """
    asked = None if size is None else ids.parse_aspect(size)
    seen = await tools.transfer(tools.pictures.look, content, asked=asked)
    if isinstance(seen, Unreadable):
        raise errors.RenditionDefect(step, f"the result is unusable: {seen.reason}", unread=True)
    found = f"{seen.width}x{seen.height}"
    if size not in {None, found}:
        raise errors.RenditionDefect(step, f"the result has {found} pixels, not {size}")
    if ratio is not None and not _keeps(seen, ratio):
        raise errors.RenditionDefect(step, f"the result has {found} pixels, which is not {ratio}")
    return seen, hashlib.sha256(content).hexdigest()


def _keeps(seen: Seen, ratio: str) -> bool:
    """Say whether a picture has a ratio, but for the rounding of sides to whole blocks."""
    across, down = (int(part) for part in ratio.split(":"))
    return abs(seen.width * down - seen.height * across) <= RATIO_SLACK * seen.width * down


def seed_for(job_id: str, step: str, generation: int) -> int:
    """Return the seed of a step: the same for every send, another after a regenerate."""
    said = f"{job_id}#{step}#{generation}".encode()
    return int(hashlib.sha256(said).hexdigest()[:12], 16) % SEEDS
