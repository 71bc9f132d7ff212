"""The one paid call behind each kind of picture step.

Belongs here: step -> service, and step -> request, with references signed or uploaded just now.
Does not: tickets, polls and results (``generate.py``); filling templates (``compose.py``).
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from fireflyassets.core import errors, ids
from fireflyassets.core.failure import ACTIONS, Action, Family, classify
from fireflyassets.core.job import StepResult
from fireflyassets.core.recipe import (
    AdjustStep,
    ExpandStep,
    FillStep,
    GenerateStep,
    PictureStep,
    RemoveBackgroundStep,
    SimilarStep,
    UpscaleStep,
)
from fireflyassets.ports.custom_models import NotReady
from fireflyassets.ports.documents import CutOutRequest, EditRequest
from fireflyassets.ports.images import (
    ExpandRequest,
    FillRequest,
    GenerateRequest,
    Linked,
    Mask,
    SimilarRequest,
    Source,
    UpscaleRequest,
)
from fireflyassets.ports.paid import NotAccepted, PaidService, Submission
from fireflyassets.ports.references import UploadFailed
from fireflyassets.stages.bench import URL_LIFE, JobInHand, Receiver, Tools, seed_for

_REFERENCE_PARK: Final = timedelta(minutes=2)
Pictures = Mapping[str, StepResult]
"""Step -> the picture that it made for this job."""


def service_of(tools: Receiver, step: PictureStep) -> PaidService:
    """Return the service that a step calls, and that knows its remote jobs."""
    match step:
        case RemoveBackgroundStep():
            return tools.cutter
        case AdjustStep():
            return tools.documents
        case _:
            return tools.images


@dataclass(frozen=True, slots=True)
class Reference:
    """A picture that a step takes, and how the vendor gets it."""

    key: str
    source: Source

    def signed(self, tools: Receiver) -> Source:
        """Return the source for a send that goes out now."""
        if isinstance(self.source, Linked):
            return Linked(tools.objects.read_url(self.key, life=URL_LIFE))
        return self.source


async def references(tools: Tools, step: PictureStep, pictures: Pictures) -> tuple[Reference, ...]:
    """Return a step's pictures, uploaded where the vendor does not fetch our URLs; free of charge.

    Before the send and not in it: what fails here must not leave a send that looks lost.

    Raises:
        StepRefused, ServiceUnavailable: The vendor does not take one, for good or for now.
        RenditionDefect: One is gone.
    """
    keys = [pictures[name].picture.key for name in step.takes()]
    return tuple([await _offered(tools, step, key) for key in keys])


async def ready(tools: Tools, step: PictureStep) -> NotAccepted | None:
    """Have what a step's send needs, its custom model in use included; None, or why not.

    Free, and before the send: whatever it costs in time, the send is one request.
    """
    missing = await service_of(tools, step).ready()
    if missing is not None or not isinstance(step, GenerateStep) or step.custom_model is None:
        return missing
    found = await tools.models.check(step.custom_model, step.model)
    return NotAccepted(found.fault, found.retry_after) if isinstance(found, NotReady) else None


async def forget(tools: Tools, taken: tuple[Reference, ...]) -> None:
    """Drop the uploads that the vendor no longer knows, so that a replay makes them anew."""
    for one in taken:
        if not isinstance(one.source, Linked):
            content = await tools.transfer(tools.objects.get, one.key)
            await tools.references.forget(content or b"")


def send(
    tools: Tools,
    job: JobInHand,
    step: PictureStep,
    taken: tuple[Reference, ...],
    output_key: str | None,
) -> Awaitable[Submission]:
    """Build a step's call; to await the answer sends it, once."""
    if isinstance(step, RemoveBackgroundStep | AdjustStep):
        return _to_photoshop(tools, step, taken[0].key, output_key)
    return _to_firefly(tools, job, step, [one.signed(tools) for one in taken])


def _to_photoshop(
    tools: Tools, step: RemoveBackgroundStep | AdjustStep, key: str, output_key: str | None
) -> Awaitable[Submission]:
    url = tools.objects.read_url(key, life=URL_LIFE)
    if isinstance(step, RemoveBackgroundStep):
        return tools.cutter.cut_out(CutOutRequest(url, mode=step.mode))
    write = tools.objects.write_url(output_key or "", media_type="image/jpeg", life=URL_LIFE)
    return tools.documents.edit(
        EditRequest(
            url,
            write,
            auto_tone=step.auto_tone,
            exposure=step.exposure,
            contrast=step.contrast,
        )
    )


def _to_firefly(
    tools: Tools, job: JobInHand, step: PictureStep, sources: list[Source]
) -> Awaitable[Submission]:
    images, request = tools.images, job.request
    seed = seed_for(job.row.job_id, step.name, job.row.generation)
    width, height = ids.parse_aspect(tools.campaign.config.recipe.sizes()[step.name])
    named = step.prompt if isinstance(step, ExpandStep | FillStep) else None
    prompt = named and request.text(named.removeprefix("job."))
    match step:
        case GenerateStep():
            return images.generate(
                GenerateRequest(
                    prompt=request.text(step.prompt.removeprefix("job.")),
                    model=step.model,
                    width=width,
                    height=height,
                    seed=seed,
                    locale=request.locale,
                    content_class=step.content_class,
                    custom_model=step.custom_model,
                )
            )
        case ExpandStep():
            return images.expand(
                ExpandRequest(
                    source=sources[0], seed=seed, width=width, height=height, prompt=prompt
                )
            )
        case FillStep():
            return images.fill(
                FillRequest(
                    source=sources[0],
                    mask=Mask(sources[1]),
                    seed=seed,
                    width=width,
                    height=height,
                    locale=request.locale,
                    prompt=prompt,
                )
            )
        case SimilarStep():
            return images.similar(
                SimilarRequest(
                    source=sources[0], model=step.model, seed=seed, width=width, height=height
                )
            )
        case UpscaleStep():
            return images.upscale(UpscaleRequest(source=sources[0], factor=step.factor, seed=seed))
        case _:
            raise AssertionError(f"{step.kind} is no call of Firefly.")


async def _offered(tools: Tools, step: PictureStep, key: str) -> Reference:
    url = tools.objects.read_url(key, life=URL_LIFE)
    if step.family is not Family.FIREFLY:
        return Reference(key, Linked(url))

    async def content() -> bytes:
        found = await tools.transfer(tools.objects.get, key)
        if found is None:
            raise errors.RenditionDefect(step.name, "a picture that it takes is gone")
        return found

    offered = await tools.references.offer(url, content)
    if not isinstance(offered, UploadFailed):
        return Reference(key, offered)
    failure = classify(offered.fault)
    if ACTIONS[failure] not in {Action.RETRY, Action.PARK}:
        raise errors.StepRefused(step.name, offered.fault, failure=failure)
    raise errors.ServiceUnavailable(
        f"Step {step.name}: the vendor's storage takes no upload now.",
        until=tools.clock.now() + (offered.retry_after or _REFERENCE_PARK),
    )
