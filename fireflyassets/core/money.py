"""Money: dated rate cards and what a call costs, in operations.

Belongs here: prices, estimates and their sums, Decimal throughout. Does not: currency; an
operation is Adobe's billing unit, and what one costs stands in a contract we do not invent.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fireflyassets.core.photoshop_step import ComposeStep, Step
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import GenerateStep, Model


class Cause(StrEnum):
    """Why an operation was spent."""

    FIRST_TRY = "first-try"
    RETRY = "retry"
    DUPLICATE = "duplicate"
    """Paid twice for the same, as the vendor's own list proves."""
    REGENERATE = "regenerate"
    EXTRA_VARIANT = "extra-variant"
    """A further picture of the same call."""
    EXTRA_ASPECT = "extra-aspect"
    """A further file of the same composite."""
    CANCELLED_LATE = "cancelled-late"
    """Cancelled, and made all the same."""
    POSSIBLE_DUPLICATE = "possible-duplicate"
    POSSIBLE_COST = "possible-cost"
    """Not taken by the vendor's word or by what it wrote, or given up as unknown."""
    ACCEPTED_BUT_FAILED = "accepted-but-failed"
    """Taken, and nothing is bound to it: it failed, it is unusable, or it has not arrived yet."""
    ORPHANED = "orphaned"
    """Paid, and bound to nothing: the step had its result, the job was closed, or somebody read it
    in the vendor's report."""
    SAVED_BY_CACHE = "saved-by-cache"
    """Not spent: an equal picture was there. Its operations are what it would have cost."""


FOR_A_RESULT: Final = frozenset({Cause.FIRST_TRY, Cause.RETRY, Cause.REGENERATE})
"""Why a send is made whose result is bound to its step."""
_CERTAIN: Final = FOR_A_RESULT | {
    Cause.DUPLICATE,
    Cause.EXTRA_VARIANT,
    Cause.EXTRA_ASPECT,
    Cause.CANCELLED_LATE,
    Cause.ORPHANED,
}
_POSSIBLE: Final = frozenset(
    {
        Cause.POSSIBLE_DUPLICATE,
        Cause.POSSIBLE_COST,
        Cause.ACCEPTED_BUT_FAILED,
    }
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What was billed for certain, and what may have been billed besides, in operations."""

    certain: Decimal = Decimal(0)
    possible: Decimal = Decimal(0)
    open: bool = field(default=False, compare=False)
    """True while a call is open whose answer may change it."""


def cost_of(spent: Iterable[tuple[Cause, Decimal]], *, open_calls: bool = False) -> Cost:
    """Return what operations of given causes come to, so far if calls are open."""
    rows = tuple(spent)
    return Cost(
        certain=sum((price for cause, price in rows if cause in _CERTAIN), Decimal(0)),
        possible=sum((price for cause, price in rows if cause in _POSSIBLE), Decimal(0)),
        open=open_calls,
    )


@dataclass(frozen=True, slots=True)
class Charge:
    """What one output of a call costs, and why."""

    output: int
    operations: Decimal
    cause: Cause


class Kind(StrEnum):
    """A paid call that neither a model nor Photoshop's one price stands for."""

    EXPAND = "expand"
    FILL = "fill"
    SIMILAR = "similar"
    UPSCALE = "upscale"
    GENERATE_V4 = "generate-v4"
    REMOVE_BACKGROUND = "remove-background"
    EDIT = "edit"
    EXECUTE_ACTIONS = "execute-actions"
    GENERATE_MANIFEST = "generate-manifest"
    CREATE_ARTBOARD = "create-artboard"
    AUTO_CROP = "auto-crop"


class RateCard(BaseModel):
    """What each paid call costs from a day on, in operations."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    valid_from: date
    source: str = Field(min_length=1)
    generate: dict[Model, Decimal]
    """Operations for each output picture."""
    edits: dict[Kind, Decimal] = Field(default_factory=dict)
    """Operations for each output picture of the other calls; none is made up."""
    photoshop: Decimal
    photoshop_basis: Literal["perCall", "perOutput"]
    currency: Annotated[str, StringConstraints(pattern="^[A-Z]{3}$")] | None = None
    """Of the price below; without both of them plans tell operations alone."""
    per_operation: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What one operation costs by the contract."""

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if (self.currency is None) != (self.per_operation is None):
            raise ValueError(f"{self.id}: name both currency and per_operation, or neither")
        for price in (*self.generate.values(), *self.edits.values(), self.photoshop):
            if not price.is_finite() or price < 0:
                raise ValueError(f"{self.id}: {price} is not a price; use a decimal of 0 or more")
        return self

    @property
    def version(self) -> str:
        """Return what changes with any price: a card may be mended under its old id."""
        return hashlib.sha256(self.model_dump_json(exclude_none=True).encode()).hexdigest()[:12]

    def price(self, step: Step) -> Decimal:
        """Return the operations of one call of *step* with one output.

        Raises:
            KeyError: The card has no price for it.
        """
        if isinstance(step, ComposeStep):
            return self.photoshop
        if not isinstance(step, GenerateStep):
            return self.edit_price(Kind(step.kind))
        if step.model not in self.generate:
            raise KeyError(f"Rate card {self.id} has no price for model {step.model}.")
        return self.generate[step.model]

    def charges(self, step: Step, cause: Cause) -> tuple[Charge, ...]:
        """Return what one call of *step* costs, output by output; *cause* is the first one's."""
        if isinstance(step, ComposeStep):
            return self.composite_charges(1, cause)
        return picture_charges(self.price(step), 1, cause)

    def edit_price(self, kind: Kind) -> Decimal:
        """Return the operations of one output of an edit.

        Raises:
            KeyError: The card has no price for it.
        """
        if kind not in self.edits:
            raise KeyError(f"Rate card {self.id} has no price for {kind}.")
        return self.edits[kind]

    def composite_charges(self, files: int, cause: Cause) -> tuple[Charge, ...]:
        """Return what a composite with so many files costs: by the call, or by each file."""
        by_file = self.photoshop_basis == "perOutput"
        further = self.photoshop if by_file else Decimal(0)
        return _charges(self.photoshop, further, files, cause, Cause.EXTRA_ASPECT)


def picture_charges(price: Decimal, pictures: int, cause: Cause) -> tuple[Charge, ...]:
    """Return what a call with so many pictures costs: each its *price*, all but one as extra."""
    return _charges(price, price, pictures, cause, Cause.EXTRA_VARIANT)


def _charges(
    first: Decimal, further: Decimal, outputs: int, cause: Cause, extra: Cause
) -> tuple[Charge, ...]:
    if outputs < 1:
        raise ValueError("A call has at least one output.")
    rest = (Charge(output, further, extra) for output in range(1, outputs))
    return (Charge(0, first, cause), *rest)


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
    """Return the operations of one job when every call succeeds at its first try.

    A step that waits for what a manifest says is counted: it may run.
    """
    total = Decimal(0)
    for step in recipe.steps:
        if step.when is None or step.when.holds(locale=locale):
            total += recipe.runs(step, aspects=aspects) * card.price(step)
    return total
