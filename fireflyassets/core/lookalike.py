"""Look-alikes: a text as an eye reads it, so that a word is found however it was typed.

Belongs here: which letters of Cyrillic and Greek pass for Latin ones, and folding. Does not: words
that are looked for (``guardrails/``), what becomes of a text.

From Unicode's confusables (UTS 39), those of letters that fonts draw alike; wide, styled and
ligated letters are folded by NFKC. Both sides of a comparison are folded, so that Cyrillic and
Greek words are found as well.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

_ALIKE: Final = str.maketrans(
    # Cyrillic, then Greek, in small letters: capitals are made small first.
    "аеорсухіјѕһԁԛԝвкмнтг" + "αορνικτυχγϲϳεημ",
    "aeopcyxijshdqwbkmhtr" + "aopviktuxycjenm",
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as it is read, and where each of its letters stands in the text as written."""

    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text begins and ends as written."""
        return self.places[start], self.places[end - 1] + 1


def folded(written: str) -> Folded:
    """Return *written* in small letters, look-alikes as Latin ones, nothing invisible in it."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(written):
        if unicodedata.category(letter) == "Cf":
            continue  # Zero-width joiners, soft hyphens: they split a word for no eye.
        plain = unicodedata.normalize("NFKC", letter).casefold().translate(_ALIKE)
        letters.append(plain)
        places += [place] * len(plain)
    return Folded("".join(letters), tuple(places))
