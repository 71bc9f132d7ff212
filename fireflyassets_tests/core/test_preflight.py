"""Preflight of a campaign. Here: each rule, red and green. Not here: files and templates."""

import pytest

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.preflight import SIZES, faults
from fireflyassets.core.recipe import Model
from fireflyassets_tests.front_door import card, config

LAYOUT = {"name": "layout", "kind": "compose", "inputs": {"Hero": "art.picture"}}
ART = {"name": "art", "kind": "generate"}


def recipe(*steps: dict[str, object]) -> CampaignConfig:
    return config(recipe={"steps": steps})


def test_a_sound_campaign_has_no_faults() -> None:
    assert list(faults(config(), (card(),))) == []


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
