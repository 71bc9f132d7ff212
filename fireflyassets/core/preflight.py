"""Preflight: what a campaign must obey beyond its shape, found before a job is accepted.

Belongs here: rules over the whole configuration that would else show as refusals of a vendor, one
paid job at a time. Does not: templates (``core/template.py``), files, credentials.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.money import RateCard
from fireflyassets.core.photoshop_step import (
    ActionsStep,
    ArtboardStep,
    ComposeStep,
    RemoveBackgroundStep,
    Step,
)
from fireflyassets.core.recipe_step import (
    REFERENCE,
    ExpandStep,
    FillStep,
    GenerateStep,
    GenerateV4Step,
    Model,
    SimilarStep,
    UpscaleStep,
)

_IMAGE3: Final = frozenset(
    {
        "2048x2048",
        "1024x1024",
        "2304x1792",
        "1792x2304",
        "2688x1536",
        "2688x1512",
        "1344x768",
        "1344x756",
        "1152x896",
        "896x1152",
    }
)
_IMAGE4: Final = frozenset({"2048x2048", "2304x1792", "1792x2304", "2688x1536", "1440x2560"})
SIZES: Final[dict[Model, frozenset[str]]] = {
    Model.IMAGE3: _IMAGE3,
    Model.IMAGE3_CUSTOM: _IMAGE3,
    Model.IMAGE4_STANDARD: _IMAGE4,
    Model.IMAGE4_ULTRA: _IMAGE4,
    Model.IMAGE4_CUSTOM: _IMAGE4,
}
"""The only sizes each model makes, by Adobe's guide of 2026-05; any other answers 400."""

FILL_SIZES: Final = _IMAGE3 - {"2688x1512", "1344x756"}
"""For fill and similar."""
EXPAND_LONGEST: Final = 3999
CUT_OUT_LONGEST: Final = 6000
"""Of a picture that remove-background takes."""
PHOTOSHOP_LONGEST: Final = 32_000
PIXEL_LIMIT: Final = 80_000_000
"""Above it a picture is taken for a size bomb and not decoded: it would be paid and of no use."""
REFERENCE_PIXELS: Final = 40_000_000
"""Of a picture that comes with a job: it is decoded at the door, one at a time, and the deepest
kinds take a dozen bytes a pixel while they are made plain."""
REFERENCE_BYTES: Final = 10_000_000
REFERENCE_AREA: Final = (512**2, 2048**2)
REFERENCE_RATIO: Final = 5
"""Of a reference of version 4: bytes, least and most pixels, and how long to how short."""
UPSCALE_LONGEST: Final = 6000
"""By the guide, results end near 6,000 pixels: a larger one would be paid and not be what was
asked."""


def faults(config: CampaignConfig, cards: tuple[RateCard, ...]) -> Iterator[str]:
    """Yield what is wrong, each with what to do; without any rate card prices are not judged."""
    for name in ("locales", "aspects"):
        values: tuple[str, ...] = getattr(config, name)
        for value in sorted({value for value in values if values.count(value) > 1}):
            yield f"{name}: {value} stands twice; name it once"
    sizes = config.recipe.sizes()
    for step in config.recipe.pictures():
        size = sizes[step.name]
        if size is not None and (fault := _size_fault(step, size)):
            yield f"step {step.name!r}: {fault}"
        if isinstance(step, GenerateV4Step) and (fault := _reference_fault(step, sizes)):
            yield f"step {step.name!r}: {fault}"
    yield from _locale_faults(config)
    for step in config.recipe.steps:
        if cards and not any(_prices(card, step) for card in cards):
            yield f"step {step.name!r}: no rate card prices it; add the price under rates/"


def _size_fault(step: Step, size: str) -> str | None:
    longest = max(ids.parse_aspect(size))
    match step:
        case GenerateStep() if size not in (made := SIZES[step.model]):
            return f"{step.model} does not make {size}; use one of {', '.join(sorted(made))}"
        case FillStep() | SimilarStep() if size not in FILL_SIZES:
            known = ", ".join(sorted(FILL_SIZES))
            return f"{step.kind} does not make {size}; use one of {known}"
        case ExpandStep() if longest > EXPAND_LONGEST:
            return f"expand does not make {size}; give sides of at most {EXPAND_LONGEST}"
        case UpscaleStep() if longest > UPSCALE_LONGEST:
            return f"its picture would have {size} pixels, over {UPSCALE_LONGEST}; scale it less"
        case _:
            return _photoshop_fault(step, size)


def _photoshop_fault(step: Step, size: str) -> str | None:
    width, height = ids.parse_aspect(size)
    if isinstance(step, RemoveBackgroundStep) and max(width, height) > CUT_OUT_LONGEST:
        return f"it takes no picture of {size}; give sides of at most {CUT_OUT_LONGEST}"
    if not isinstance(step, ActionsStep | ArtboardStep):
        return None
    if max(width, height) > PHOTOSHOP_LONGEST:
        return f"Photoshop makes no {size}; give sides of at most {PHOTOSHOP_LONGEST}"
    if width * height > PIXEL_LIMIT:
        return f"{size} are more than the {PIXEL_LIMIT} pixels that we look at; make it smaller"
    return None


def _reference_fault(step: GenerateV4Step, sizes: Mapping[str, str | None]) -> str | None:
    names = (name for names in step.takes() for name in names)
    known = [size for name in names if (size := sizes[name]) is not None]
    told = (reference_fault(*ids.parse_aspect(size)) for size in known)
    return next((fault for fault in told if fault), None)


def reference_fault(width: int, height: int, size_bytes: int = 0) -> str | None:
    """Return why a picture can't be a reference of version 4, and what to do; None where it can."""
    least, most = REFERENCE_AREA
    if not least <= width * height <= most:
        return (
            f"a reference has between 512x512 and 2048x2048 pixels in all, not {width}x{height}; "
            "take a picture of another size"
        )
    if max(width, height) > REFERENCE_RATIO * min(width, height):
        return (
            f"a reference is at most 5 times as long as it is short, not {width}x{height}; crop it"
        )
    if size_bytes > REFERENCE_BYTES:
        return f"a reference has at most {REFERENCE_BYTES} bytes, not {size_bytes}; scale it down"
    return None


def _locale_faults(config: CampaignConfig) -> Iterator[str]:
    """Yield the locales for which a step that is needed does not run."""
    for locale in config.locales:
        active = [step for step in config.recipe.steps if _runs(step, locale)]
        names = {REFERENCE, *(step.name for step in active)}
        last = config.recipe.last
        if last not in active:
            which = "compose" if isinstance(last, ComposeStep) else "last"
            yield f"locale {locale}: the {which} step does not run for it; widen its `when`"
        for step in active:
            for pictures in sorted({one for one in step.takes() if names.isdisjoint(one)}):
                yield (
                    f"locale {locale}: step {step.name!r} needs the picture of {pictures[0]!r}, "
                    f"which does not run for it; widen its `when`"
                )


def _runs(step: Step, locale: str) -> bool:
    return step.when is None or step.when.holds(locale=locale)


def _prices(card: RateCard, step: Step) -> bool:
    try:
        card.price(step)
    except KeyError:
        return False
    return True
