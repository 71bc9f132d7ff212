"""The bench a job lies on while a wave works on it: the job and the tools around it.

Belongs here: what generate, compose and deliver share. Does not: what each of them does.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRequest, JobRow, Picture, StepResult
from fireflyassets.core.money import Cause, RateCard
from fireflyassets.fence.call import Arrived, PaidCall, StepCall
from fireflyassets.fence.protocol import Fence
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.documents import DocumentComposer, PictureCutter
from fireflyassets.ports.entries import Claim, History, Operation
from fireflyassets.ports.images import ImageGenerator
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader, Seen, Unreadable
from fireflyassets.ports.references import ReferenceStore

SEEDS: Final = 2**31 - 1
URL_LIFE: Final = timedelta(hours=2)
"""Of URLs handed to the services: longer than their fifteen minutes with their own retries."""
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
    card: RateCard


@dataclass(frozen=True, slots=True)
class Tools(Receiver):
    """What the stages of one wave work with."""

    fence: Fence
    references: ReferenceStore


@dataclass(frozen=True, slots=True)
class Kept:
    """A result at rest in our own bucket, not bound yet."""

    picture: Picture
    model: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class JobInHand:
    """One job of a wave, with all that was ever sent and made for it."""

    row: JobRow
    claim: Claim
    request: JobRequest
    history: History
    spent: list[Operation]

    def made(self, step: str) -> StepResult | None:
        """Return the stored result of a step, if it was finished before."""
        return self.history.steps.get((step, self.row.generation))


async def bind(tools: Tools, call: PaidCall, arrived: Arrived, kept: Kept) -> StepResult:
    """Write a step's result with its operation row, under the claim's epoch.

    Raises:
        OwnershipLost: The job is another wave's now, which collects the same vendor job.
    """
    attempt = arrived.attempt
    result = result_of(call, arrived, kept)
    booked = call.operation(attempt, attempt.cause, tools.clock.now())
    await tools.offload(tools.ledger.bind, call.claim, result, [booked])
    call.spent.append(booked)
    return result


def result_of(call: StepCall, arrived: Arrived, kept: Kept) -> StepResult:
    """Return the result that a step's send is bound to."""
    attempt = arrived.attempt
    return StepResult(
        job_id=call.row.job_id,
        step=call.step,
        generation=attempt.generation,
        n=attempt.n,
        picture=kept.picture,
        operations=call.price,
        model=kept.model,
        seed=kept.seed,
        facts={
            "seconds": f"{arrived.took.total_seconds():.2f}",
            "polls": str(arrived.polls),
            "vendor_job": attempt.vendor_id or "",
        },
    )


async def looked_at(
    tools: Receiver, step: str, content: bytes, *, width: int, height: int
) -> tuple[Seen, str]:
    """Return what *content* is, and its sha256, once it is a picture of the asked size.

    Raises:
        RenditionDefect: It is not.
    """
    seen = await tools.transfer(tools.pictures.look, content)
    if isinstance(seen, Unreadable):
        raise errors.RenditionDefect(step, f"the result is unusable: {seen.reason}")
    if (seen.width, seen.height) != (width, height):
        raise errors.RenditionDefect(
            step, f"the result has {seen.width}x{seen.height} pixels, not {width}x{height}"
        )
    return seen, hashlib.sha256(content).hexdigest()


def seed_for(job_id: str, step: str, generation: int) -> int:
    """Return the seed of a step: the same for every send, another after a regenerate."""
    said = f"{job_id}#{step}#{generation}".encode()
    return int(hashlib.sha256(said).hexdigest()[:12], 16) % SEEDS


_AGREED_RISKS: Final = frozenset(
    {Cause.POSSIBLE_DUPLICATE, Cause.POSSIBLE_COST, Cause.ACCEPTED_BUT_FAILED}
)


def cost(spent: Iterable[Operation]) -> Decimal:
    """Return what operations come to; a row that is named twice counts once."""
    rows = {(row.vendor_id, row.output): row.operations for row in spent}
    return sum(rows.values(), Decimal(0))


def limited_cost(spent: Iterable[Operation]) -> Decimal:
    """Return the operations that the cost check counts: a risk agreed to is not an overrun.

    The tries of a step are such a risk. What they cost is booked in full; to end a paid job for
    it would only have the customer pay for all of it again.
    """
    return cost(row for row in spent if row.cause not in _AGREED_RISKS)
