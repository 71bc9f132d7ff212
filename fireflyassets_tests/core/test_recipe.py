"""Recipes and campaign shapes. Here: what the shapes accept and refuse. Not here: running them."""

import pytest
from pydantic import ValidationError

from fireflyassets.core.failure import Family
from fireflyassets.core.recipe import Recipe, calls_per_job
from fireflyassets_tests.front_door import config

ART = {"name": "art", "kind": "generate"}
LAYOUT = {
    "name": "layout",
    "kind": "compose",
    "inputs": {"Hero": "art.picture", "Headline": "job.headline"},
}

WIDER = {"name": "wider", "kind": "expand", "picture": "art.picture", "size": "2688x1536"}
LIKE = {"name": "like", "kind": "similar", "picture": "wider.picture", "size": "1024x1024"}
CUT = {"name": "cut", "kind": "remove-background", "picture": "like.picture", "mode": "mask"}
FILLED = {
    "name": "filled",
    "kind": "fill",
    "picture": "like.picture",
    "mask": "cut.picture",
    "size": "1024x1024",
}
LIT = {"name": "lit", "kind": "edit", "picture": "filled.picture", "auto_tone": True}
BIG = {"name": "big", "kind": "upscale", "picture": "lit.picture", "factor": 2}
LONG = [ART, WIDER, LIKE, CUT, FILLED, LIT, BIG]


PROBE = {"name": "probe", "kind": "generate-manifest", "template": "1080x1080"}
CROP = {"name": "subject", "kind": "auto-crop", "picture": "art.picture"}
GRADED = {
    "name": "graded",
    "kind": "execute-actions",
    "picture": "layout.picture",
    "actions": [{"file": "a.atn"}],
}
BOARD = {
    "name": "board",
    "kind": "create-artboard",
    "pictures": ["art.picture"],
    "size": "9x9",
}
V4 = {"name": "next", "kind": "generate-v4"}


def test_the_three_common_shapes_are_accepted() -> None:
    """Generate and compose, generate only, compose only."""
    texts_only = {**LAYOUT, "inputs": {"Headline": "job.headline"}}

    for steps in ([ART, LAYOUT], [ART], [texts_only]):
        assert len(Recipe.model_validate({"steps": steps}).steps) == len(steps)


def test_layers_are_told_apart_by_their_source() -> None:
    """Pictures go into smart objects, texts of the job into text layers."""
    recipe = Recipe.model_validate({"steps": [ART, LAYOUT]})

    assert recipe.compositions()[0].picture_layers() == {"Hero": ("art",)}
    assert recipe.compositions()[0].text_layers() == {"Headline": "headline"}
    assert [step.name for step in recipe.pictures()] == ["art"]


def test_sizes_follow_from_the_steps() -> None:
    """What is made out of what says how large each picture is, and whose limits its call uses."""
    recipe = Recipe.model_validate({"steps": LONG})

    assert recipe.sizes() == {
        "art": "2048x2048",
        "wider": "2688x1536",
        "like": "1024x1024",
        "cut": "1024x1024",
        "filled": "1024x1024",
        "lit": "1024x1024",
        "big": "2048x2048",
    }
    assert [step.takes() for step in recipe.steps][4] == (("like",), ("cut",))
    assert calls_per_job(recipe, aspects=3) == {Family.FIREFLY: 5, Family.PHOTOSHOP: 2}


def test_what_follows_a_composite_runs_for_each_aspect() -> None:
    """An action on a composite is counted, sized and delivered by the aspect."""
    recipe = Recipe.model_validate({"steps": [ART, CROP, LAYOUT, GRADED]})

    assert recipe.fanned == {"layout", "graded"}
    assert recipe.last.name == "graded"
    assert recipe.sizes("9x16")["graded"] == "9x16"
    assert recipe.sizes()["subject"] is None
    assert calls_per_job(recipe, aspects=3) == {Family.FIREFLY: 1, Family.PHOTOSHOP: 7}


def test_a_step_can_be_left_out_where_something_stands_in_for_it() -> None:
    """So can a whole branch, and what no delivered picture is made of."""
    wider = {**WIDER, "on_failure": "skip"}
    like = {**LIKE, "picture": "wider.picture or art.picture"}
    aside = {**CROP, "on_failure": "skip"}
    recipe = Recipe.model_validate({"steps": [ART, aside, wider, like]})
    assert recipe.last.name == "like"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{**ART, "on_failure": "skip"}], "'art'"),
        ([ART, {**WIDER, "on_failure": "skip"}, LIKE], "'wider'"),
        ([ART, {**LAYOUT, "on_failure": "skip"}], "'layout'"),
        ([ART, LAYOUT, {**GRADED, "on_failure": "skip"}], "'graded'"),
        (
            [
                ART,
                {**PROBE, "on_failure": "skip"},
                {**LAYOUT, "when": {"layers": {"probe": ["Hero"]}}},
            ],
            "'probe'",
        ),
    ],
)
def test_a_step_that_all_depends_on_can_t_be_left_out(steps: list[object], told: str) -> None:
    """A job without one of its renditions has not succeeded: the file says so before a job."""
    with pytest.raises(ValidationError, match=f"step {told}.* leaves nothing to deliver"):
        Recipe.model_validate({"steps": steps})


def test_a_picture_that_stands_in_for_another_has_its_size_or_none() -> None:
    """Where either of two pictures is taken, the size is known only if both have it."""
    picture = "wider.picture or art.picture"
    lit = {"name": "lit", "kind": "edit", "picture": picture}
    same = {**ART, "size": "2688x1536"}

    assert Recipe.model_validate({"steps": [ART, WIDER, lit]}).sizes()["lit"] is None
    assert Recipe.model_validate({"steps": [same, WIDER, lit]}).sizes()["lit"] == "2688x1536"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([], "at least 1"),
        ([ART] * 26, "at most 25"),
        ([ART, ART], "two steps are named"),
        ([ART, LAYOUT, {**LAYOUT, "name": "again"}], "only one compose step"),
        ([LAYOUT, ART], "earlier step"),
        ([ART, {**LAYOUT, "inputs": {"Hero": "art"}}], "neither job.<text> nor"),
        ([ART, {**LAYOUT, "inputs": {"Hero": "job.price"}}], "neither job.<text> nor"),
        ([ART, {**LAYOUT, "inputs": {}}], "at least 1"),
        ([{**ART, "prompt": "job.colour"}], "prompt must be"),
        ([{**ART, "model": "image4"}], "image4_standard"),
        ([{**ART, "size": "0x100"}], "pattern"),
        ([{**ART, "name": "Art"}], "pattern"),
        ([{**ART, "retry": 6}], "less than or equal to 5"),
        ([{**ART, "seed": 7}], "not permitted"),
        ([{**ART, "model": "image3_custom"}], "do not belong together"),
        ([{**ART, "custom_model": "urn:aaid:sc:1"}], "do not belong together"),
        ([{"name": "art", "kind": "paint"}], "'generate', 'generate-v4'"),
        ([ART, {**WIDER, "picture": "art"}], "'art' is not <step>.picture"),
        ([WIDER, ART], "'art.picture' is not <step>.picture"),
        ([ART, {**WIDER, "prompt": "job.colour"}], "prompt must be"),
        ([ART, {**WIDER, "factor": 2}], "not permitted"),
        ([ART, {"name": "big", "kind": "upscale", "picture": "art.picture", "factor": 5}], "2, 3"),
        ([ART, {**LIKE, "model": "image3_custom"}], "image4_ultra"),
        ([ART, {**FILLED, "mask": "layout.picture"}, LAYOUT], "'layout.picture' is not"),
        ([ART, {"name": "lit", "kind": "edit", "picture": "art.picture", "exposure": 6}], "5"),
        ([ART, PROBE], "no compose step"),
        ([PROBE, {**CROP, "picture": "probe.picture"}], "'probe.picture' is not"),
        ([ART, {**CROP, "mode": "subjectCrop"}], "give `focus` with"),
        ([ART, {**CROP, "focus": ["bottle"]}], "give `focus` with"),
        ([ART, {**CROP, "mode": "objectDetection"}], "subjectCrop"),
        ([ART, {**CROP, "when": {"layers": {"art": ["Hero"]}}}], "no generate-manifest step"),
        ([ART, CROP, {**WIDER, "picture": "art.picture or lost.picture"}], "is not <step>.picture"),
        ([ART, CROP, {**WIDER, "picture": "art.picture or subject"}], "is not <step>.picture"),
        ([ART, LAYOUT, {**GRADED, "size": "10x10"}], "leave `size` out"),
        ([ART, LAYOUT, {**GRADED, "picture": "layout.picture or art.picture"}], "can't stand in"),
        ([ART, LAYOUT, {**BOARD, "pictures": ["layout.picture"]}], "can't go on from a composite"),
        ([ART, {**GRADED, "picture": "art.picture", "actions": [{"file": "a.exe"}]}], "pattern"),
        ([ART, {**GRADED, "picture": "art.picture", "actions": []}], "give `actions`"),
        ([ART, LAYOUT, {**GRADED, "action_json": [{"_obj": "x" * 51_200}]}], "over 51200 letters"),
        ([ART, {**BOARD, "pictures": []}], "at least 1"),
        ([ART, {**V4, "picture": "art.picture", "ratio": "1:1"}], "decides the ratio"),
        ([{**V4, "prompt": "job.colour"}], "prompt must be"),
    ],
)
def test_broken_recipes_are_refused_with_what_is_wrong(steps: list[object], told: str) -> None:
    """A recipe that could fail only when it runs is refused when it is read."""
    with pytest.raises(ValidationError, match=told):
        Recipe.model_validate({"steps": steps})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"templates": {}}, "no PSD for"),
        ({"customer": "Acme"}, "pattern"),
        ({"campaign": "a_b"}, "pattern"),
        ({"locales": ()}, "at least 1"),
        ({"locales": ("english",)}, "pattern"),
        ({"aspects": ()}, "at least 1"),
        ({"aspects": ("wide",)}, "pattern"),
        ({"headline_limit": 0}, "greater than or equal to 1"),
        ({"cost_tolerance": "NaN"}, "finite"),
        ({"colour": "red"}, "not permitted"),
        ({"models": {"generate": ["image4_ultra"]}}, "generate the campaign allows image4_ultra"),
        ({"models": {"generate": []}}, "generate the campaign allows none"),
        ({"models": {"compose": ["image3"]}}, "'generate' or 'similar'"),
        ({"recipe": {"steps": [ART]}}, "the one aspect is its size"),
        ({"recipe": {"steps": LONG}, "aspects": ("1024x1024",)}, r"its size \(2048x2048\)"),
    ],
)
def test_broken_campaigns_are_refused_with_what_is_wrong(
    changes: dict[str, object], told: str
) -> None:
    """As for recipes: the file says it before a job does."""
    with pytest.raises(ValidationError, match=told):
        config(**changes)


def test_a_model_that_its_intent_allows_is_accepted() -> None:
    """So is any, where nothing is said of the intent."""
    assert config(models={"generate": ["image3", "image4_standard"]}).models
    assert config(models={"similar": ["image4_ultra"]}).models


def test_a_last_picture_of_unknown_size_is_refused() -> None:
    """Nobody could say beforehand which aspect it is."""
    with pytest.raises(ValidationError, match="end with a step that names its size"):
        config(aspects=("1080x1080",), templates={}, recipe={"steps": [ART, CROP]})


def test_a_manifest_lists_a_template_of_the_campaign() -> None:
    """Its template is one of those that are composed."""
    with pytest.raises(ValidationError, match="there is no aspect 7x7"):
        config(recipe={"steps": [ART, {**PROBE, "template": "7x7"}, LAYOUT]})
