"""Where renditions come from, as tags and disclosure tell it."""

from decimal import Decimal

from fireflyassets.core.disclosure import SourceType
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.origin import origin_of
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import (
    FillStep,
    GenerateStep,
    Model,
    UpscaleStep,
)

ART = GenerateStep(name="art", kind="generate", prompt="job.prompt", size="2048x2048")
LAYOUT = ComposeStep(name="layout", kind="compose", inputs={"Hero": "art.picture"})


def made(step: str, *, model: str | None = None) -> StepResult:
    picture = Picture(f"originals/{step}.jpg", "0" * 64, "image/jpeg", 8, 8, 99)
    return StepResult("job", step, 1, 1, picture, Decimal(1), model=model)


def test_only_generated() -> None:
    origin = origin_of(Recipe(steps=(ART,)), [made("art", model="image3")])

    assert (origin.source, origin.model) == (SourceType.GENERATED, "image3")


def test_composed_with_what_was_generated() -> None:
    origin = origin_of(Recipe(steps=(ART, LAYOUT)), [made("art", model="image3")])

    assert origin.source is SourceType.COMPOSITE
    assert [one.step for one in origin.originals] == ["art"]


def test_composed_alone() -> None:
    """Where the step that generates was skipped, nothing is disclosed as generated."""
    origin = origin_of(Recipe(steps=(ART, LAYOUT)), [])

    assert (origin.source, origin.model) == (None, None)


def test_a_customer_s_picture_that_is_painted_on_is_a_composite() -> None:
    """A picture that came with the job is no trained media, even without a template."""
    fill = FillStep(
        name="fill",
        kind="fill",
        picture="reference.picture",
        mask="reference.picture",
        prompt="job.prompt",
        size="1024x1024",
    )

    assert origin_of(Recipe(steps=(fill,)), [made("fill")]).source is SourceType.COMPOSITE


def test_an_enlarged_picture_is_not_generated() -> None:
    larger = UpscaleStep(name="larger", kind="upscale", picture="reference.picture", factor=2)

    assert origin_of(Recipe(steps=(larger,)), [made("larger")]).source is None


def test_a_custom_model_is_named() -> None:
    """Its id is told as the recipe has it; tags make it legal."""
    own = ART.model_copy(
        update={"model": Model.IMAGE3_CUSTOM, "custom_model": "urn:aaid:sc:EU:1{a}"}
    )
    origin = origin_of(Recipe(steps=(own,)), [made("art", model="image3_custom")])

    assert origin.custom_model == "urn:aaid:sc:EU:1{a}"
