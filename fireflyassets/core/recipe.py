"""Recipes: the ordered steps that make a job's renditions, as data.

Belongs here: what a whole recipe must obey, and what follows from the order of its steps.
Does not: what a single step may say (``recipe_step.py``), how it runs. A campaign's YAML holds one
recipe; the three common shapes are generate and compose, generate only, and compose only. Between
and behind them, a picture may be made into another one any number of times.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireflyassets.core import ids
from fireflyassets.core.failure import Family
from fireflyassets.core.photoshop_step import (
    ActionsStep,
    AdjustStep,
    AutoCropStep,
    ComposeStep,
    ManifestStep,
    PictureStep,
    RemoveBackgroundStep,
    Step,
)
from fireflyassets.core.recipe_step import (
    JOB_TEXTS,
    REFERENCE,
    ExpandStep,
    FillStep,
    GenerateStep,
    GenerateV4Step,
    OnFailure,
    Size,
    UpscaleStep,
    names_in,
)

_WITH_PROMPT = (GenerateStep, GenerateV4Step, ExpandStep, FillStep)


class Recipe(BaseModel):
    """An ordered list of steps. A step may use only pictures of steps before it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Step, ...] = Field(min_length=1, max_length=25)

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        faults = [*_name_faults(self.steps), *_input_faults(self.steps)]
        if not faults:
            faults = [*_fan_faults(self), *_manifest_faults(self.steps), *_skip_faults(self)]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def composes(self) -> bool:
        """Say whether the last word belongs to Photoshop."""
        return any(isinstance(step, ComposeStep) for step in self.steps)

    @property
    def reference_readers(self) -> tuple[Step, ...]:
        """Return the steps that take the picture that comes with a job."""
        return tuple(step for step in self.steps if any(REFERENCE in one for one in step.takes()))

    @property
    def needs_reference(self) -> bool:
        """Say whether some step has nothing to go on with where a job brings no picture."""
        return any(one == (REFERENCE,) for step in self.steps for one in step.takes())

    @property
    def fanned(self) -> frozenset[str]:
        """Return the names of the steps that run once for each aspect.

        They are the composites, and whatever is made of them.
        """
        fanned: set[str] = set()
        for step in self.steps:
            if isinstance(step, ComposeStep) or any(fanned & set(one) for one in step.takes()):
                fanned.add(step.name)
        return frozenset(fanned)

    @property
    def last(self) -> Step:
        """Return the step whose pictures are delivered."""
        fanned = self.fanned
        return next((one for one in reversed(self.steps) if one.name in fanned), self.steps[-1])

    def pictures(self) -> tuple[Step, ...]:
        """Return the steps that run once for a job, in order."""
        fanned = self.fanned
        return tuple(step for step in self.steps if step.name not in fanned)

    def sizes(self, aspect: Size | None = None) -> dict[str, Size | None]:
        """Return step -> size of its picture; None where only the vendor knows it beforehand.

        The sizes of fanned-out steps are those of *aspect*.
        """
        sizes: dict[str, Size | None] = {}
        for step in self.steps:
            sizes[step.name] = _size_of(step, sizes, aspect)
        return sizes

    def compositions(self) -> tuple[ComposeStep, ...]:
        """Return the compose steps in order."""
        return tuple(step for step in self.steps if isinstance(step, ComposeStep))

    def manifests(self) -> tuple[ManifestStep, ...]:
        """Return the steps that list a template's layers."""
        return tuple(step for step in self.steps if isinstance(step, ManifestStep))

    def action_files(self) -> tuple[str, ...]:
        """Return the paths of all files of recorded actions, each once."""
        steps = (step for step in self.steps if isinstance(step, ActionsStep))
        return tuple(dict.fromkeys(one.file for step in steps for one in step.actions))

    def runs(self, step: Step, *, aspects: int) -> int:
        """Return how often a job of so many *aspects* runs *step*."""
        return aspects if step.name in self.fanned else 1


def stored_name(step: PictureStep | ComposeStep, aspect: str | None) -> str:
    """Return the name under which a step's result is stored; *aspect* where it fans out."""
    return step.name if aspect is None else f"{step.name}.{aspect}"


def aspect_in(stored: str) -> str | None:
    """Return the aspect that a `stored_name` holds."""
    return stored.partition(".")[2] or None


def calls_per_job(recipe: Recipe, *, aspects: int, locale: str | None = None) -> dict[Family, int]:
    """Return API family -> paid calls that one job makes when each succeeds at once.

    Without a *locale* each step counts, also one that runs for some locales alone.
    """
    calls = Counter[Family]()
    for step in recipe.steps:
        if locale is None or step.when is None or step.when.holds(locale=locale):
            calls[step.family] += recipe.runs(step, aspects=aspects)
    return dict(calls)


def _size_of(step: Step, before: Mapping[str, Size | None], aspect: Size | None) -> Size | None:
    match step:
        case ComposeStep():
            return aspect
        case GenerateV4Step() | AutoCropStep() | ManifestStep():
            return None
        case UpscaleStep(factor=factor):
            if (kept := _kept_size(step, before)) is None:
                return None
            width, height = ids.parse_aspect(kept)
            return f"{width * factor}x{height * factor}"
        case RemoveBackgroundStep() | AdjustStep() | ActionsStep(size=None):
            return _kept_size(step, before)
        case _:
            return step.size


def _kept_size(step: Step, before: Mapping[str, Size | None]) -> Size | None:
    """Return the size of the picture that a step takes, if it is the same whichever that is."""
    sizes = {before.get(name) for name in step.takes()[0]}
    return sizes.pop() if len(sizes) == 1 else None


def _name_faults(steps: tuple[Step, ...]) -> Iterator[str]:
    names = [step.name for step in steps]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two steps are named {name!r}: give each its own name"
    if REFERENCE in names:
        yield f"no step can be named {REFERENCE!r}: that is the picture that comes with a job"
    if sum(isinstance(step, ComposeStep) for step in steps) > 1:
        yield "only one compose step is supported: name all layers in it"


def _input_faults(steps: tuple[Step, ...]) -> Iterator[str]:
    pictures = {REFERENCE}
    for step in steps:
        if isinstance(step, ComposeStep):
            yield from _layer_faults(step, pictures)
        else:
            yield from _picture_faults(step, pictures)
        if not isinstance(step, ManifestStep):
            pictures.add(step.name)


def _picture_faults(step: PictureStep, pictures: set[str]) -> Iterator[str]:
    prompt = step.prompt if isinstance(step, _WITH_PROMPT) else None
    if prompt is not None and prompt.removeprefix("job.") not in JOB_TEXTS:
        yield f"step {step.name!r}: prompt must be job.<{'|'.join(sorted(JOB_TEXTS))}>"
    for source in step.sources():
        if not _is_made(source, pictures):
            yield f"step {step.name!r}: {source!r} is not <step>.picture of an earlier step"


def _layer_faults(step: ComposeStep, pictures: set[str]) -> Iterator[str]:
    for layer, source in step.inputs.items():
        text = source.startswith("job.") and source.removeprefix("job.") in JOB_TEXTS
        if text or _is_made(source, pictures):
            continue
        yield (
            f"step {step.name!r}, layer {layer!r}: {source!r} is neither job.<text> nor "
            f"<step>.picture of an earlier step"
        )


def _is_made(source: str, pictures: set[str]) -> bool:
    each_ends = all(one.endswith(".picture") for one in source.split(" or "))
    return each_ends and set(names_in(source)) <= pictures


def _fan_faults(recipe: Recipe) -> Iterator[str]:
    """Yield what can't go on from a composite, of which there is one for each aspect."""
    fanned = recipe.fanned
    for step in recipe.steps:
        if step.name not in fanned or isinstance(step, ComposeStep):
            continue
        if not isinstance(step, AdjustStep | ActionsStep):
            yield (
                f"step {step.name!r}: {step.kind} can't go on from a composite; only edit and "
                "execute-actions can"
            )
        elif not set(step.takes()[0]) <= fanned:
            yield f"step {step.name!r}: a base picture can't stand in for a composite"
        elif isinstance(step, ActionsStep) and step.size is not None:
            yield f"step {step.name!r}: the size of a composite is its aspect; leave `size` out"


def _manifest_faults(steps: tuple[Step, ...]) -> Iterator[str]:
    manifests: set[str] = set()
    for step in steps:
        for name in step.when.layers if step.when else ():
            if name not in manifests:
                yield (
                    f"step {step.name!r}: `when` names {name!r}, which is no generate-manifest "
                    "step before it"
                )
        if isinstance(step, ManifestStep):
            manifests.add(step.name)
    composes = any(isinstance(step, ComposeStep) for step in steps)
    if manifests and not composes:
        yield "a generate-manifest step lists a template, and there is no compose step to have one"


def _skip_faults(recipe: Recipe) -> Iterator[str]:
    for step in recipe.steps:
        if step.on_failure is OnFailure.SKIP and not _goes_on_without(step.name, recipe):
            yield (
                f"step {step.name!r}: left out by `on_failure: skip`, it leaves nothing to "
                f"deliver; name what stands in for it, as `{step.name}.picture or <other>.picture`"
            )


def _goes_on_without(left_out: str, recipe: Recipe) -> bool:
    """Say whether the last step still runs where one that failed was left out."""
    made = {REFERENCE}
    for step in recipe.steps:
        listed = step.when.layers if step.when else {}
        runs = set(listed) <= made and all(made & set(names) for names in step.takes())
        if runs and step.name != left_out:
            made.add(step.name)
    return recipe.last.name in made
