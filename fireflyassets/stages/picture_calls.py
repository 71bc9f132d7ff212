"""The one paid call behind each kind of picture step: its service, and what the call takes.

Belongs here: step -> service, and references, signed or uploaded just now. Does not: requests
(``picture_requests.py``); tickets, polls and results (``generate.py``); filling templates
(``compose.py``).
"""

import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from fireflyassets.core import errors, ids
from fireflyassets.core.failure import (
    ACTIONS,
    MODEL_FIELD,
    REFUSED_LOCALLY,
    Action,
    Family,
    Fault,
    classify,
)
from fireflyassets.core.job import StepResult
from fireflyassets.core.photoshop_step import AutoCropStep, PictureStep, RemoveBackgroundStep
from fireflyassets.core.preflight import reference_fault
from fireflyassets.core.recipe_step import GenerateStep, GenerateV4Step
from fireflyassets.ports.custom_models import NotReady
from fireflyassets.ports.images import Linked, Source
from fireflyassets.ports.paid import NotAccepted, PaidService, Submission
from fireflyassets.ports.pictures import Unreadable
from fireflyassets.ports.references import UploadFailed
from fireflyassets.stages.bench import URL_LIFE, JobInHand, Receiver, Tools
from fireflyassets.stages.picture_requests import to_firefly, to_photoshop

_REFERENCE_PARK: Final = timedelta(minutes=2)
Pictures = Mapping[str, StepResult]
"""Step -> the picture that it made for this job."""


def service_of(tools: Receiver, step: PictureStep) -> PaidService:
    """Return the service that a step calls, and that knows its remote jobs."""
    if isinstance(step, RemoveBackgroundStep | AutoCropStep):
        return tools.cutter
    return tools.documents if step.family is Family.PHOTOSHOP else tools.images


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
    taken = [one.picture for one in step.taken(pictures) or ()]
    if isinstance(step, GenerateV4Step):
        for one in taken:
            if fault := reference_fault(one.width, one.height, one.size_bytes):
                refused = Fault(step.family, None, REFUSED_LOCALLY, "picture", fault)
                raise errors.StepRefused(step.name, refused, failure=classify(refused))
    return tuple([await _offered(tools, step, one.key) for one in taken])


async def ready(tools: Tools, job: JobInHand, step: PictureStep) -> NotAccepted | None:
    """Have what a step's send needs, its custom model in use included; None, or why not.

    Free, and before the send: whatever it costs in time, the send is one request.
    """
    missing = await service_of(tools, step).ready()
    if missing is not None or not isinstance(step, GenerateStep) or step.custom_model is None:
        return missing
    found = await tools.models.check(step.custom_model, step.model)
    if isinstance(found, NotReady):
        # Whoever may not list or use custom models may make all other calls.
        of_model = found.fault.family is step.family
        return NotAccepted(
            replace(found.fault, field=MODEL_FIELD) if of_model else found.fault, found.retry_after
        )
    prompt = job.request.text(step.prompt.removeprefix("job."))
    if (concept := found.model.concept) is None or names_concept(prompt, concept):
        return None
    said = f"the custom model needs its own word {concept!r} there; write it into the text"
    return NotAccepted(Fault(step.family, None, REFUSED_LOCALLY, step.prompt, said))


def names_concept(prompt: str, concept: str) -> bool:
    """Say whether a text holds the word of a subject's model, as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(concept)}(?!\w)", prompt, re.IGNORECASE) is not None


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
    aspect: str | None,
    output_key: str | None,
) -> Awaitable[Submission]:
    """Build a step's call; to await the answer sends it, once."""
    sources = [one.signed(tools) for one in taken]
    size = tools.campaign.config.recipe.sizes(aspect)[step.name]
    if step.family is Family.FIREFLY:
        return to_firefly(tools.images, job, step, sources, size)
    return to_photoshop(tools, step, sources, size, output_key)


async def _offered(tools: Tools, step: PictureStep, key: str) -> Reference:
    if step.family is not Family.FIREFLY:
        return Reference(key, Linked(tools.objects.read_url(key, life=URL_LIFE)))
    key, plain = await _plain(tools, step, key)

    async def content() -> bytes:
        return plain

    offered = await tools.references.offer(tools.objects.read_url(key, life=URL_LIFE), content)
    if not isinstance(offered, UploadFailed):
        return Reference(key, offered)
    failure = classify(offered.fault)
    if ACTIONS[failure] not in {Action.RETRY, Action.PARK}:
        raise errors.StepRefused(step.name, offered.fault, failure=failure)
    raise errors.ServiceUnavailable(
        f"Step {step.name}: the vendor's storage takes no upload now.",
        until=tools.clock.now() + (offered.retry_after or _REFERENCE_PARK),
    )


async def _plain(tools: Tools, step: PictureStep, key: str) -> tuple[str, bytes]:
    """Return a picture as the image generator takes it, and its key: a copy where it is not so.

    Deep, CMYK and turned pictures come back white, off-colour or lying on their side.
    """
    content = await tools.transfer(tools.objects.get, key)
    if content is None:
        raise errors.RenditionDefect(step.name, "a picture that it takes is gone")
    made = await tools.transfer(tools.pictures.normal, content)
    if isinstance(made, Unreadable):
        refused = Fault(step.family, None, REFUSED_LOCALLY, "picture", made.reason)
        raise errors.StepRefused(step.name, refused, failure=classify(refused))
    if not made.changes:
        return key, content
    copy = ids.plain_key(key, made.media_type)
    await tools.transfer(tools.objects.put, copy, made.content, media_type=made.media_type)
    return copy, made.content
