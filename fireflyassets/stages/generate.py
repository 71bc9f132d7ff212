"""Generate: one picture, from a text of the job or from pictures made before.

In: a job and a picture step. Out: the untouched original in our bucket, bound to the job.
Spends: one call of Firefly or Photoshop for each send that is accepted.
"""

import hashlib
from datetime import timedelta
from functools import partial
from typing import Final

from fireflyassets.core import errors, ids, layer_list
from fireflyassets.core.failure import FailureClass, Family, Fault, classify
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.photoshop_step import AutoCropStep, ManifestStep, PictureStep
from fireflyassets.core.recipe import aspect_in, stored_name
from fireflyassets.core.recipe_step import V4_MODEL, GenerateStep, GenerateV4Step, SimilarStep
from fireflyassets.fence.call import Arrived, PaidCall, StepCall
from fireflyassets.ports.paid import Done, Fetched, FetchFailed, Output, PollFailed
from fireflyassets.ports.pictures import Seen
from fireflyassets.stages.bench import (
    JobInHand,
    Kept,
    Receiver,
    Tools,
    bind,
    looked_at,
    rates_of,
    seed_for,
)
from fireflyassets.stages.picture_calls import (
    Pictures,
    Reference,
    forget,
    ready,
    references,
    send,
    service_of,
)

DOWNLOADS: Final = 4
"""How often a result is asked for in one turn: once, and three times again."""
DOWNLOAD_BACKOFF: Final = timedelta(seconds=1)
DOWNLOAD_PARK: Final = timedelta(minutes=2)
"""Soon again: the URL of a result that is paid for lives one hour."""


async def generate(
    tools: Tools, job: JobInHand, step: PictureStep, pictures: Pictures, aspect: str | None = None
) -> StepResult:
    """Make the step's picture, or return the one that was made before; *aspect* if it fans out."""
    name = stored_name(step, aspect)
    if made := job.made(name):
        return _whole(step, made)
    taken = await references(tools, step, pictures)
    call = _paid_call(tools, job, step, taken, aspect)
    try:
        arrived = await tools.fence.carry(call)
    except errors.StepRefused as refused:
        if refused.failure is FailureClass.STALE_REFERENCE:
            await forget(tools, taken)
        raise
    made = await bind(tools, call, arrived, await receive(tools, call, step, arrived))
    return _whole(step, made)


def _whole(step: PictureStep, made: StepResult) -> StepResult:
    """Return a result that no word of its prompt was left out of, whoever bound it and when."""
    if made.ignored_words:
        fault = Fault(step.family, None, "words_ignored", "prompt")
        raise errors.StepRefused(step.name, fault, failure=FailureClass.UNSAFE_CONTENT)
    return made


async def receive(tools: Receiver, call: StepCall, step: PictureStep, arrived: Arrived) -> Kept:
    """Fetch a finished picture, check it, and keep the untouched original.

    Raises:
        RenditionDefect: It is not what was asked, or no picture.
        ServiceUnavailable: Its store does not answer; the id stays, and is asked for again.
        StepRefused: Its URL has expired, and the status call has no fresh one.
    """
    asked = seed_for(call.row.job_id, step.name, arrived.attempt.generation)
    content = await _content(tools, call, arrived, asked)
    seen, digest = await _judged(tools, call, step, content)
    row = call.row
    key = ids.original_key(
        row.customer_id, row.campaign_id, row.job_id, call.step, digest, seen.media_type
    )
    await tools.transfer(tools.objects.put, key, content, media_type=seen.media_type)
    picture = Picture(key, digest, seen.media_type, seen.width, seen.height, len(content))
    if step.family is not Family.FIREFLY:
        return Kept(picture)
    said = _chosen(arrived.outputs, asked).seed
    return Kept(picture, model=_model(step), seed=asked if said is None else said)


async def _judged(
    tools: Receiver, call: StepCall, step: PictureStep, content: bytes
) -> tuple[Seen, str]:
    """Return what a result is, and its sha256, once it is what the step asks for."""
    if isinstance(step, ManifestStep):
        listed = layer_list.read(content)
        if listed is None:
            raise errors.RenditionDefect(call.step, "the result is no list of layers")
        seen = Seen(step.writes or "", listed.width, listed.height)
        return seen, hashlib.sha256(content).hexdigest()
    sizes = tools.campaign.config.recipe.sizes(aspect_in(call.step))
    ratio = step.ratio if isinstance(step, AutoCropStep | GenerateV4Step) else None
    return await looked_at(tools, call.step, content, size=sizes[step.name], ratio=ratio)


def _model(step: PictureStep) -> str | None:
    """Return the model header that a step's sends carry; None where they carry none."""
    if isinstance(step, GenerateV4Step):
        return V4_MODEL
    return step.model.value if isinstance(step, GenerateStep | SimilarStep) else None


def _paid_call(
    tools: Tools,
    job: JobInHand,
    step: PictureStep,
    taken: tuple[Reference, ...],
    aspect: str | None,
) -> PaidCall:
    name = stored_name(step, aspect)
    return PaidCall(
        row=job.row,
        claim=job.claim,
        history=job.history,
        step=name,
        learns=step.name,
        service=service_of(tools, step),
        ready=partial(ready, tools, job, step),
        submit=partial(send, tools, job, step, taken, aspect),
        output_key=partial(_output_key, job, step, name) if step.writes else None,
        tries=step.retry,
        timeout=step.timeout,
        rates=rates_of(job.card, step),
        resubmits=tools.campaign.config.resubmit_unknown,
        cancelled=job.cancelled,
        texts=(job.request.prompt, job.request.headline),
    )


def _output_key(job: JobInHand, step: PictureStep, name: str, n: int) -> str:
    row, suffix = job.row, ids.suffix(step.writes or "")
    return ids.temporary_key(row.job_id, name, row.generation, n, f"{step.name}.{suffix}")


def _chosen(outputs: tuple[Output, ...], seed: int) -> Output:
    """Return the output of the *seed* that was asked for; the first where none names it."""
    return next((one for one in outputs if one.seed == seed), outputs[0] if outputs else Output())


async def _content(tools: Receiver, call: StepCall, arrived: Arrived, seed: int) -> bytes:
    """Return the result's bytes, from the vendor or from where it wrote them."""
    if arrived.attempt.output_key is None:
        return (await _fetch(tools, call, arrived, seed)).content
    content = await tools.transfer(tools.objects.get, arrived.attempt.output_key)
    if content is None:
        raise errors.RenditionDefect(call.step, "the job succeeded and wrote nothing")
    return content


async def _fetch(tools: Receiver, call: StepCall, arrived: Arrived, seed: int) -> Fetched:
    """Download the result; where that fails its URL is read anew from the status call.

    The send stays accepted whatever comes: the next turn, the sweep or a replay asks for it.
    """
    fetched = await _download(call, _chosen(arrived.outputs, seed))
    for n in range(1, DOWNLOADS):
        if isinstance(fetched, Fetched):
            return fetched
        if n > 1 or fetched.fault.code != "expired_url":
            await tools.clock.sleep(DOWNLOAD_BACKOFF * 2**n * tools.chance())
        again = await call.service.poll(arrived.attempt.status_url or "")
        if isinstance(again, Done):
            fetched = await _download(call, _chosen(again.outputs, seed))
        elif isinstance(again, PollFailed):
            fetched = FetchFailed(again.fault)
    if isinstance(fetched, Fetched):
        return fetched
    raise _unfetched(tools, call, fetched.fault)


def _unfetched(tools: Receiver, call: StepCall, fault: Fault) -> errors.FactoryError:
    if fault.code == "not_a_picture":
        return errors.RenditionDefect(call.step, "the result is no picture", unread=True)
    failure = classify(fault)
    if failure in {FailureClass.STALE_REFERENCE, FailureClass.BUG}:
        return errors.StepRefused(call.step, fault, failure=failure)
    return errors.ServiceUnavailable(
        f"Step {call.step}: {fault.sentence()}. Its result is paid for and fetched later.",
        until=tools.clock.now() + DOWNLOAD_PARK,
    )


async def _download(call: StepCall, output: Output) -> Fetched | FetchFailed:
    if output.url is None:
        raise errors.RenditionDefect(call.step, "the job succeeded without an output")
    return await call.service.fetch(output.url)
