"""Preflight: what a campaign must obey beyond its shape, found before a job is accepted.

Belongs here: rules over the whole configuration that would else show as refusals of a vendor, one
paid job at a time. Does not: templates (``core/template.py``), files, credentials.
"""

from collections.abc import Iterator
from typing import Final

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.money import RateCard
from fireflyassets.core.recipe import ComposeStep, GenerateStep, Model, Step

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


def faults(config: CampaignConfig, cards: tuple[RateCard, ...]) -> Iterator[str]:
    """Yield what is wrong, each with what to do; without any rate card prices are not judged."""
    for name in ("locales", "aspects"):
        values: tuple[str, ...] = getattr(config, name)
        for value in sorted({value for value in values if values.count(value) > 1}):
            yield f"{name}: {value} stands twice; name it once"
    for step in config.recipe.generates():
        yield from _size_faults(step)
    yield from _locale_faults(config)
    for step in config.recipe.steps:
        if cards and not any(_prices(card, step) for card in cards):
            yield f"step {step.name!r}: no rate card prices it; add the price under rates/"


def _size_faults(step: GenerateStep) -> Iterator[str]:
    if step.size not in SIZES[step.model]:
        known = ", ".join(sorted(SIZES[step.model]))
        yield f"step {step.name!r}: {step.model} does not make {step.size}; use one of {known}"


def _locale_faults(config: CampaignConfig) -> Iterator[str]:
    """Yield the locales for which a step that is needed does not run."""
    for locale in config.locales:
        active = [step for step in config.recipe.steps if _runs(step, locale)]
        names = {step.name for step in active}
        if not config.recipe.composes and not active:
            yield f"locale {locale}: no step runs for it; widen a step's `when`"
        if config.recipe.composes and not any(isinstance(step, ComposeStep) for step in active):
            yield f"locale {locale}: the compose step does not run for it; widen its `when`"
        for step in active:
            pictures = step.picture_layers().values() if isinstance(step, ComposeStep) else ()
            for picture in sorted(set(pictures) - names):
                yield (
                    f"locale {locale}: step {step.name!r} needs the picture of {picture!r}, which "
                    f"does not run for it; widen its `when`"
                )


def _runs(step: Step, locale: str) -> bool:
    return step.when is None or step.when.holds(locale=locale)


def _prices(card: RateCard, step: Step) -> bool:
    return isinstance(step, ComposeStep) or step.model in card.generate
