"""A campaign: one customer's jobs under one configuration.

Belongs here: the shape of a campaign file and its version. Does not: reading files.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core import font, ids, text_rule, text_style
from fireflyassets.core.font import Font
from fireflyassets.core.naming import NAMING, Naming
from fireflyassets.core.priority import Priority
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import GenerateStep, Model, SimilarStep, Size
from fireflyassets.core.text_rule import TextFrame

Frames = Mapping[str, TextFrame]
"""Text layer -> its frame."""
Intent = Literal["generate", "similar"]
"""What a model is asked for."""
Slug = Annotated[str, StringConstraints(pattern=f"^{ids.SLUG.pattern}$")]
Locale = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$")]


class ReviewMode(StrEnum):
    """Whether a person must approve a rendition before it is published."""

    NONE = "none"
    REQUIRED = "required"
    SAMPLED = "sampled"
    """A tenth of its jobs, which everybody can draw again; the others are published unseen."""
    FLAGGED = "flagged"
    """Jobs whose prompt a rule has rewritten; the others are published unseen."""


class Retention(StrEnum):
    """The lifecycle class that a rendition's ``retention`` tag names."""

    STANDARD = "standard"
    AUDIT = "audit"


class CampaignConfig(BaseModel):
    """A campaign as its YAML file says it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    customer: Slug
    campaign: Slug
    title: str = Field(min_length=1, max_length=120)
    credential: Slug
    """Name of a file in ``credentials/``; the credential must allow this customer."""
    locales: tuple[Locale, ...] = Field(min_length=1)
    aspects: tuple[Size, ...] = Field(min_length=1, max_length=25)
    templates: dict[Size, str] = Field(default_factory=dict)
    """Aspect -> path of a PSD, relative to the campaign's file."""
    fonts: tuple[str, ...] = Field(default=(), max_length=20)
    """Paths of font files (TTF, OTF), relative to the campaign's file: those of its text layers,
    then what stands in for letters that they lack, in order. Texts are measured by them."""
    recipe: Recipe
    models: dict[Intent, tuple[Model, ...]] = Field(default_factory=dict[Intent, tuple[Model, ...]])
    """Intent (kind of step) -> the models that its steps may name; one left out allows them all."""
    headline_limit: int = Field(default=38, ge=1, le=500)
    """Most code points of a headline: what fits the template in every locale."""
    cost_tags: dict[Slug, Slug] = Field(default_factory=dict, max_length=5)
    """What its costs are grouped by beside customer and campaign: budgets may be set for each
    ``key=value``. They are no tags of objects."""
    priority: Priority = Priority.NORMAL
    """Which of its customer's campaigns goes first; between customers shares go by weight."""
    deadline: AwareDatetime | None = None
    """By when its jobs should be done, with a time zone; they become urgent before it."""
    budget: Decimal | None = Field(default=None, gt=0, le=10**12, allow_inf_nan=False)
    """Operations that its jobs may take in a month; an entry in ``budgets/`` goes before it."""
    review: ReviewMode = ReviewMode.NONE
    retention: Retention = Retention.STANDARD
    naming: Naming = NAMING
    """What its files are called, without the suffix: letters, digits, `_`, `-` and the fields
    `{campaign}`, `{concept}` (the job's own key), `{locale}`, `{aspect}` and `{creative_id}`."""
    cost_tolerance: Decimal = Field(default=Decimal("0.10"), ge=0, le=10)
    """How far the actual operations of a job may pass the estimate, as a share."""

    resubmit_unknown: int = Field(default=0, ge=0, le=1)
    """Sends of a step that may follow one whose outcome is unknown, without asking a person. Each
    may be a second payment and is booked as a possible duplicate."""

    @model_validator(mode="after")
    def _names_allowed_models(self) -> Self:
        for step in self.recipe.steps:
            if isinstance(step, GenerateStep | SimilarStep):
                allowed = self.models.get(step.kind, (step.model,))
                if step.model not in allowed:
                    raise ValueError(
                        f"recipe: step {step.name!r} names the model {step.model}; for "
                        f"{step.kind} the campaign allows {', '.join(allowed) or 'none'}"
                    )
        return self

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        if self.recipe.composes and (missing := set(self.aspects) - set(self.templates)):
            raise ValueError(
                f"templates: no PSD for {', '.join(sorted(missing))}; name one or drop the aspect"
            )
        for step in self.recipe.manifests():
            if step.template not in self.aspects:
                raise ValueError(f"step {step.name!r}: there is no aspect {step.template}")
        if not self.recipe.composes:
            last = self.recipe.sizes()[self.recipe.last.name]
            if last is None:
                raise ValueError(
                    "recipe: the vendor chooses the size of the last picture, and without a "
                    "compose step it is what is delivered; end with a step that names its size"
                )
            if self.aspects != (last,):
                raise ValueError(
                    "aspects: without a compose step the last picture is what is delivered, and "
                    f"the one aspect is its size ({last})"
                )
        return self


STEERING: Final = ("priority", "deadline", "budget")
"""What says when and how many jobs are made, and not what: no part of the version they pin."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as loaded: its configuration with the version that jobs and waves pin."""

    config: CampaignConfig
    templates: Mapping[str, str]
    """Aspect -> sha256 of the template document."""
    version: str
    frames: Mapping[str, Frames] = field(default_factory=dict[str, Frames])
    """Aspect -> text layer -> its style, which an edit sends whole, its box and its rules."""
    fonts: Mapping[str, Font] = field(default_factory=dict[str, Font])
    """PostScript name -> what is known of the font."""
    actions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path of a file of recorded actions -> its sha256."""

    @property
    def slug(self) -> str:
        """Return ``customer/campaign``."""
        return f"{self.config.customer}/{self.config.campaign}"

    @property
    def partitions(self) -> str:
        """Return the name of the campaign's dynamic partitions."""
        return ids.partitions_name(self.config.customer, self.config.campaign)

    def documents(self) -> dict[str, dict[str, Any]]:
        """Return what is pinned of its templates, fonts and files of actions."""
        said: dict[str, dict[str, Any]] = {
            "templates": dict(self.templates),
            "frames": {
                aspect: {layer: frame.to_json() for layer, frame in frames.items()}
                for aspect, frames in self.frames.items()
            },
            "fonts": {name: font.to_json() for name, font in self.fonts.items()},
        }
        if self.actions:  # Else versions of before there were any would change.
            said["actions"] = dict(self.actions)
        return said

    def to_json(self) -> bytes:
        """Return the campaign as it is pinned; `from_json` reads it back."""
        config = self.config.model_dump(mode="json", exclude=set(STEERING))
        if self.config.naming == NAMING:  # As below.
            del config["naming"]
        said = {"config": config, **self.documents()}
        return json.dumps(said, sort_keys=True, ensure_ascii=False).encode()


def from_json(content: bytes) -> Campaign:
    """Return a pinned campaign; its version follows from its content."""
    said = json.loads(content)
    frames = {
        aspect: {layer: text_rule.from_json(frame) for layer, frame in layers.items()}
        for aspect, layers in said.get("frames", {}).items()
    }
    # What was pinned before texts were checked has the styles alone.
    frames |= {
        aspect: {layer: TextFrame(text_style.from_json(style)) for layer, style in layers.items()}
        for aspect, layers in said.get("styles", {}).items()
    }
    fonts = {name: font.from_json(one) for name, one in said.get("fonts", {}).items()}
    config = CampaignConfig.model_validate(said["config"])
    return load(config, said["templates"], frames, fonts, said.get("actions"))


def load(
    config: CampaignConfig,
    templates: Mapping[str, str],
    frames: Mapping[str, Frames] | None = None,
    fonts: Mapping[str, Font] | None = None,
    actions: Mapping[str, str] | None = None,
) -> Campaign:
    """Return the campaign; its version changes with the file and with all that it names."""
    campaign = Campaign(
        config, dict(templates), "", dict(frames or {}), dict(fonts or {}), dict(actions or {})
    )
    version = hashlib.sha256(campaign.to_json()).hexdigest()[:12]
    return replace(campaign, version=version)


def with_rules_of(campaign: Campaign, newer: Campaign) -> Campaign:
    """Return *campaign* with the text rules of a *newer* version, where it was pinned with none.

    Only for documents that are the same in both: rules belong to a document's boxes.
    """
    if campaign.fonts or any(
        frame.rules for frames in campaign.frames.values() for frame in frames.values()
    ):
        return campaign
    same = {
        aspect: frames
        for aspect, frames in newer.frames.items()
        if campaign.templates.get(aspect) == newer.templates.get(aspect)
    }
    return replace(campaign, frames={**campaign.frames, **same}, fonts=newer.fonts)
