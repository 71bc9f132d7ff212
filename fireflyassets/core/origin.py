"""Where a rendition comes from: which of its pictures were generated, and by what.

Belongs here: the one answer that tags, disclosure and sidecar rest on. Does not: any of these.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fireflyassets.core.disclosure import SourceType
from fireflyassets.core.failure import Family
from fireflyassets.core.job import StepResult
from fireflyassets.core.photoshop_step import ManifestStep, Step
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import REFERENCE, GenerateStep, UpscaleStep


@dataclass(frozen=True, slots=True)
class Origin:
    """What went into the renditions of a job."""

    model: str | None
    """The header that was sent for the first picture that one has made; None: none was sent."""
    custom_model: str | None
    source: SourceType | None
    originals: tuple[StepResult, ...]
    """Its pictures as they came, which are kept untouched, in the recipe's order."""


def origin_of(recipe: Recipe, pictures: Iterable[StepResult]) -> Origin:
    """Return the origin of a job's renditions by its pictures: results that are of no one aspect.

    What is made of a composite is Photoshop's alone, and nothing in it is new.
    """
    made = {one.step: one for one in pictures}
    steps = [step for step in recipe.pictures() if step.name in made]
    painting = [step for step in steps if _paints(step)]
    custom = (step.custom_model for step in painting if isinstance(step, GenerateStep))
    originals = tuple(made[step.name] for step in steps if not isinstance(step, ManifestStep))
    return Origin(
        model=model_of(originals),
        custom_model=next(filter(None, custom), None),
        source=_source(recipe) if painting else None,
        originals=originals,
    )


def model_of(results: Iterable[StepResult]) -> str | None:
    """Return the model of the first picture that one has made; None where none has."""
    return next((one.model for one in results if one.model), None)


def _paints(step: Step) -> bool:
    """Say whether a step's picture shows what a model has made up."""
    return step.family is Family.FIREFLY and not isinstance(step, UpscaleStep)


def _source(recipe: Recipe) -> SourceType:
    """Return the source type of what is painted: alone, or into something that is not."""
    takes_reference = any(REFERENCE in names for step in recipe.steps for names in step.takes())
    return SourceType.COMPOSITE if recipe.composes or takes_reference else SourceType.GENERATED
