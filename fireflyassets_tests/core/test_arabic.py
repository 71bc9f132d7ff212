"""Arabic forms: the same as the twin's own joiner chooses."""

import random
from typing import Final

import arabic_reshaper
import pytest

from fireflyassets.core.arabic import joined

_ALPHABET: Final = "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةىپچگی\u0640\u064e\u0651\u200c -aB1"


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("بيت", ["\ufe91", "\ufef4", "\ufe96"]),
        ("دار", ["\ufea9", "\ufe8d", "\ufead"]),
        ("لا", ["\ufefb", ""]),
        ("سلام", ["\ufeb3", "\ufefc", "", "\ufee1"]),
        ("a b", ["a", " ", "b"]),
        ("", []),
    ],
)
def test_each_letter_takes_the_form_of_its_place(text: str, forms: list[str]) -> None:
    """One entry for each letter, so that places in the text keep their meaning."""
    assert joined(text) == forms


def test_forms_are_those_that_the_twin_draws() -> None:
    """Marks, joiners, other letters in between: over many words the two agree."""
    reshaper = arabic_reshaper.ArabicReshaper(
        {"delete_harakat": False, "ARABIC LIGATURE ALLAH": False}
    )
    chance = random.Random(7)  # noqa: S311 - a fixed seed for a test.
    for _ in range(2_000):
        word = "".join(chance.choice(_ALPHABET) for _ in range(chance.randint(1, 14)))
        assert "".join(joined(word)) == reshaper.reshape(word), ascii(word)
