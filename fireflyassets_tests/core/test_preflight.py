"""Preflight of a campaign. Here: each rule, red and green. Not here: files and templates."""

import pytest

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.preflight import SIZES, faults, reference_fault
from fireflyassets.core.recipe_step import Model
from fireflyassets_tests.front_door import card, config

LAYOUT = {"name": "layout", "kind": "compose", "inputs": {"Hero": "art.picture"}}
ART = {"name": "art", "kind": "generate"}


def recipe(*steps: dict[str, object]) -> CampaignConfig:
    return config(recipe={"steps": steps})


def test_a_sound_campaign_has_no_faults() -> None:
    assert list(faults(config(), (card(),))) == []


def test_a_step_may_start_from_the_picture_that_comes_with_a_job() -> None:
    """It is there whatever runs before, and the layout may take it as well."""
    art = {"name": "art", "kind": "similar", "picture": "reference.picture", "size": "1024x1024"}
    layout = LAYOUT | {"inputs": {"Hero": "reference.picture"}}
    priced = card(edits={"similar": "1"})

    assert list(faults(recipe(art, LAYOUT), (priced,))) == []
    assert list(faults(recipe(layout), (priced,))) == []


def test_every_model_has_sizes() -> None:
    """A model without a list would let any size through to a paid refusal."""
    assert set(SIZES) == set(Model)
    assert all(SIZES.values())


@pytest.mark.parametrize(
    ("model", "size", "fault"),
    [
        ("image3", "1024x1024", False),
        ("image3", "1440x2560", True),
        ("image4_standard", "1440x2560", False),
        ("image4_standard", "1024x1024", True),
        ("image3", "999x999", True),
    ],
)
def test_sizes_that_a_model_does_not_make_are_found(model: str, size: str, fault: bool) -> None:  # noqa: FBT001 - a table.
    """Adobe answers 400 to any size off its list, one paid job at a time."""
    made = recipe({**ART, "model": model, "size": size}, LAYOUT)

    told = [each for each in faults(made, ()) if "does not make" in each]

    assert bool(told) is fault


def test_a_price_that_no_card_has_is_found() -> None:
    """Intake could not estimate such a job; without any card the campaign is not to blame."""
    made = recipe({**ART, "model": "image4_ultra"}, LAYOUT)

    assert any("no rate card prices it" in fault for fault in faults(made, (card(),)))
    assert not any("rate card" in fault for fault in faults(made, ()))


def test_pictures_that_a_locale_never_gets_are_found() -> None:
    """A step left out for a locale must not be needed there."""
    made = recipe({**ART, "when": {"locale": ["en-GB"]}}, LAYOUT)

    told = list(faults(made, ()))

    assert [fault.split(":")[0] for fault in told] == ["locale de-DE", "locale ar-AE"]
    assert all("'art'" in fault for fault in told)


def test_locales_without_any_result_are_found() -> None:
    """A job must end in a rendition, whatever its locale."""
    skipped = recipe(ART, {**LAYOUT, "when": {"locale": ["en-GB", "de-DE"]}})
    bare = config(
        aspects=("2048x2048",), recipe={"steps": [{**ART, "when": {"locale": ["en-GB"]}}]}
    )

    assert [fault.split(":")[0] for fault in faults(skipped, ())] == ["locale ar-AE"]
    assert [fault.split(":")[0] for fault in faults(bare, ())] == ["locale de-DE", "locale ar-AE"]


def test_repeated_names_are_found() -> None:
    """A locale or aspect that stands twice would be billed or counted twice."""
    twice = config(locales=("en-GB", "en-GB"))

    assert list(faults(twice, ())) == ["locales: en-GB stands twice; name it once"]


def test_a_reference_of_version_4_is_judged_where_its_size_is_known() -> None:
    """Area and ratio are Adobe's limits; a picture of unknown size is judged when it is made."""
    next_one = {"name": "next", "kind": "generate-v4", "picture": "art.picture"}
    layout = {**LAYOUT, "inputs": {"Hero": "next.picture"}}

    told = list(faults(recipe({**ART, "size": "2688x1536"}, next_one, layout), ()))
    assert told == []
    wide = {"name": "wide", "kind": "expand", "picture": "art.picture", "size": "3900x600"}
    told = list(faults(recipe(ART, wide, {**next_one, "picture": "wide.picture"}, layout), ()))
    assert told == [
        "step 'next': a reference is at most 5 times as long as it is short, not 3900x600; crop it"
    ]


@pytest.mark.parametrize(
    ("width", "height", "size_bytes", "told"),
    [
        (512, 512, 10_000_000, None),
        (2048, 2048, 0, None),
        (2560, 512, 0, None),
        (512, 511, 0, "between 512x512 and 2048x2048"),
        (2048, 2049, 0, "between 512x512 and 2048x2048"),
        (2561, 512, 0, "at most 5 times"),
        (512, 2561, 0, "at most 5 times"),
        (512, 512, 10_000_001, "at most 10000000 bytes"),
    ],
)
def test_the_limits_of_a_reference(
    width: int, height: int, size_bytes: int, told: str | None
) -> None:
    """10 MB, 512 x 512 to 2,048 x 2,048 pixels in all, a ratio of 5 to 1 at most: to the edge."""
    fault = reference_fault(width, height, size_bytes)

    assert fault is None if told is None else told in (fault or "")


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"kind": "create-artboard", "pictures": ["art.picture"], "size": "32000x2500"}], None),
        (
            [{"kind": "create-artboard", "pictures": ["art.picture"], "size": "32001x100"}],
            "at most 32000",
        ),
        (
            [{"kind": "create-artboard", "pictures": ["art.picture"], "size": "9000x9000"}],
            "80000000 pixels that we look at",
        ),
        (
            [
                {"kind": "create-artboard", "pictures": ["art.picture"], "size": "7000x100"},
                {"kind": "remove-background", "picture": "step_0.picture"},
            ],
            "sides of at most 6000",
        ),
    ],
)
def test_pictures_that_photoshop_does_not_make_or_take_are_found(
    steps: list[dict[str, object]], told: str | None
) -> None:
    """Its longest side, the largest picture of a cut-out, and what nobody would look at."""
    named = [{"name": f"step_{n}", **step} for n, step in enumerate(steps)]
    layout = {**LAYOUT, "inputs": {"Hero": f"step_{len(steps) - 1}.picture"}}

    found = list(faults(recipe(ART, *named, layout), ()))

    assert len(found) == (told is not None)
    assert all((told or "") in fault for fault in found)


def test_a_picture_that_stands_in_serves_the_locales_that_lack_the_other() -> None:
    """With `or` each locale needs one of the pictures only; with none of them it is told."""
    english = {"when": {"locale": ["en-GB"]}}
    wide = {"name": "wide", "kind": "expand", "picture": "art.picture", "size": "48x27", **english}
    layout = {**LAYOUT, "inputs": {"Hero": "wide.picture or art.picture"}}
    german = {"when": {"locale": ["de-DE"]}}

    assert list(faults(recipe({**ART, "size": "2048x2048"}, wide, layout), ())) == []
    told = list(faults(recipe({**ART, **german}, {**wide, **german}, layout), ()))
    assert {fault.split(":")[0] for fault in told} == {"locale ar-AE", "locale en-GB"}
