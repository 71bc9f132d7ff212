"""Preflight: what a campaign must obey beyond its shape, found before a job is accepted.

Belongs here: rules over the whole configuration that would else show as refusals of a vendor, one
paid job at a time. Does not: templates (``core/template.py``), files, credentials.
"""

from collections.abc import Iterator
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.money import RateCard
from fireflyassets.core.recipe import (
    ComposeStep,
    ExpandStep,
    FillStep,
    GenerateStep,
    Model,
    SimilarStep,
    Step,
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
        if fault := _size_fault(step, sizes[step.name]):
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
            return None


def _locale_faults(config: CampaignConfig) -> Iterator[str]:
    """Yield the locales for which a step that is needed does not run."""
    for locale in config.locales:
        active = [step for step in config.recipe.steps if _runs(step, locale)]
        names = {step.name for step in active}
        if not config.recipe.composes and config.recipe.steps[-1] not in active:
            yield f"locale {locale}: the last step does not run for it; widen its `when`"
        if config.recipe.composes and not any(isinstance(step, ComposeStep) for step in active):
            yield f"locale {locale}: the compose step does not run for it; widen its `when`"
        for step in active:
            for picture in sorted(set(step.takes()) - names):
                yield (
                    f"locale {locale}: step {step.name!r} needs the picture of {picture!r}, which "
                    f"does not run for it; widen its `when`"
                )


def _runs(step: Step, locale: str) -> bool:
    return step.when is None or step.when.holds(locale=locale)


def _prices(card: RateCard, step: Step) -> bool:
    try:
        card.price(step)
    except KeyError:
        return False
    return True
