"""Compose: the template's layers filled with Photoshop, one rendition for one aspect.

In: a job, a compose step, an aspect and the pictures made before. Out: a checked file that waits
for its delivery, bound to the job; what the service wrote expires after a day. Spends: one
Photoshop call for each send that is accepted.
"""

from collections.abc import Awaitable, Mapping
from functools import partial

from fireflyassets.core import copy_check, errors, ids
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import stored_name
from fireflyassets.core.recipe_step import first_of
from fireflyassets.fence.call import Arrived, PaidCall, StepCall
from fireflyassets.ports.documents import CompositeRequest
from fireflyassets.ports.paid import Submission
from fireflyassets.ports.pictures import SlotView
from fireflyassets.stages.bench import (
    URL_LIFE,
    JobInHand,
    Kept,
    Receiver,
    Tools,
    bind,
    looked_at,
    rates_of,
)


async def compose(
    tools: Tools,
    job: JobInHand,
    step: ComposeStep,
    aspect: str,
    pictures: Mapping[str, StepResult],
) -> StepResult:
    """Make one aspect's rendition, or return the one that was made before."""
    name = stored_name(step, aspect)
    if made := job.made(name):
        return made

    def submit(output_key: str | None) -> Awaitable[Submission]:
        request = _request(tools, job, step, aspect, pictures, output_key or "")
        return tools.documents.compose(request)

    call = PaidCall(
        row=job.row,
        claim=job.claim,
        history=job.history,
        step=name,
        learns=step.name,
        service=tools.documents,
        ready=tools.documents.ready,
        submit=submit,
        output_key=partial(_output_key, job, name, aspect),
        tries=step.retry,
        timeout=step.timeout,
        rates=rates_of(job.card, step),
        resubmits=tools.campaign.config.resubmit_unknown,
        cancelled=job.cancelled,
        texts=(job.request.prompt, job.request.headline),
    )
    arrived = await tools.fence.carry(call)
    return await bind(tools, call, arrived, await receive(tools, call, aspect, arrived))


async def receive(tools: Receiver, call: StepCall, aspect: str, arrived: Arrived) -> Kept:
    """Check what the service wrote under the send's own key, and keep it beyond a day.

    Raises:
        RenditionDefect: There is nothing, or it is not what was asked, or a slot was not filled.
    """
    content = await tools.transfer(tools.objects.get, arrived.attempt.output_key or "")
    if content is None:
        raise errors.RenditionDefect(call.step, "the job succeeded and wrote nothing")
    seen, digest = await looked_at(tools, call.step, content, size=aspect)
    old = await tools.transfer(tools.pictures.unfilled, content, await _views(tools, call, aspect))
    if old:
        named = ", ".join(map(repr, old))
        raise errors.RenditionDefect(call.step, f"the template's own picture is still in {named}")
    row = call.row
    kept = ids.rendition_key(row.customer_id, row.campaign_id, row.job_id, call.step, digest)
    await tools.transfer(tools.objects.put, kept, content, media_type=seen.media_type)
    return Kept(Picture(kept, digest, seen.media_type, seen.width, seen.height, len(content)))


async def _views(tools: Receiver, call: StepCall, aspect: str) -> list[SlotView]:
    """Return how the step's slots look unfilled; read once for a template and a step."""
    template = tools.campaign.templates[aspect]
    name = f"{call.step}#{template}"
    async with tools.reading:
        if name not in tools.views:
            content = await tools.transfer(tools.objects.get, ids.template_key(template))
            steps = tools.campaign.config.recipe.compositions()
            step = next(one for one in steps if stored_name(one, aspect) == call.step)
            tools.views[name] = await tools.transfer(
                tools.pictures.slots,
                content or b"",
                pictures=step.picture_layers(),
                texts=step.text_layers(),
            )
    return tools.views[name]


def _output_key(job: JobInHand, name: str, aspect: str, n: int) -> str:
    return ids.temporary_key(job.row.job_id, name, job.row.generation, n, f"{aspect}.jpg")


def _request(
    tools: Tools,
    job: JobInHand,
    step: ComposeStep,
    aspect: str,
    pictures: Mapping[str, StepResult],
    output_key: str,
) -> CompositeRequest:
    """Build the request with URLs signed just now: they must outlive this send only."""
    objects = tools.objects
    width, height = ids.parse_aspect(aspect)
    template = ids.template_key(tools.campaign.templates[aspect])
    declared = tools.campaign.frames.get(aspect, {})
    settings = {
        layer: copy_check.setting(
            tools.campaign, aspect, layer, job.request.text(name), job.request.locale
        )
        for layer, name in step.text_layers().items()
    }
    return CompositeRequest(
        template_url=objects.read_url(template, life=URL_LIFE),
        pictures={
            layer: objects.read_url(made.picture.key, life=URL_LIFE)
            for layer, names in step.picture_layers().items()
            if (made := first_of(names, pictures))
        },
        texts={layer: one.words for layer, one in settings.items()},
        styles={
            layer: declared[layer].style.of(one.words).at(one.percent)
            for layer, one in settings.items()
            if layer in declared
        },
        output_url=objects.write_url(output_key, media_type="image/jpeg", life=URL_LIFE),
        width=width,
        height=height,
    )
