"""The request behind each kind of picture step, in the words of the ports.

Belongs here: step and sources -> one request. Does not: how sources come about
(``picture_calls.py``), the vendor's bodies (``adapters/adobe/``).
"""

from collections.abc import Awaitable

from fireflyassets.core import ids
from fireflyassets.core.job import JobRequest
from fireflyassets.core.photoshop_step import (
    ActionsStep,
    AdjustStep,
    ArtboardStep,
    AutoCropStep,
    ManifestStep,
    PictureStep,
    RemoveBackgroundStep,
)
from fireflyassets.core.recipe_step import (
    ExpandStep,
    FillStep,
    GenerateStep,
    GenerateV4Step,
    SimilarStep,
    UpscaleStep,
)
from fireflyassets.ports.documents import (
    ActionsRequest,
    ArtboardRequest,
    CropRequest,
    CutOutRequest,
    EditRequest,
    ManifestRequest,
    OutputFile,
)
from fireflyassets.ports.images import (
    ExpandRequest,
    FillRequest,
    GenerateRequest,
    GenerateV4Request,
    ImageGenerator,
    Linked,
    Mask,
    SimilarRequest,
    Source,
    UpscaleRequest,
)
from fireflyassets.ports.paid import Submission
from fireflyassets.stages.bench import URL_LIFE, JobInHand, Tools, seed_for


def to_photoshop(
    tools: Tools, step: PictureStep, sources: list[Source], size: str | None, output_key: str | None
) -> Awaitable[Submission]:
    """Return the call of one of Photoshop's steps; what it takes is always linked."""
    urls = [one.url for one in sources if isinstance(one, Linked)]
    match step:
        case RemoveBackgroundStep():
            return tools.cutter.cut_out(CutOutRequest(urls[0], mode=step.mode))
        case AutoCropStep():
            crop = CropRequest(urls[0], mode=step.mode, ratios=(step.ratio,), focus=step.focus)
            return tools.cutter.auto_crop(crop)
        case _:
            return _to_our_key(tools, step, urls, size, output_key or "")


def _to_our_key(
    tools: Tools, step: PictureStep, urls: list[str], size: str | None, output_key: str
) -> Awaitable[Submission]:
    """Return the call of a step whose result is written to a key of ours."""
    documents, objects = tools.documents, tools.objects
    url = objects.write_url(output_key, media_type=step.writes or "", life=URL_LIFE)
    width, height = (None, None) if size is None else ids.parse_aspect(size)
    file = OutputFile(url, width, height)
    match step:
        case AdjustStep():
            return documents.edit(
                EditRequest(
                    urls[0],
                    url,
                    auto_tone=step.auto_tone,
                    exposure=step.exposure,
                    contrast=step.contrast,
                )
            )
        case ActionsStep():
            played = tuple((_actions_url(tools, one.file), one.action) for one in step.actions)
            request = ActionsRequest(urls[0], (file,), actions=played, written=step.written())
            return documents.play(request)
        case ArtboardStep():
            return documents.lay_out(ArtboardRequest(tuple(urls), (file,), spacing=step.spacing))
        case ManifestStep():
            template = ids.template_key(tools.campaign.templates[step.template])
            document = objects.read_url(template, life=URL_LIFE)
            return documents.list_layers(ManifestRequest(document, url))
        case _:
            raise AssertionError(f"{step.kind} writes to no key of ours.")


def _actions_url(tools: Tools, path: str) -> str:
    key = ids.actions_key(tools.campaign.actions[path])
    return tools.objects.read_url(key, life=URL_LIFE)


def to_firefly(
    images: ImageGenerator,
    job: JobInHand,
    step: PictureStep,
    sources: list[Source],
    size: str | None,
) -> Awaitable[Submission]:
    """Return the call of one of Firefly's steps."""
    request, seed = job.request, seed_for(job.row.job_id, step.name, job.row.generation)
    match step:
        case GenerateStep():
            return images.generate(_generate(request, step, seed))
        case GenerateV4Step():
            return images.generate_v4(_generate_v4(request, step, seed, sources))
        case UpscaleStep():
            return images.upscale(UpscaleRequest(source=sources[0], factor=step.factor, seed=seed))
        case _:
            return _sized(images, request, step, seed, sources, size or "")


def _sized(
    images: ImageGenerator,
    request: JobRequest,
    step: PictureStep,
    seed: int,
    sources: list[Source],
    size: str,
) -> Awaitable[Submission]:
    """Return the call of a step that makes a picture of a named size out of another."""
    width, height = ids.parse_aspect(size)
    named = step.prompt if isinstance(step, ExpandStep | FillStep) else None
    prompt = named and request.text(named.removeprefix("job."))
    source = sources[0]
    match step:
        case ExpandStep():
            return images.expand(
                ExpandRequest(source=source, seed=seed, width=width, height=height, prompt=prompt)
            )
        case FillStep():
            return images.fill(
                FillRequest(
                    source=source,
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
                    source=source, model=step.model, seed=seed, width=width, height=height
                )
            )
        case _:
            raise AssertionError(f"{step.kind} is no call of Firefly.")


def _generate(request: JobRequest, step: GenerateStep, seed: int) -> GenerateRequest:
    width, height = ids.parse_aspect(step.size)
    return GenerateRequest(
        prompt=request.text(step.prompt.removeprefix("job.")),
        model=step.model,
        width=width,
        height=height,
        seed=seed,
        locale=request.locale,
        content_class=step.content_class,
        custom_model=step.custom_model,
    )


def _generate_v4(
    request: JobRequest, step: GenerateV4Step, seed: int, sources: list[Source]
) -> GenerateV4Request:
    return GenerateV4Request(
        prompt=request.text(step.prompt.removeprefix("job.")),
        seed=seed,
        locale=request.locale,
        aspect_ratio=step.ratio,
        resolution=step.resolution,
        reasoner=step.reasoner,
        reference=sources[0] if sources else None,
    )
