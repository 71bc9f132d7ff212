"""A campaign: one customer's jobs under one configuration.

Belongs here: the shape of a campaign file and its version. Does not: reading files.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core import ids, text_style
from fireflyassets.core.recipe import Recipe, Size
from fireflyassets.core.text_style import TextStyle

Styles = Mapping[str, TextStyle]
"""Text layer -> its style."""
Slug = Annotated[str, StringConstraints(pattern=f"^{ids.SLUG.pattern}$")]
Locale = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$")]


class ReviewMode(StrEnum):
    """Whether a person must approve a rendition before it is published."""

    NONE = "none"
    REQUIRED = "required"


class Retention(StrEnum):
    """The lifecycle class that a rendition's ``retention`` tag names."""

    STANDARD = "standard"
    AUDIT = "audit"


class CampaignConfig(BaseModel):
    """A campaign as its YAML file says it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    customer: Slug
    campaign: Slug
    title: str = Field(min_length=1, max_length=120)
    credential: Slug
    """Name of a file in ``credentials/``; the credential must allow this customer."""
    locales: tuple[Locale, ...] = Field(min_length=1)
    aspects: tuple[Size, ...] = Field(min_length=1, max_length=25)
    templates: dict[Size, str] = Field(default_factory=dict)
    """Aspect -> path of a PSD, relative to the campaign's file."""
    recipe: Recipe
    headline_limit: int = Field(default=38, ge=1, le=500)
    """Most code points of a headline: what fits the template in every locale."""
    review: ReviewMode = ReviewMode.NONE
    retention: Retention = Retention.STANDARD
    cost_tolerance: Decimal = Field(default=Decimal("0.10"), ge=0, le=10)
    """How far the actual operations of a job may pass the estimate, as a share."""

    resubmit_unknown: int = Field(default=0, ge=0, le=1)
    """Sends of a step that may follow one whose outcome is unknown, without asking a person. Each
    may be a second payment and is booked as a possible duplicate."""

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        if self.recipe.composes and (missing := set(self.aspects) - set(self.templates)):
            raise ValueError(
                f"templates: no PSD for {', '.join(sorted(missing))}; name one or drop the aspect"
            )
        if not self.recipe.composes:
            last = list(self.recipe.sizes().values())[-1]
            if self.aspects != (last,):
                raise ValueError(
                    "aspects: without a compose step the last picture is what is delivered, and "
                    f"the one aspect is its size ({last})"
                )
        return self


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as loaded: its configuration with the version that jobs and waves pin."""

    config: CampaignConfig
    templates: Mapping[str, str]
    """Aspect -> sha256 of the template document."""
    version: str
    styles: Mapping[str, Mapping[str, TextStyle]] = field(default_factory=dict[str, Styles])
    """Aspect -> text layer -> the style that its document declares: an edit sends it whole."""

    @property
    def slug(self) -> str:
        """Return ``customer/campaign``."""
        return f"{self.config.customer}/{self.config.campaign}"

    @property
    def partitions(self) -> str:
        """Return the name of the campaign's dynamic partitions."""
        return ids.partitions_name(self.config.customer, self.config.campaign)

    def to_json(self) -> bytes:
        """Return the campaign as it is pinned; `from_json` reads it back."""
        said = {
            "config": self.config.model_dump(mode="json"),
            "templates": dict(self.templates),
            "styles": {
                aspect: {layer: style.to_json() for layer, style in styles.items()}
                for aspect, styles in self.styles.items()
            },
        }
        return json.dumps(said, sort_keys=True, ensure_ascii=False).encode()


def from_json(content: bytes) -> Campaign:
    """Return a pinned campaign; its version follows from its content."""
    said = json.loads(content)
    styles = {
        aspect: {layer: text_style.from_json(style) for layer, style in layers.items()}
        for aspect, layers in said.get("styles", {}).items()
    }
    return load(CampaignConfig.model_validate(said["config"]), said["templates"], styles)


def load(
    config: CampaignConfig,
    templates: Mapping[str, str],
    styles: Mapping[str, Mapping[str, TextStyle]] | None = None,
) -> Campaign:
    """Return the campaign; its version changes when the file or a template's bytes do."""
    said = config.model_dump(mode="json")
    text = json.dumps([said, sorted(templates.items())], sort_keys=True, ensure_ascii=False)
    # Styles are read from the documents, whose hashes are in.
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Campaign(config, dict(templates), version, dict(styles or {}))
