"""Firefly's image generation, v3 asynchronous.

Belongs here: its path, header, body and limits. Does not: what all services share.
"""

import re
from typing import Final, Literal

from pydantic import BaseModel

from fireflyassets.adapters.adobe.service import AdobeService
from fireflyassets.core.failure import Family
from fireflyassets.core.recipe import Model
from fireflyassets.ports.images import GenerateRequest, ImageGenerator
from fireflyassets.ports.paid import Submission

_PATH: Final = "/v3/images/generate-async"
_PROMPT_LONGEST: Final = 1024
_IMAGE3: Final = frozenset(
    {
        (2048, 2048),
        (1024, 1024),
        (2304, 1792),
        (1792, 2304),
        (2688, 1536),
        (2688, 1512),
        (1344, 768),
        (1344, 756),
        (1152, 896),
        (896, 1152),
    }
)
_IMAGE4: Final = frozenset({(2048, 2048), (2304, 1792), (1792, 2304), (2688, 1536), (1440, 2560)})
SIZES: Final[dict[Model, frozenset[tuple[int, int]]]] = {
    Model.IMAGE3: _IMAGE3,
    Model.IMAGE3_CUSTOM: _IMAGE3,
    Model.IMAGE4_STANDARD: _IMAGE4,
    Model.IMAGE4_ULTRA: _IMAGE4,
    Model.IMAGE4_CUSTOM: _IMAGE4,
}
"""The pairs each model makes, by Adobe's specification of May 2026; others are refused there."""

_CUSTOM: Final = frozenset({Model.IMAGE3_CUSTOM, Model.IMAGE4_CUSTOM})
_LOCALE: Final = re.compile(r"([a-z]{2})(?:-[A-Z][a-z]{3})?-([A-Z]{2})")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Size(BaseModel):
    width: int
    height: int


class _GenerateBody(BaseModel):
    """The part of `GenerateImagesRequestV3` that we send. Model names in bodies are ignored."""

    prompt: str
    numVariations: Literal[1] = 1  # noqa: N815 - Adobe's name. One picture, one seed, one price.
    seeds: tuple[int]
    size: _Size
    contentClass: str | None = None  # noqa: N815
    promptBiasingLocaleCode: str | None = None  # noqa: N815


class FireflyImages(AdobeService, ImageGenerator):
    """Generates pictures with Firefly."""

    family: Family = Family.FIREFLY

    async def generate(self, request: GenerateRequest) -> Submission:
        """Send one generate; a request that Firefly would refuse is not sent."""
        if problems := check(request):
            return self._refuse(problems)
        # The header is always sent: what a missing one means differs from spec to server.
        headers = {"x-model-version": request.model.value}
        return await self._submit(_PATH, _body(request), headers=headers, hide=(request.prompt,))


def check(request: GenerateRequest) -> list[str]:
    """Return what Firefly would refuse in *request*, in sentences that never quote the prompt."""
    size = (request.width, request.height)
    legal = ", ".join(f"{width}x{height}" for width, height in sorted(SIZES[request.model]))
    rules = [
        (bool(request.prompt.strip()), "The prompt is empty."),
        (
            len(request.prompt) <= _PROMPT_LONGEST,
            f"The prompt has {len(request.prompt)} code points, more than {_PROMPT_LONGEST}.",
        ),
        (not _SURROGATE.search(request.prompt), "The prompt holds half of a surrogate pair."),
        (
            size in SIZES[request.model],
            f"{request.model} does not make {size[0]}x{size[1]}; use one of {legal}.",
        ),
        (request.model not in _CUSTOM, f"{request.model} needs the id of a custom model."),
        (request.content_class in {None, "photo", "art"}, "The content class is photo or art."),
        (request.seed >= 0, "The seed is negative."),
    ]
    return [sentence for holds, sentence in rules if not holds]


def _body(request: GenerateRequest) -> bytes:
    body = _GenerateBody(
        prompt=request.prompt,
        seeds=(request.seed,),
        size=_Size(width=request.width, height=request.height),
        contentClass=request.content_class,
        promptBiasingLocaleCode=_locale(request.locale),
    )
    return body.model_dump_json(exclude_none=True).encode()


def _locale(locale: str) -> str | None:
    """Return the form ``en-US`` of *locale*; None where it has no region or no such form."""
    found = _LOCALE.fullmatch(locale)
    return f"{found.group(1)}-{found.group(2)}" if found else None
