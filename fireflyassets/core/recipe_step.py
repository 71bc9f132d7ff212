"""Steps: what all kinds of step share, and what each of Firefly's may say, as data.

Belongs here: one class per kind with its own rules. Does not: Photoshop's kinds
(``photoshop_step.py``), what a whole recipe must obey (``recipe.py``), how a step runs.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core import ids
from fireflyassets.core.failure import FailureClass, Family

T = TypeVar("T")
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

    def decides(self, failure: FailureClass) -> bool:
        """Say whether a recipe may say so of a class; otherwise the class's own action stands."""
        return failure not in INSISTENT


INSISTENT: Final = frozenset(
    {
        FailureClass.AUTH,
        FailureClass.ENTITLEMENT,
        FailureClass.QUOTA,
        FailureClass.THROTTLED,
        FailureClass.MODEL_NOT_READY,
        FailureClass.UNSAFE_CONTENT,
        FailureClass.LOST_ANSWER,
        FailureClass.STORAGE,
        FailureClass.BUG,
        FailureClass.UNKNOWN,
    }
)
"""Classes that are no matter of one step: the account, the time, our stores, a person's look, or
our own doubt.
"""


class Model(StrEnum):
    """The ``x-model-version`` values of generate; ``image4`` alone is not one."""

    IMAGE3 = "image3"
    IMAGE3_CUSTOM = "image3_custom"
    IMAGE4_STANDARD = "image4_standard"
    IMAGE4_ULTRA = "image4_ultra"
    IMAGE4_CUSTOM = "image4_custom"


V4_MODEL: Final = "image5"
"""The ``x-model-version`` of version 4, which has no other."""
CUSTOM_MODELS: Final = frozenset({Model.IMAGE3_CUSTOM, Model.IMAGE4_CUSTOM})
"""Without the id of a custom model they are refused; with another model the id is ignored."""


class When(BaseModel):
    """A step runs only for jobs that match; a left-out field matches all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    locale: tuple[str, ...] | None = None
    layers: dict[StepName, tuple[str, ...]] = Field(default_factory=dict[StepName, tuple[str, ...]])
    """``generate-manifest`` step -> layers that it must list, each of them."""

    def holds(self, *, locale: str) -> bool:
        """Say whether a job of *locale* takes the step, as far as is known before it runs."""
        return self.locale is None or locale in self.locale

    def finds(self, listed: Mapping[str, Collection[str]]) -> bool:
        """Say whether the layers are there; *listed*: manifest step -> layers of its document."""
        return all(
            step in listed and set(layers) <= set(listed[step])
            for step, layers in self.layers.items()
        )


REFERENCE: Final = "reference"
"""The picture that comes with a job, as ``reference.picture`` among sources."""


def names_in(source: str) -> tuple[str, ...]:
    """Return the steps that a source names, the wanted one first."""
    return tuple(one.removesuffix(".picture") for one in source.split(" or "))


def first_of(names: Iterable[str], made: Mapping[str, T]) -> T | None:
    """Return the first of *names* that was *made*."""
    return next((made[name] for name in names if name in made), None)


class BaseStep(BaseModel):
    """What every step may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: StepName
    retry: int = Field(default=5, ge=1, le=5)
    """Tries: sends of this step that count; a 429 costs none."""
    timeout: timedelta = timedelta(minutes=5)
    """How long the remote job may take from its submit to its end."""
    on_failure: OnFailure | None = None
    when: When | None = None
    family: ClassVar[Family] = Family.FIREFLY
    writes: ClassVar[str | None] = None
    """Media type of what the vendor writes to a key of ours; None: it keeps the result itself."""

    def sources(self) -> tuple[str, ...]:
        """Return what this one is made from, in the order of its call.

        Each is ``<step>.picture``, or several with `` or `` between: the first that was made.
        """
        return ()

    def takes(self) -> tuple[tuple[str, ...], ...]:
        """Return for each source the names of the steps whose picture it may be."""
        return tuple(map(names_in, self.sources()))

    def taken(self, made: Mapping[str, T]) -> tuple[T, ...] | None:
        """Return what each source is of all that was *made*; None where one is missing."""
        found = tuple(first_of(names, made) for names in self.takes())
        return None if None in found else tuple(one for one in found if one is not None)


class GenerateStep(BaseStep):
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


class GenerateV4Step(BaseStep):
    """Make one picture with the next version of Firefly, where a setting switches it on.

    Its size is the vendor's choice: a ratio and a class of size are all that can be asked.
    """

    kind: Literal["generate-v4"]
    prompt: str = "job.prompt"
    ratio: Literal["1:1", "4:3", "3:4", "16:9", "9:16"] | None = None
    resolution: Literal["1MP", "2.4MP", "4MP"] = "2.4MP"
    reasoner: Literal["speed", "quality"] = "speed"
    picture: str | None = None
    """A reference, whose ratio the result takes."""

    def sources(self) -> tuple[str, ...]:
        """Return the reference, if there is one."""
        return () if self.picture is None else (self.picture,)

    @model_validator(mode="after")
    def _one_ratio(self) -> Self:
        if self.picture is not None and self.ratio is not None:
            raise ValueError(
                f"step {self.name!r}: the reference decides the ratio; leave `ratio` out"
            )
        return self


class EditStep(BaseStep):
    """Makes one picture out of another."""

    picture: str
    """``<step>.picture`` of an earlier step."""

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that this one is made from."""
        return (self.picture,)


class ExpandStep(EditStep):
    """Continue a picture beyond its edges with Firefly."""

    kind: Literal["expand"]
    size: Size
    prompt: str | None = None


class FillStep(EditStep):
    """Paint a picture anew with Firefly where a mask is white."""

    kind: Literal["fill"]
    mask: str
    """``<step>.picture`` of an earlier step, such as a cut-out's mask."""
    size: Size
    prompt: str | None = None

    def sources(self) -> tuple[str, ...]:
        """Return the ``<step>.picture`` that this one is made from, then its mask."""
        return (self.picture, self.mask)


class SimilarStep(EditStep):
    """Make a picture like another one with Firefly."""

    kind: Literal["similar"]
    model: Literal[Model.IMAGE3, Model.IMAGE4_STANDARD, Model.IMAGE4_ULTRA] = Model.IMAGE3
    size: Size


class UpscaleStep(EditStep):
    """Give a picture more pixels with Firefly: *factor* times as many in each direction."""

    kind: Literal["upscale"]
    factor: Literal[2, 3, 4, 6] = 2
