"""Money: dated rate cards and what a call costs, in operations.

Belongs here: prices, estimates and their sums, Decimal throughout. Does not: currency; an
operation is Adobe's billing unit, and what one costs stands in a contract we do not invent.
"""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireflyassets.core.recipe import ComposeStep, Model, Recipe, Step


class Cause(StrEnum):
    """Why an operation was spent."""

    FIRST_TRY = "first-try"
    RETRY = "retry"
    REGENERATE = "regenerate"
    POSSIBLE_DUPLICATE = "possible-duplicate"
    POSSIBLE_COST = "possible-cost"
    ACCEPTED_BUT_FAILED = "accepted-but-failed"
    ORPHANED = "orphaned"
    """Paid and collected, and nobody's any more: the step had its result, or the job was closed."""


class RateCard(BaseModel):
    """What each paid call costs from a day on, in operations."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    valid_from: date
    source: str = Field(min_length=1)
    generate: dict[Model, Decimal]
    """Operations for each output picture."""
    photoshop: Decimal
    photoshop_basis: Literal["perCall", "perOutput"]

    @model_validator(mode="after")
    def _sane(self) -> Self:
        for price in (*self.generate.values(), self.photoshop):
            if not price.is_finite() or price < 0:
                raise ValueError(f"{self.id}: {price} is not a price; use a decimal of 0 or more")
        return self

    def price(self, step: Step) -> Decimal:
        """Return the operations of one call of *step* with one output."""
        if isinstance(step, ComposeStep):
            return self.photoshop
        if step.model not in self.generate:
            raise KeyError(f"Rate card {self.id} has no price for model {step.model}.")
        return self.generate[step.model]


def card_for(cards: tuple[RateCard, ...], day: date) -> RateCard:
    """Return the newest card that is valid on *day*.

    Raises:
        LookupError: No card reaches back to that day.
    """
    valid = [card for card in cards if card.valid_from <= day]
    if not valid:
        raise LookupError(f"No rate card is valid on {day}; add one with an earlier valid_from.")
    return max(valid, key=lambda card: card.valid_from)


def estimate(recipe: Recipe, *, locale: str, aspects: int, card: RateCard) -> Decimal:
    """Return the operations of one job when every call succeeds at its first try."""
    total = Decimal(0)
    for step in recipe.steps:
        if step.when is None or step.when.holds(locale=locale):
            calls = aspects if isinstance(step, ComposeStep) else 1
            total += calls * card.price(step)
    return total
