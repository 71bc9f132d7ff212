"""What a text layer gives to a text: its box and style, and its rules by locale.

Belongs here: the rules as a designer writes them into a template lock. Does not: whether a text
keeps them (``core/typesetting.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireflyassets.core import text_style
from fireflyassets.core.text_style import TextStyle


class Fit(StrEnum):
    """What becomes of a text that is too long for its layer."""

    FAIL = "fail"
    """It is refused."""
    SHRINK = "shrink"
    """Its type is made smaller, down to ``shrink_to`` percent."""
    LINES = "lines"
    """It is sent broken into lines, at most ``max_lines``, also where the layer has no box."""


class TextRule(BaseModel):
    """How much a layer takes in a locale."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: Annotated[int, Field(ge=1, le=500)]
    """Most code points at the declared size."""
    fit: Fit = Fit.FAIL
    shrink_to: Annotated[int, Field(ge=50, le=100)] | None = None
    """Smallest size in percent of the declared one; with ``shrink``."""
    max_lines: Annotated[int, Field(ge=1, le=20)] | None = None
    """Most lines, whatever the fit; None for as many as the box holds."""
    fonts: tuple[str, ...] = ()
    """PostScript names of what draws the text in this locale: the layer's font first, then those
    that stand in for it. Empty in a lock: the layer's font, then all of
    the campaign's."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.fit is Fit.SHRINK) != (self.shrink_to is not None):
            raise ValueError("shrink_to belongs to fit `shrink`: give both or neither")
        if self.fit is Fit.LINES and self.max_lines is None:
            raise ValueError("fit `lines` needs max_lines")
        return self

    @property
    def most(self) -> int:
        """Return the most code points at the smallest size that is allowed."""
        return self.budget * 100 // (self.shrink_to or 100)


@dataclass(frozen=True, slots=True)
class TextFrame:
    """What a text layer gives to a text: its style, its box in pixels, its rules by locale."""

    style: TextStyle
    size: tuple[float, float] | None = None
    """Width and height; None for a text that stands on a point."""
    rules: Mapping[str, TextRule] = field(default_factory=dict[str, TextRule])

    def to_json(self) -> dict[str, object]:
        """Return the frame as JSON; `from_json` reads it back."""
        rules = {
            locale: rule.model_dump(mode="json", exclude_none=True)
            for locale, rule in self.rules.items()
        }
        return {"style": self.style.to_json(), "size": self.size, "rules": rules}


def from_json(said: Mapping[str, Any]) -> TextFrame:
    """Return a frame that `TextFrame.to_json` wrote."""
    size: list[float] | None = said["size"]
    rules = {locale: TextRule.model_validate(rule) for locale, rule in said["rules"].items()}
    return TextFrame(
        text_style.from_json(said["style"]), (size[0], size[1]) if size else None, rules
    )
