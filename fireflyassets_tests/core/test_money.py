"""Rate cards and estimates: Decimals from text, sums that agree, no made-up price."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fireflyassets.core.money import (
    Cause,
    Kind,
    RateCard,
    card_for,
    cost_of,
    estimate,
    picture_charges,
)
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import GenerateStep, Model, When
from fireflyassets_tests.front_door import card

ART = GenerateStep(name="art", kind="generate")
LAYOUT = ComposeStep(name="layout", kind="compose", inputs={"Hero": "art.picture"})


def test_an_estimate_counts_each_call() -> None:
    """One picture and one composite for each aspect."""
    recipe = Recipe(steps=(ART, LAYOUT))
    assert estimate(recipe, locale="en-GB", aspects=3, card=card()) == Decimal("3.5")


def test_a_step_that_does_not_apply_costs_nothing() -> None:
    """A step for another locale is not estimated."""
    layout = LAYOUT.model_copy(update={"when": When(locale=("de-DE",))})
    recipe = Recipe(steps=(ART, layout))
    assert estimate(recipe, locale="en-GB", aspects=3, card=card()) == Decimal("0.5")
    assert estimate(recipe, locale="de-DE", aspects=3, card=card()) == Decimal("3.5")


def test_the_newest_valid_card_counts() -> None:
    """A card that begins tomorrow does not price today."""
    old, new = card(), card(id="new", valid_from=date(2026, 6, 1))
    assert card_for((new, old), date(2026, 5, 31)) == old
    assert card_for((new, old), date(2026, 6, 1)) == new


def test_no_card_is_an_error() -> None:
    """Without a price nothing is estimated, rather than for free."""
    with pytest.raises(LookupError, match="2025-01-01"):
        card_for((card(),), date(2025, 1, 1))


def test_a_model_without_a_price_is_an_error() -> None:
    """A missing price is named."""
    ultra = ART.model_copy(update={"model": Model.IMAGE4_ULTRA})
    with pytest.raises(KeyError, match="image4_ultra"):
        card().price(ultra)


@pytest.mark.parametrize("price", ["-0.1", "NaN", "Infinity"])
def test_odd_prices_are_refused(price: str) -> None:
    """A price is a finite decimal of zero or more."""
    with pytest.raises(ValidationError):
        card(photoshop=price)


@given(st.lists(st.decimals("0", "9.9999", places=4), min_size=1, max_size=81))
def test_prices_add_up_exactly(prices: list[Decimal]) -> None:
    """81 rows of 0.2849 are 81 times 0.2849, whatever the order."""
    cards = [
        RateCard.model_validate(card().model_dump(mode="json") | {"photoshop": str(price)})
        for price in prices
    ]
    total = sum((one.price(LAYOUT) for one in cards), Decimal(0))
    assert total == sum(prices, Decimal(0))
    assert total == sum((one.price(LAYOUT) for one in reversed(cards)), Decimal(0))


def test_each_picture_of_a_call_is_priced() -> None:
    """Variants cost as the first does, and are told apart from it."""
    charges = picture_charges(Decimal("0.5"), 3, Cause.RETRY)

    assert [(one.output, one.operations, one.cause) for one in charges] == [
        (0, Decimal("0.5"), Cause.RETRY),
        (1, Decimal("0.5"), Cause.EXTRA_VARIANT),
        (2, Decimal("0.5"), Cause.EXTRA_VARIANT),
    ]


@pytest.mark.parametrize(("basis", "total"), [("perCall", 1), ("perOutput", 3)])
def test_a_composite_is_priced_as_its_contract_says(basis: str, total: int) -> None:
    """One contract bills the call, another each file that it writes."""
    charges = card(photoshop_basis=basis).composite_charges(3, Cause.FIRST_TRY)

    assert sum(one.operations for one in charges) == Decimal(total)
    assert [one.cause for one in charges] == [
        Cause.FIRST_TRY,
        Cause.EXTRA_ASPECT,
        Cause.EXTRA_ASPECT,
    ]


def test_an_edit_without_a_price_is_an_error() -> None:
    """A price that no contract names is not made up."""
    priced = card(edits={"expand": "1"})

    assert priced.edit_price(Kind.EXPAND) == Decimal(1)
    with pytest.raises(KeyError, match="upscale"):
        priced.edit_price(Kind.UPSCALE)
    with pytest.raises(ValidationError):
        card(edits={"fill": "-1"})
    with pytest.raises(ValueError, match="at least one"):
        picture_charges(Decimal(1), 0, Cause.FIRST_TRY)


def test_every_cause_that_a_report_needs_is_there() -> None:
    """First tries, retries, doubles, wishes and doubts each have a word of their own."""
    assert set(Cause) == {
        "first-try",
        "retry",
        "duplicate",
        "regenerate",
        "extra-variant",
        "extra-aspect",
        "cancelled-late",
        "possible-duplicate",
        "possible-cost",
        "accepted-but-failed",
        "orphaned",
        "saved-by-cache",
    }


def test_every_cause_is_in_the_docs_with_who_books_it() -> None:
    page = (Path(__file__).parents[2] / "docs" / "flow.md").read_text()
    section = page.partition("## Why an operation was spent")[2].partition("\n## ")[0]

    assert [cause for cause in Cause if f"`{cause}`" not in section] == []
    for line in section.splitlines():
        named = {cause for cause in Cause if line.startswith("| `") and f"`{cause}`" in line[:40]}
        for cause in named:
            certain = cost_of([(cause, Decimal(1))]).certain == 1
            assert certain is ("| yes |" in line), cause
