"""The manual and the program name the same things."""

from pathlib import Path
from typing import get_args

import pytest

import fireflyassets
from fireflyassets.twin.command_line import parser
from fireflyassets.twin.endpoints import ALL
from fireflyassets.twin.fault_language import Effect, Trigger
from fireflyassets.twin.markers import MARKERS
from fireflyassets.twin.settings import DEFAULT_RATES

MANUAL = Path(fireflyassets.__file__).parents[1] / "docs" / "twin.md"


def kinds() -> list[str]:
    union, _ = get_args(Effect)
    return [
        kind
        for model in get_args(union)
        for kind in get_args(model.model_fields["kind"].annotation)
    ]


def options() -> list[str]:
    actions = parser()._actions
    return [option for action in actions for option in action.option_strings if option != "-h"]


@pytest.mark.parametrize(
    "word",
    [
        *(option for option in options() if option != "--help"),
        *kinds(),
        *MARKERS,
        *Trigger.model_fields,
        *(endpoint.name for endpoint in ALL),
        *DEFAULT_RATES,
    ],
)
def test_manual_names_everything(word: str) -> None:
    """Each option, fault kind, trigger, marker, endpoint and rate is in the manual."""
    assert f"`{word}" in MANUAL.read_text(encoding="utf-8")
