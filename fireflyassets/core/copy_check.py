"""Copy check: whether a job's texts can be set into the layers that its recipe fills.

Belongs here: which text goes into which layer of which aspect, and the problems in the words of
whoever wrote it. Does not: how a text is set (``core/typesetting.py``), any other rule of a
request (``core/request.py``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fireflyassets.core import typesetting
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.request import Problem
from fireflyassets.core.typesetting import Misfit, Setting


def setting(campaign: Campaign, aspect: str, layer: str, words: str, locale: str) -> Setting:
    """Return how a text is set; as it is written where it does not fit or nothing is known."""
    told = _fit(campaign, aspect, layer, words, locale)
    return told if isinstance(told, Setting) else Setting(words)


def problems(
    campaign: Campaign, texts: Mapping[str, str], locale: str, aspects: Iterable[str]
) -> tuple[Problem, ...]:
    """Return what is wrong with *texts* (field of a job -> words) in any of *aspects*.

    A fault that is the same in several aspects is told once, and names them all.
    """
    places: dict[Problem, list[str]] = {}
    for aspect in aspects:
        for problem, layer in _of_aspect(campaign, aspect, texts, locale):
            places.setdefault(problem, []).append(f"{layer!r} of {aspect}")
    return tuple(
        replace(one, message=f"{one.field} can't be set in {', '.join(there)}: {one.message}.")
        for one, there in places.items()
    )


def _of_aspect(
    campaign: Campaign, aspect: str, texts: Mapping[str, str], locale: str
) -> Iterator[tuple[Problem, str]]:
    for step in _steps(campaign, locale):
        for layer, field in step.text_layers().items():
            told = _fit(campaign, aspect, layer, texts[field], locale)
            if isinstance(told, Misfit):
                yield Problem(field, told.rule, told.what, told.fix), layer


def _steps(campaign: Campaign, locale: str) -> Iterator[ComposeStep]:
    for step in campaign.config.recipe.compositions():
        if step.when is None or step.when.holds(locale=locale):
            yield step


def _fit(campaign: Campaign, aspect: str, layer: str, words: str, locale: str) -> Setting | Misfit:
    frame = campaign.frames.get(aspect, {}).get(layer)
    if frame is None:
        return Setting(words)
    return typesetting.fit(words, frame, locale, campaign.fonts)
