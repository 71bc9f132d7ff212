"""Generate: one picture with Firefly.

In: a job and a generate step. Out: the untouched original in our bucket, bound to the job.
Spends: one Firefly call for each send that is accepted.
"""

import hashlib
from typing import Final

from fireflyassets.core import errors, ids
from fireflyassets.core.failure import FailureClass, Fault
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.recipe import GenerateStep
from fireflyassets.fence.call import Arrived, PaidCall, StepCall
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.paid import Done, Fetched, FetchFailed, Submission
from fireflyassets.stages.bench import (
    JobInHand,
    Kept,
    Receiver,
    Tools,
    bind,
    looked_at,
    rates_of,
)

SEEDS: Final = 2**31 - 1


async def generate(tools: Tools, job: JobInHand, step: GenerateStep) -> StepResult:
    """Make the step's picture, or return the one that was made before."""
    if made := job.made(step.name):
        return made
    call = _paid_call(tools, job, step)
    arrived = await tools.fence.carry(call)
    made = await bind(tools, call, arrived, await receive(tools, call, step, arrived))
    if any(output.ignored_words for output in arrived.outputs):
        # It is paid and kept; who sends the job on after a look uses it as it is.
        fault = Fault(call.service.family, None, "words_ignored", "prompt")
        raise errors.StepRefused(step.name, fault, failure=FailureClass.UNSAFE_CONTENT)
    return made


async def receive(tools: Receiver, call: StepCall, step: GenerateStep, arrived: Arrived) -> Kept:
    """Fetch a finished picture, check it, and keep the untouched original.

    Raises:
        RenditionDefect: It is not what was asked.
        StepRefused: Its URL does not answer; the id stays, and may be asked again.
    """
    width, height = ids.parse_aspect(step.size)
    fetched = await _fetch(tools, call, arrived)
    seen, digest = await looked_at(tools, step.name, fetched.content, width=width, height=height)
    row = call.row
    key = ids.original_key(row.customer_id, row.campaign_id, row.job_id, step.name, digest)
    await tools.transfer(tools.objects.put, key, fetched.content, media_type=seen.media_type)
    picture = Picture(key, digest, seen.media_type, width, height, len(fetched.content))
    seed = seed_for(row.job_id, step.name, arrived.attempt.generation)
    return Kept(picture, model=step.model.value, seed=seed)


def _paid_call(tools: Tools, job: JobInHand, step: GenerateStep) -> PaidCall:
    width, height = ids.parse_aspect(step.size)
    request = GenerateRequest(
        prompt=job.request.text(step.prompt.removeprefix("job.")),
        model=step.model,
        width=width,
        height=height,
        seed=seed_for(job.row.job_id, step.name, job.row.generation),
        locale=job.request.locale,
        content_class=step.content_class,
        custom_model=step.custom_model,
    )

    async def submit(_: str | None) -> Submission:
        return await tools.images.generate(request)

    return PaidCall(
        row=job.row,
        claim=job.claim,
        history=job.history,
        step=step.name,
        learns=f"{step.name}:{step.model}",
        service=tools.images,
        submit=submit,
        output_key=None,
        tries=step.retry,
        timeout=step.timeout,
        rates=rates_of(job.card, step),
        resubmits=tools.campaign.config.resubmit_unknown,
    )


def seed_for(job_id: str, step: str, generation: int) -> int:
    """Return the seed of a step: the same for every send, another after a regenerate."""
    said = f"{job_id}#{step}#{generation}".encode()
    return int(hashlib.sha256(said).hexdigest()[:12], 16) % SEEDS


async def _fetch(tools: Receiver, call: StepCall, arrived: Arrived) -> Fetched:
    """Download the result; an expired URL is read anew from the status call, once."""
    fetched = await _download(tools, call, arrived.outputs[0].url if arrived.outputs else None)
    if isinstance(fetched, FetchFailed):
        again = await tools.images.poll(arrived.attempt.status_url or "")
        url = again.outputs[0].url if isinstance(again, Done) and again.outputs else None
        fetched = await _download(tools, call, url)
    if isinstance(fetched, FetchFailed):
        # The attempt stays accepted: a replay collects the same vendor job.
        raise errors.StepRefused(call.step, fetched.fault, failure=FailureClass.STORAGE)
    return fetched


async def _download(tools: Receiver, call: StepCall, url: str | None) -> Fetched | FetchFailed:
    if url is None:
        raise errors.RenditionDefect(call.step, "the job succeeded without an output")
    return await tools.images.fetch(url)
