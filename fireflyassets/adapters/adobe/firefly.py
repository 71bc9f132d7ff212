"""Firefly's calls: v3 asynchronous, and v4 generate where a setting allows it.

Belongs here: paths, headers, and our words turned into bodies. Does not: the bodies' rules
(``firefly_bodies.py``), what all services share (``service.py``). The retired synchronous calls
of v3 are not here.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from fireflyassets.adapters.adobe import cancelling
from fireflyassets.adapters.adobe.bodies import Body, made
from fireflyassets.adapters.adobe.firefly_bodies import (
    ExpandBody,
    FillBody,
    GenerateBody,
    GenerateV4Body,
    SimilarBody,
    UpscaleBody,
)
from fireflyassets.adapters.adobe.firefly_parts import locale_code, seeds_of
from fireflyassets.adapters.adobe.service import AdobeService, ServiceParts
from fireflyassets.core.failure import Family
from fireflyassets.core.recipe_step import V4_MODEL
from fireflyassets.core.request import Problem
from fireflyassets.ports.images import (
    CancelAnswer,
    ExpandRequest,
    FillRequest,
    GenerateRequest,
    GenerateV4Request,
    ImageGenerator,
    Mask,
    Placement,
    SimilarRequest,
    Source,
    Structure,
    Style,
    Uploaded,
    UpscaleRequest,
)
from fireflyassets.ports.paid import PollFailed, Submission

_V4_OFF: Final = Problem(
    "version",
    "v4-off",
    "Version 4 of generate is switched off.",
    "Set FIREFLYASSETS_FIREFLY_V4, or use version 3.",
)
UPSCALER: Final = "precise_upsampler_v1"


class FireflyImages(AdobeService, ImageGenerator):
    """Makes pictures with Firefly."""

    family: Family = Family.FIREFLY

    def __init__(self, parts: ServiceParts, *, base_url: str, v4: bool = False) -> None:
        """Take the shared parts, and whether v4 may be used.

        Raises:
            UnusableConfiguration: *base_url* is not a URL.
        """
        super().__init__(parts, base_url=base_url)
        self._v4 = v4

    async def generate(self, request: GenerateRequest) -> Submission:
        """Send one generate."""
        body = made(GenerateBody, generate_fields(request))
        return await self._send("generate-async", body, request.model, request.prompt)

    async def generate_v4(self, request: GenerateV4Request) -> Submission:
        """Send one generate of version 4, if the setting allows it."""
        body = made(GenerateV4Body, _v4_fields(request))
        if not self._v4:
            body = (_V4_OFF,)
        if not isinstance(body, GenerateV4Body):
            return self._refuse(body)
        headers = {"x-model-version": V4_MODEL}
        content = body.wire()
        return await self._submit(
            "/v4/images/generate-async", content, headers=headers, hide=(request.prompt,)
        )

    async def expand(self, request: ExpandRequest) -> Submission:
        """Send one expand."""
        fields = {
            **_varied(request.seeds, request.width, request.height),
            "image": _image(request.source),
            "mask": _mask(request.mask),
            "placement": _placement(request.placement),
            "prompt": request.prompt,
        }
        body = made(ExpandBody, fields)
        return await self._send("expand-async", body, None, request.prompt)

    async def fill(self, request: FillRequest) -> Submission:
        """Send one fill."""
        fields = {
            **_varied(request.seeds, request.width, request.height),
            "image": _image(request.source),
            "mask": _mask(request.mask),
            "prompt": request.prompt,
            "negative_prompt": request.negative_prompt,
            "prompt_biasing_locale_code": locale_code(request.locale),
        }
        hide = (request.prompt, request.negative_prompt)
        return await self._send("fill-async", made(FillBody, fields), None, *hide)

    async def similar(self, request: SimilarRequest) -> Submission:
        """Send one generate-similar."""
        fields = {
            **_varied(request.seeds, request.width, request.height),
            "image": _image(request.source),
            "model": request.model,
        }
        body = made(SimilarBody, fields)
        return await self._send("generate-similar-async", body, request.model)

    async def upscale(self, request: UpscaleRequest) -> Submission:
        """Send one upscale."""
        fields: dict[str, object] = {
            "image": _image(request.source),
            "seeds": request.seeds,
            "upscale_factor": request.factor,
        }
        return await self._send("upscale", made(UpscaleBody, fields), UPSCALER)

    async def cancel(self, cancel_url: str) -> CancelAnswer | PollFailed:
        """Ask for the end of a job."""
        return await cancelling.cancel(self._wire, cancel_url, family=self.family)

    async def _send(
        self, path: str, body: Body | tuple[Problem, ...], model: str | None, *hide: str | None
    ) -> Submission:
        if not isinstance(body, Body):
            return self._refuse(body)
        # The header is always sent: what a missing one means differs from spec to server.
        headers = {} if model is None else {"x-model-version": str(model)}
        texts = [text for text in hide if text]
        return await self._submit(f"/v3/images/{path}", body.wire(), headers=headers, hide=texts)


def generate_fields(request: GenerateRequest) -> dict[str, object]:
    """Return a generate's fields, to be made into a body."""
    return {
        **_varied(request.seeds, request.width, request.height),
        "model": request.model,
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt,
        "content_class": request.content_class,
        "custom_model_id": request.custom_model,
        "prompt_biasing_locale_code": locale_code(request.locale),
        "style": _style(request.style),
        "structure": _structure(request.structure),
        "upsampler_type": request.upsampler,
        "visual_intensity": request.visual_intensity,
    }


def _v4_fields(request: GenerateV4Request) -> dict[str, object]:
    blob = {"source": _source(request.reference)} if request.reference else None
    return {
        "prompt": request.prompt,
        "aspect_ratio": request.aspect_ratio,
        "resolution_level": request.resolution,
        "model_specific_payload": {
            "locale_code": locale_code(request.locale),
            "prompt_reasoner": request.reasoner,
        },
        "seeds": (request.seed,),
        "reference_blobs": None if blob is None else (blob,),
    }


def _varied(seeds: tuple[int, ...], width: int, height: int) -> dict[str, object]:
    return {**seeds_of(seeds), "size": {"width": width, "height": height}}


def _style(style: Style | None) -> Mapping[str, object] | None:
    if style is None:
        return None
    return {
        "presets": style.presets or None,
        "image_reference": None if style.reference is None else _image(style.reference),
        "strength": style.strength,
    }


def _structure(structure: Structure | None) -> Mapping[str, object] | None:
    if structure is None:
        return None
    return {"image_reference": _image(structure.reference), "strength": structure.strength}


def _mask(mask: Mask | None) -> Mapping[str, object] | None:
    if mask is None:
        return None
    return {**_image(mask.source), "invert": mask.invert or None}


def _placement(placement: Placement | None) -> Mapping[str, object] | None:
    if placement is None:
        return None
    said = asdict(placement)
    alignment = {name: said.pop(name) for name in ("horizontal", "vertical")}
    insets = {side: pixels for side, pixels in said.items() if pixels is not None}
    return {"alignment": alignment, "inset": insets or None}


def _image(source: Source) -> dict[str, object]:
    return {"source": _source(source)}


def _source(source: Source) -> dict[str, object]:
    if isinstance(source, Uploaded):
        return {"upload_id": source.upload_id}
    return {"url": source.url}
