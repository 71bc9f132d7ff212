"""Recipes: the ordered steps that make a job's renditions, as data.

Belongs here: what a step may say and what a whole recipe must obey. Does not: how a step runs.
A campaign's YAML holds one recipe; the three common shapes are generate and compose, generate
only, and compose only. Between them, a picture may be made into another one any number of times.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core import ids
from fireflyassets.core.failure import Family

StepName = Annotated[str, StringConstraints(pattern=f"^{ids.STEP.pattern}$")]
Size = Annotated[str, StringConstraints(pattern=f"^{ids.ASPECT.pattern}$")]

JOB_TEXTS: Final = frozenset({"prompt", "headline", "locale"})
"""What ``job.<field>`` may name in a step's inputs."""


class OnFailure(StrEnum):
    """Where a job goes when the step fails for good and the failure's class does not insist."""

    REVIEW = "review"
    DLQ = "dlq"
    SKIP = "skip"
    HOLD = "hold"


class Model(StrEnum):
    """The ``x-model-version`` values of generate; ``image4`` alone is not one."""

    IMAGE3 = "image3"
    IMAGE3_CUSTOM = "image3_custom"
    IMAGE4_STANDARD = "image4_standard"
    IMAGE4_ULTRA = "image4_ultra"
    IMAGE4_CUSTOM = "image4_custom"


CUSTOM_MODELS: Final = frozenset({Model.IMAGE3_CUSTOM, Model.IMAGE4_CUSTOM})
"""Without the id of a custom model they are refused; with another model the id is ignored."""


class When(BaseModel):
    """A step runs only for jobs that match; a left-out field matches all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    locale: tuple[str, ...] | None = None

    def holds(self, *, locale: str) -> bool:
        """Say whether a job of *locale* takes the step."""
        return self.locale is None or locale in self.locale


FIREFLY_TIMEOUT: Final = timedelta(minutes=5)
PHOTOSHOP_TIMEOUT: Final = timedelta(minutes=20)
"""Photoshop works on a document for up to fifteen minutes."""


class _Step(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: StepName
    retry: int = Field(default=5, ge=1, le=5)
    """Tries: sends of this step that count; a 429 costs none."""
    timeout: timedelta = FIREFLY_TIMEOUT
    """How long the remote job may take from its submit to its end."""
    on_failure: OnFailure | None = None
    when: When | None = None
    family: ClassVar[Family] = Family.FIREFLY

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that this one is made from, in the order of its call."""
        return ()

    def takes(self) -> tuple[str, ...]:
        """Return the names of the steps whose pictures this one is made from."""
        return tuple(_named(source) for source in self.sources())


class GenerateStep(_Step):
    """Make one picture with Firefly from a text of the job."""

    kind: Literal["generate"]
    prompt: str = "job.prompt"
    model: Model = Model.IMAGE3
    size: Size = "2048x2048"
    content_class: Literal["photo", "art"] | None = None
    custom_model: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,256}$")] | None = None
    """Asset id of a custom model; with ``image3_custom`` or ``image4_custom``, by its base."""

    @model_validator(mode="after")
    def _pair(self) -> Self:
        if (self.model in CUSTOM_MODELS) != (self.custom_model is not None):
            raise ValueError(
                f"step {self.name!r}: {self.model} and custom_model {self.custom_model!r} do not "
                "belong together; name a custom model with, and only with, a `_custom` model"
            )
        return self


class _EditStep(_Step):
    """Makes one picture out of another."""

    picture: str
    """``<step>.picture`` of an earlier step."""

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that this one is made from."""
        return (self.picture,)


class ExpandStep(_EditStep):
    """Continue a picture beyond its edges with Firefly."""

    kind: Literal["expand"]
    size: Size
    prompt: str | None = None


class FillStep(_EditStep):
    """Paint a picture anew with Firefly where a mask is white."""

    kind: Literal["fill"]
    mask: str
    """``<step>.picture`` of an earlier step, such as a cut-out's mask."""
    size: Size
    prompt: str | None = None

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that this one is made from, then its mask."""
        return (self.picture, self.mask)


class SimilarStep(_EditStep):
    """Make a picture like another one with Firefly."""

    kind: Literal["similar"]
    model: Literal[Model.IMAGE3, Model.IMAGE4_STANDARD, Model.IMAGE4_ULTRA] = Model.IMAGE3
    size: Size


class UpscaleStep(_EditStep):
    """Give a picture more pixels with Firefly: *factor* times as many in each direction."""

    kind: Literal["upscale"]
    factor: Literal[2, 3, 4, 6] = 2


class RemoveBackgroundStep(_EditStep):
    """Cut out what a picture shows, or make the mask that would, with Photoshop."""

    kind: Literal["remove-background"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    mode: Literal["cutout", "mask"] = "cutout"
    family: ClassVar[Family] = Family.PHOTOSHOP


class AdjustStep(_EditStep):
    """Adjust light and tone of a picture with Photoshop."""

    kind: Literal["edit"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    auto_tone: bool = False
    exposure: Decimal | None = Field(default=None, ge=-5, le=5)
    contrast: int | None = Field(default=None, ge=-100, le=100)
    family: ClassVar[Family] = Family.PHOTOSHOP


class ComposeStep(_Step):
    """Fill the template's layers with Photoshop, once for each of the job's aspects."""

    kind: Literal["compose"]
    timeout: timedelta = PHOTOSHOP_TIMEOUT
    inputs: dict[str, str] = Field(min_length=1)
    """Layer name -> ``job.<text>`` for a text layer, ``<step>.picture`` for a smart object."""
    family: ClassVar[Family] = Family.PHOTOSHOP

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that go into the layers."""
        return tuple(one for one in self.inputs.values() if one.endswith(".picture"))

    def picture_layers(self) -> dict[str, str]:
        """Return layer name -> name of the step whose picture goes into it."""
        return {
            layer: _named(source)
            for layer, source in self.inputs.items()
            if source.endswith(".picture")
        }

    def text_layers(self) -> dict[str, str]:
        """Return layer name -> field of the job whose text goes into it."""
        return {
            layer: source.removeprefix("job.")
            for layer, source in self.inputs.items()
            if source.startswith("job.")
        }


PictureStep = (
    GenerateStep
    | ExpandStep
    | FillStep
    | SimilarStep
    | UpscaleStep
    | RemoveBackgroundStep
    | AdjustStep
)
"""A step that makes one picture, whatever the aspects."""
Step = Annotated[PictureStep | ComposeStep, Field(discriminator="kind")]


class Recipe(BaseModel):
    """An ordered list of steps. A step may use only pictures of steps before it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Step, ...] = Field(min_length=1, max_length=25)

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        faults = [*_name_faults(self.steps), *_input_faults(self.steps)]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def composes(self) -> bool:
        """Say whether the last word belongs to Photoshop."""
        return any(isinstance(step, ComposeStep) for step in self.steps)

    def pictures(self) -> tuple[PictureStep, ...]:
        """Return the steps that make one picture each, in order."""
        return tuple(step for step in self.steps if not isinstance(step, ComposeStep))

    def sizes(self) -> dict[str, Size]:
        """Return step -> size of its picture."""
        sizes: dict[str, Size] = {}
        for step in self.pictures():
            match step:
                case UpscaleStep(factor=factor):
                    width, height = ids.parse_aspect(sizes[step.takes()[0]])
                    sizes[step.name] = f"{width * factor}x{height * factor}"
                case RemoveBackgroundStep() | AdjustStep():
                    sizes[step.name] = sizes[step.takes()[0]]
                case _:
                    sizes[step.name] = step.size
        return sizes

    def compositions(self) -> tuple[ComposeStep, ...]:
        """Return the compose steps in order."""
        return tuple(step for step in self.steps if isinstance(step, ComposeStep))


def calls_per_job(recipe: Recipe, *, aspects: int) -> dict[Family, int]:
    """Return API family -> paid calls that one job makes when each succeeds at once."""
    calls = Counter[Family]()
    for step in recipe.steps:
        calls[step.family] += aspects if isinstance(step, ComposeStep) else 1
    return dict(calls)


def _named(source: str) -> str:
    """Return the step that ``<step>.picture`` names."""
    return source.removesuffix(".picture")


def _name_faults(steps: tuple[Step, ...]) -> Iterator[str]:
    names = [step.name for step in steps]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two steps are named {name!r}: give each its own name"
    if sum(isinstance(step, ComposeStep) for step in steps) > 1:
        yield "only one compose step is supported: name all layers in it"


def _input_faults(steps: tuple[Step, ...]) -> Iterator[str]:
    pictures: set[str] = set()
    for step in steps:
        if isinstance(step, ComposeStep):
            yield from _layer_faults(step, pictures)
            continue
        prompt = step.prompt if isinstance(step, GenerateStep | ExpandStep | FillStep) else None
        if prompt is not None and prompt.removeprefix("job.") not in JOB_TEXTS:
            yield f"step {step.name!r}: prompt must be job.<{'|'.join(sorted(JOB_TEXTS))}>"
        for source in step.sources():
            if not source.endswith(".picture") or _named(source) not in pictures:
                yield f"step {step.name!r}: {source!r} is not <step>.picture of an earlier step"
        pictures.add(step.name)


def _layer_faults(step: ComposeStep, pictures: set[str]) -> Iterator[str]:
    for layer, source in step.inputs.items():
        if source.startswith("job.") and source.removeprefix("job.") in JOB_TEXTS:
            continue
        if source.endswith(".picture") and _named(source) in pictures:
            continue
        yield (
            f"step {step.name!r}, layer {layer!r}: {source!r} is neither job.<text> nor "
            f"<step>.picture of an earlier step"
        )
