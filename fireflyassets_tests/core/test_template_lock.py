"""The template lock: what a designer released, and what is told when it is something else."""

from dataclasses import replace
from decimal import Decimal

import pytest
from pydantic import ValidationError

from fireflyassets.core.font import Font
from fireflyassets.core.template import Box, LayerKind, Template, TemplateLayer
from fireflyassets.core.template_lock import FontLock, TemplateLock, drift, lock
from fireflyassets.core.text_rule import Fit, TextRule
from fireflyassets.core.text_style import TextStyle

STYLE = TextStyle(font="Brand-Heavy", size=Decimal(64), tracking=Decimal(-20))
HERO = TemplateLayer(3, "Hero", LayerKind.SMART_OBJECT, Box(0, 0, 1080, 720))
HEADLINE = TemplateLayer(
    14,
    "Headline",
    LayerKind.TEXT,
    Box(72, 764, 1008, 972),
    style=STYLE,
    fonts=("Brand-Heavy",),
)
TEMPLATE = Template(1080, 1080, (HERO, HEADLINE), "hash-1", "golden-1")
RULES = {"Headline": {"en-GB": TextRule(budget=38), "ar-AE": TextRule(budget=38)}}
LOCK = lock({"1080x1080": TEMPLATE}, RULES)


def changed(*layers: TemplateLayer, **facts: object) -> dict[str, Template]:
    """Return the document, saved with changes."""
    layers = layers or TEMPLATE.layers
    return {"1080x1080": replace(TEMPLATE, layers=layers, sha256="hash-2", **facts)}


def test_what_was_locked_has_not_drifted() -> None:
    """The lock survives its own file, and says nothing about an unchanged document."""
    again = TemplateLock.model_validate_json(LOCK.model_dump_json(exclude_none=True))

    assert list(drift(again, {"1080x1080": TEMPLATE})) == []


@pytest.mark.parametrize(
    ("templates", "told"),
    [
        (changed(width=1081), "the canvas was 1080x1080 px and is 1081x1080 px"),
        (changed(HERO), "layer 'Headline' (id 14) is gone"),
        (changed(HERO, HEADLINE, replace(HERO, id=4, name="New")), "layer 'New' (id 4) is new"),
        (changed(HEADLINE, HERO), "the layers lie in another order"),
        (changed(replace(HERO, name="Hero 2"), HEADLINE), "is now named 'Hero 2'"),
        (changed(replace(HERO, kind=LayerKind.PIXELS), HEADLINE), "was a smart object and is a"),
        (
            changed(replace(HERO, box=Box(40, 0, 1120, 720)), HEADLINE),
            "stood at 0, 0 with 1080x720 px and stands at 40, 0 with 1080x720 px",
        ),
        (changed(replace(HERO, visible=False), HEADLINE), "is now hidden"),
        (
            changed(HERO, replace(HEADLINE, fonts=("Other",))),
            "was set in Brand-Heavy and is set in Other",
        ),
        (
            changed(HERO, replace(HEADLINE, style=replace(STYLE, tracking=Decimal(0)))),
            "had tracking -20 and has 0",
        ),
        (changed(preview="golden-2"), "the picture that the document gives is another one"),
        (changed(), "the file has changed, though"),
        ({}, "the campaign has none"),
        ({"1080x1080": TEMPLATE, "1x1": TEMPLATE}, "1x1: the document is not locked"),
    ],
)
def test_drift_is_told_in_a_designer_s_words(templates: dict[str, Template], told: str) -> None:
    """Each kind of change is one sentence that names the layer and both states."""
    (fact,) = drift(LOCK, templates)

    assert told in fact


def test_rules_of_a_designer_outlive_a_new_lock() -> None:
    """Who writes a budget into the file keeps it when the document is released anew."""
    narrow = TextRule(budget=20, fit=Fit.SHRINK, shrink_to=80, max_lines=2)
    before = lock({"1080x1080": TEMPLATE}, {"Headline": {"ar-AE": narrow}})

    made = lock(changed(), RULES, before)

    (_, headline) = made.documents["1080x1080"].layers
    assert headline.texts == {"en-GB": TextRule(budget=38), "ar-AE": narrow}


@pytest.mark.parametrize(
    "rule",
    [
        {"budget": 0},
        {"budget": 10, "fit": "shrink"},
        {"budget": 10, "shrink_to": 80},
        {"budget": 10, "fit": "shrink", "shrink_to": 10},
        {"budget": 10, "fit": "lines"},
        {"budget": 10, "fit": "guess"},
    ],
)
def test_rules_that_say_nothing_certain_are_refused(rule: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TextRule.model_validate(rule)


BRAND = Font("Brand-Heavy", "20-7E")


def test_fonts_are_locked_with_what_they_draw() -> None:
    """A font that changed, came or went is told; one that a designer wrote in by hand stays."""
    locked = lock({"1080x1080": TEMPLATE}, RULES, fonts={"Brand-Heavy": ("hash-f", BRAND)})
    by_hand = locked.model_copy(
        update={"fonts": {**locked.fonts, "Vendor": FontLock(glyphs="20-7E A0")}}
    )
    again = TemplateLock.model_validate_json(by_hand.model_dump_json(exclude_none=True))
    assert again.fonts["Brand-Heavy"].glyphs == "20-7E"

    def told(**fonts: tuple[str, Font]) -> list[str]:
        named = {name.replace("_", "-"): one for name, one in fonts.items()}
        return list(drift(again, {"1080x1080": TEMPLATE}, named))

    assert told(Brand_Heavy=("hash-f", BRAND)) == []
    assert told(Brand_Heavy=("hash-g", BRAND)) == ["the file of font Brand-Heavy has changed"]
    assert told() == ["the lock has font Brand-Heavy, and the campaign has no file of it"]
    assert told(Brand_Heavy=("hash-f", BRAND), Other=("hash-o", BRAND)) == [
        "font Other is not locked"
    ]
    renewed = lock({"1080x1080": TEMPLATE}, RULES, again, {"Brand-Heavy": ("hash-g", BRAND)})
    assert renewed.fonts == {
        "Vendor": FontLock(glyphs="20-7E A0"),
        "Brand-Heavy": FontLock(glyphs="20-7E", sha256="hash-g"),
    }


@pytest.mark.parametrize("glyphs", ["20-", "g", "20--7E", "20-7E;A0", "-7E"])
def test_glyphs_written_by_hand_must_be_ranges(glyphs: str) -> None:
    """A slip in a lock refuses the lock, and not every headline."""
    with pytest.raises(ValidationError):
        FontLock(glyphs=glyphs)
