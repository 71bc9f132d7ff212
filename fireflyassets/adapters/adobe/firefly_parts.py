"""What Firefly's request bodies are made of, with the limits of its specification of May 2026.

Belongs here: sources, seeds, sizes, prompts. Does not: whole bodies (``firefly_bodies.py``).
Prompts are counted in code points.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Final, Self, cast

from pydantic import AfterValidator, Field, model_validator

from fireflyassets.adapters.adobe.bodies import Body, broken
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.core import ids
from fireflyassets.core.preflight import FILL_SIZES as FILL_SIZE_NAMES
from fireflyassets.core.preflight import SIZES as SIZE_NAMES
from fireflyassets.core.recipe_step import Model

SIZES: Final[dict[Model, frozenset[tuple[int, int]]]] = {
    model: frozenset(ids.parse_aspect(name) for name in names)
    for model, names in SIZE_NAMES.items()
}
"""The pairs each model makes; others are refused there."""
FILL_SIZES: Final = frozenset(ids.parse_aspect(name) for name in FILL_SIZE_NAMES)
"""For fill and similar."""
URL_LONGEST: Final = 2083
SIMILAR_MODELS: Final = frozenset({Model.IMAGE3, Model.IMAGE4_STANDARD, Model.IMAGE4_ULTRA})
INPUT_DOMAINS: Final = ("amazonaws.com", "windows.net", "dropboxusercontent.com")
"""Where the service fetches inputs from. Google's storage is in the specification, and was
refused when clients tried it in August 2026."""
_LOCALE: Final = re.compile(r"([a-z]{2})(?:-[A-Z][a-z]{3})?-([A-Z]{2})")


def locale_code(locale: str) -> str | None:
    """Return the form ``en-US`` of *locale*; None where it has no region or no such form."""
    found = _LOCALE.fullmatch(locale)
    return f"{found.group(1)}-{found.group(2)}" if found else None


def written(text: str) -> str:
    """Refuse a prompt without any letter."""
    if not text.strip():
        raise broken("empty", "The prompt is empty.", "Write what the picture shows.")
    return text


def whole(seeds: tuple[int, ...]) -> tuple[int, ...]:
    """Refuse negative seeds."""
    if any(seed < 0 for seed in seeds):
        raise broken("seed", "A seed is negative.", "Give seeds of 0 or more.")
    return seeds


def _unique(items: tuple[int, ...] | tuple[str, ...]) -> tuple[int, ...] | tuple[str, ...]:
    if len(set(items)) != len(items):
        raise broken("unique", "The list names something twice.", "Name each once.")
    return items


def may_fetch(url: str) -> bool:
    """Say whether the service takes inputs from *url*; a simulator on loopback is near enough."""
    address = parse_address(url)
    if address is None:
        return False
    if address.scheme != "https":
        return address.is_loopback
    names = (
        address.host == domain or address.host.endswith(f".{domain}") for domain in INPUT_DOMAINS
    )
    return any(names) or address.is_loopback


def _reachable(url: str) -> str:
    if not may_fetch(url):
        domains = ", ".join(INPUT_DOMAINS)
        raise broken(
            "input-domain",
            "The input URL is not HTTPS on a host that Firefly fetches from.",
            f"Keep it on one of {domains}, or upload it first.",
        )
    if len(url) > URL_LONGEST:
        raise broken(
            "url-length",
            f"The input URL has {len(url)} characters, more than {URL_LONGEST}.",
            "Upload it first: URLs signed with session credentials are that long.",
        )
    return url


Prompt = Annotated[str, Field(max_length=1024), AfterValidator(written)]
NegativePrompt = Annotated[str, Field(max_length=1024)]
Seeds = Annotated[
    tuple[int, ...],
    Field(min_length=1, max_length=4),
    AfterValidator(whole),
    AfterValidator(_unique),
]


class SourceBody(Body):
    """Where an input comes from: exactly one of the two."""

    upload_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_.:-]{1,200}$")] | None = None
    url: Annotated[str, AfterValidator(_reachable)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.upload_id is None) == (self.url is None):
            raise broken("source", "A source is an upload id or a URL.", "Give exactly one.")
        return self


class ImageBody(Body):
    """A picture with its source."""

    source: SourceBody


class MaskBody(Body):
    """A mask; white is painted."""

    source: SourceBody
    invert: bool | None = None


class SizeBody(Body):
    """Width and height in pixels."""

    width: int
    height: int


class StyleBody(Body):
    """Presets and a style reference."""

    presets: Annotated[tuple[str, ...], AfterValidator(_unique)] | None = None
    image_reference: ImageBody | None = None
    strength: Annotated[int, Field(ge=1, le=100)] | None = None


class StructureBody(Body):
    """A structure reference."""

    image_reference: ImageBody
    strength: Annotated[int, Field(ge=0, le=100)] | None = None


class VariedBody(Body):
    """What every v3 call that makes variations sends; both counts, which must agree."""

    num_variations: Annotated[int, Field(ge=1, le=4)]
    seeds: Seeds
    size: SizeBody

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if len(self.seeds) != self.num_variations:
            raise broken(
                "variations",
                f"{len(self.seeds)} seeds for {self.num_variations} variations.",
                "Give one seed for each variation.",
                field="numVariations",
            )
        return self


def must_be_among(size: SizeBody, legal: Iterable[tuple[int, int]], *, what: str) -> None:
    """Refuse a size off the list, which the service answers with 400."""
    pairs = sorted(legal)
    if (size.width, size.height) not in pairs:
        names = ", ".join(f"{width}x{height}" for width, height in pairs)
        raise broken(
            "size",
            f"{what} does not make {size.width}x{size.height}.",
            f"Use one of {names}.",
            field="size",
        )


def seeds_of(seeds: tuple[int, ...]) -> dict[str, object]:
    """Return both fields that count the outputs."""
    return {"num_variations": len(seeds), "seeds": cast("object", seeds)}
