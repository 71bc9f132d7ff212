"""Templates: each fault that would fail a job after its picture was paid for, found before."""

from dataclasses import replace

import pytest

from fireflyassets.core.template import (
    Box,
    LayerKind,
    Template,
    TemplateLayer,
    check_template,
)

HERO = TemplateLayer(3, "Hero", LayerKind.SMART_OBJECT, Box(0, 0, 1080, 720))
HEADLINE = TemplateLayer(14, "Headline", LayerKind.TEXT, Box(72, 764, 1008, 972))
PAPER = TemplateLayer(2, "Paper", LayerKind.PIXELS, Box(0, 0, 1080, 1080))
SOUND = Template(1080, 1080, (PAPER, HERO, HEADLINE), "00")
SLOTS = {"Hero": LayerKind.SMART_OBJECT, "Headline": LayerKind.TEXT}


def faults(template: Template, aspect: str = "1080x1080") -> list[tuple[str | None, str]]:
    found = check_template(template, aspect=aspect, slots=SLOTS, document="square.psd")
    return [(fault.layer, str(fault)) for fault in found]


def with_hero(**changes: object) -> Template:
    return replace(SOUND, layers=(PAPER, replace(HERO, **changes), HEADLINE))


def test_sound_template_has_no_faults() -> None:
    assert faults(SOUND) == []


def test_canvas_of_another_size_is_a_fault() -> None:
    """The sentence says what, where, why, and how to mend it."""
    [(layer, sentence)] = faults(SOUND, "1080x1920")

    assert layer is None
    assert sentence == (
        "square.psd has a canvas of 1080x1080 px, but the campaign delivers it as 1080x1920, "
        "which would stretch it. Resize the canvas to 1080x1920 px, or name another document "
        "for this aspect."
    )


def test_missing_layer_is_a_fault_that_names_the_likely_one() -> None:
    """A lost capital or space is the usual reason."""
    [(layer, sentence)] = faults(with_hero(name="hero "))

    assert layer == "Hero"
    assert sentence == (
        "square.psd has no layer named 'Hero', into which the recipe puts a picture. Did you "
        "mean 'hero '? Rename the layer, or mend the recipe; there are 'Headline', 'Paper', "
        "'hero '."
    )


def test_missing_layer_without_a_likely_one_names_no_guess() -> None:
    [(layer, sentence)] = faults(with_hero(name="Background art"))

    assert layer == "Hero"
    assert "Did you mean" not in sentence


def test_empty_document_is_a_fault_per_layer() -> None:
    found = faults(replace(SOUND, layers=()))

    assert [layer for layer, _ in found] == ["Hero", "Headline"]
    assert "there are no layers" in found[0][1]


def test_two_layers_of_one_name_are_a_fault() -> None:
    """Which of them Photoshop would fill is anyone's guess."""
    twice = replace(SOUND, layers=(*SOUND.layers, replace(HERO, id=20)))

    [(layer, sentence)] = faults(twice)

    assert layer == "Hero"
    assert sentence == (
        "square.psd has 2 layers named 'Hero' (ids 3, 20), so that nobody can tell which one "
        "takes a picture. Give each its own name."
    )


def test_layer_of_another_kind_is_a_fault() -> None:
    [(layer, sentence)] = faults(with_hero(kind=LayerKind.PIXELS))

    assert layer == "Hero"
    assert sentence == (
        "square.psd has layer 'Hero' (id 3) as a pixel layer, which cannot take a picture. "
        "Convert it to a smart object, or mend the recipe."
    )


def test_hidden_layer_is_a_fault() -> None:
    [(layer, sentence)] = faults(with_hero(visible=False))

    assert layer == "Hero"
    assert sentence == (
        "square.psd hides layer 'Hero' (id 3), so that a picture put there would not be seen. "
        "Show the layer and the groups around it."
    )


@pytest.mark.parametrize(
    "box",
    [
        Box(1080, 0, 2000, 720),
        Box(-900, 0, 0, 720),
        Box(0, 1080, 1080, 2000),
        Box(0, -720, 1080, 0),
        Box(100, 100, 100, 200),
        Box(0, 0, 0, 0),
    ],
)
def test_layer_off_the_canvas_or_empty_is_a_fault(box: Box) -> None:
    [(layer, sentence)] = faults(with_hero(box=box))

    assert layer == "Hero"
    assert "outside the canvas or without any area" in sentence


@pytest.mark.parametrize("box", [Box(-500, -500, 1, 1), Box(1079, 1079, 3000, 3000)])
def test_layer_that_bleeds_over_the_edge_is_sound(box: Box) -> None:
    assert faults(with_hero(box=box)) == []


def test_all_faults_come_at_once() -> None:
    """A designer mends a document in one go."""
    worst = with_hero(kind=LayerKind.TEXT, visible=False, box=Box(0, 0, 0, 0))

    assert [layer for layer, _ in faults(worst, "1x1")] == [None, "Hero", "Hero", "Hero"]
